import SharedDefaults
import Upload

/// The figures of a session's destinations. They are kept beside the record, because they change
/// all the time and no notification follows. Any publishing member can write them, so parsing omits
/// what is malformed.
struct DestinationList: Hashable, Sendable {
  private static let maximumCount = 16

  let session: SessionID
  let figures: [DestinationFigures]

  /// - Parameter figures: cut to what ``init(_:)`` reads.
  init(_ figures: [DestinationFigures], of session: SessionID) {
    self.session = session
    self.figures = figures.prefix(Self.maximumCount).map { figures in
      var figures = figures
      figures.output = Self.bounded(figures.output)
      figures.error = figures.error.map { .peer(reason: Self.bounded("\($0)"), isMisuse: false) }
      return figures
    }
  }

  private static func bounded(_ text: String) -> String {
    text.prefix(ofBytes: BroadcastRecord.maximumTextBytes)
  }

  var value: DefaultsValue {
    ["session": .string(session.text), "list": .array(figures.map { .dictionary(Self.value($0)) })]
  }

  private static func value(_ figures: DestinationFigures) -> [String: DefaultsValue] {
    var values: [String: DefaultsValue] = [
      "output": .string(figures.output), "state": .string(figures.state.rawValue),
      "bytes": .integer(Int(clamping: figures.byteCount)),
      "rate": .integer(figures.bitsPerSecond), "drops": .integer(figures.drops),
    ]
    values["error"] = figures.error.map { .string("\($0)") }
    guard let network = figures.network else { return values }
    values["target"] = .integer(network.targetBitsPerSecond)
    values["retransmitted"] = .integer(network.retransmittedPackets)
    values["roundTrip"] = network.roundTripNs.map { .integer(Int(clamping: $0)) }
    values["lost"] = network.lostShare.map { .double($0) }
    return values
  }

  init?(_ value: DefaultsValue?) {
    guard case .dictionary(let values)? = value, case .string(let text)? = values["session"],
      let session = SessionID(text), case .array(let list)? = values["list"],
      list.count <= Self.maximumCount
    else { return nil }
    self.session = session
    figures = list.compactMap(Self.figures)
  }

  private static func figures(_ value: DefaultsValue) -> DestinationFigures? {
    guard case .dictionary(let values) = value else { return nil }
    func text(_ key: String) -> String? {
      guard case .string(let text)? = values[key],
        text.utf8.count <= BroadcastRecord.maximumTextBytes
      else { return nil }
      return text
    }
    func number(_ key: String) -> Int? {
      guard case .integer(let number)? = values[key], number >= 0 else { return nil }
      return number
    }
    guard let output = text("output"),
      let state = text("state").flatMap(DestinationFigures.State.init)
    else { return nil }
    var figures = DestinationFigures(output: output)
    figures.state = state
    figures.byteCount = UInt64(number("bytes") ?? 0)
    figures.bitsPerSecond = number("rate") ?? 0
    figures.drops = number("drops") ?? 0
    figures.error = text("error").map { .peer(reason: $0, isMisuse: false) }
    guard let target = number("target") else { return figures }
    var network = NetworkFigures()
    network.targetBitsPerSecond = target
    network.retransmittedPackets = number("retransmitted") ?? 0
    network.roundTripNs = number("roundTrip").map { UInt64($0) }
    if case .double(let share)? = values["lost"], (0...1).contains(share) {
      network.lostShare = share
    }
    figures.network = network
    return figures
  }
}
