import FrameBus

/// The JSON form of a stream. Field names are a stable interface. Fields that a silent publisher
/// does not report are left out.
struct StreamRecord: Encodable {
  struct Publisher: Encodable { let pid: Int32 }

  let name: String
  let state: String
  /// Why a paused stream is paused; left out for others.
  var reason: String?
  /// The front application of its source; left out if unknown.
  var application: String?
  var content: String?
  var isCaptured: Bool?
  var generation: UInt64?
  let publisher: Publisher
  var cursor: UInt64?
  var format: FormatRecord?
  var slots: Int?
  var slotBytes: Int?
  var published: UInt64?
  var publishedBytes: UInt64?
  var abandoned: UInt64?
  var retainedBytes: UInt64?
  var wakeUps: UInt64?
  var losslessEnded: UInt64?
  var evictions: UInt64?
  var rejected: UInt64?
  var owed: Int?
  var subscribers: [SubscriberRecord]?

  /// The state of a stream whose publisher does not answer.
  static let silentState = "silent"

  init(_ report: StreamReport) {
    name = report.name.text
    switch report {
    case .silent(_, let pid):
      state = Self.silentState
      publisher = Publisher(pid: pid)
    case .answered(let status):
      state = status.state.rawValue
      publisher = Publisher(pid: status.publisherPID)
      reason = status.pauseReason?.description
      application = status.application?.text
      content = status.content.description
      isCaptured = status.isCaptured
      generation = status.generation
      cursor = status.cursor
      format = status.format.map(FormatRecord.init)
      slots = status.slots
      slotBytes = status.slotBytes
      published = status.cursor
      publishedBytes = status.publishedBytes
      abandoned = status.abandoned
      retainedBytes = status.retainedBytes
      wakeUps = status.wakeUps
      losslessEnded = status.losslessEnded
      evictions = status.evictions
      rejected = status.rejected
      owed = status.owed
      subscribers = status.subscribers.map(SubscriberRecord.init)
    }
  }
}

struct SubscriberRecord: Encodable {
  let id: Int
  let pid: Int32
  let position: UInt64
  let lag: UInt64
  let held: Int
  let received: UInt64
  let dropped: UInt64
  /// Reasons with no drops are left out.
  let dropsByReason: [String: UInt64]
  let policy: String?
  let wait: String?
  let isLossless: Bool

  init(_ subscriber: SubscriberStatus) {
    id = subscriber.id
    pid = subscriber.pid
    position = subscriber.position
    lag = subscriber.lag
    held = subscriber.held
    received = subscriber.received
    dropped = subscriber.dropped
    dropsByReason = subscriber.drops.byReason
    policy = subscriber.policy?.rawValue
    wait = subscriber.wait?.rawValue
    isLossless = subscriber.isLossless
  }
}

extension [UInt64] {
  /// Counts in drop reason order become a dictionary of the nonzero ones.
  var byReason: [String: UInt64] {
    let pairs = zip(DropReason.allCases, self).filter { $0.1 > 0 }
    return Dictionary(uniqueKeysWithValues: pairs.map { ($0.0.key, $0.1) })
  }
}

extension DropReason {
  fileprivate var key: String {
    switch self {
    case .lapped: "lapped"
    case .passedOver: "passedOver"
    case .awaitingKeyFrame: "awaitingKeyFrame"
    case .unreachable: "unreachable"
    case .corrupt: "corrupt"
    case .losslessEnded: "losslessEnded"
    }
  }
}
