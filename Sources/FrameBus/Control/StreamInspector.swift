import AppGroup
import CFrameLayout
import Platform

/// The result of inspecting a stream.
public enum StreamReport: Hashable, Sendable {
  /// Its publisher's answer.
  case answered(StreamStatus)
  /// Its publisher does not answer: it is stopped, or the machine is overloaded. The PID is 0 if
  /// the publisher does not even accept connections.
  case silent(StreamName, publisherPID: Int32)

  /// The name of the stream.
  public var name: StreamName {
    switch self {
    case .answered(let status): status.name
    case .silent(let name, _): name
    }
  }
}

/// Queries the publishers of a group for their stream status. It can be used repeatedly.
///
/// It queries only control planes: it delays no frame and takes no subscriber's seat. A publisher
/// that does not answer has at most one pending query, however often it is polled, so that queries
/// do not delay subscribers when it continues.
///
/// A poll has a bounded number of connections open at once. The owners of the sockets take turns,
/// so that one user's thousand sockets do not hide another user's stream.
public final class StreamInspector {
  private let group: AppGroup
  private var unanswered: [Inquiry] = []
  /// Streams that the last poll did not reach, for lack of time or descriptors. The next poll
  /// begins with them.
  public private(set) var unasked: [StreamName] = []

  /// Maximum number of connections at once, if the descriptor limit allows it.
  private static let mostAtOnce = 512

  /// Queries the streams of a group.
  public init(_ group: AppGroup) { self.group = group }

  /// The directory of the group's stream sockets.
  public var directoryPath: String { group.streamsPath }

  /// Polls every stream that has a publisher. Returns those that answered, by name, and then those
  /// that did not.
  /// - Parameters:
  ///   - timeout: how long to wait for all answers together.
  ///   - stop: ends the poll early; publishers that have not answered by then count as silent.
  public func poll(
    timeout: Duration = .seconds(1), stop: StopSignal? = nil
  ) throws(SystemError) -> [StreamReport] {
    var poll = try Poll(
      group, try streamsInTurn(), earlier: unanswered, until: .after(timeout), stop)
    unanswered = []
    unasked = []
    let limit = try poll.run(atMost: Self.mostAtOnce)
    // At most half of the limit, so that silent publishers do not exclude all others.
    unanswered = Array(poll.silent.prefix(limit / 2))
    unasked = poll.unasked
    return poll.reports.sorted { one, other in
      one.isSilent == other.isSilent ? one.name.text < other.name.text : other.isSilent
    }
  }

  /// The streams in the group's directory, one of each owner in turn, starting with those that the
  /// last poll did not reach.
  private func streamsInTurn() throws(SystemError) -> [StreamName] {
    let directory = try Directory(path: group.streamsPath)
    // In their order: those that it did not reach for longest come first.
    let turns = Dictionary(uniqueKeysWithValues: unasked.enumerated().map { ($1, $0) })
    var queues: [UInt32: [StreamName]] = [:]
    for text in try Endpoint.names(in: directory).sorted() {
      guard let name = try? StreamName(text),
        let status = try directory.status(of: group.endpoint(of: name).socketName),
        status.kind == .socket
      else { continue }
      queues[status.ownerID, default: []].append(name)
    }
    let ordered = queues.sorted { $0.key < $1.key }.map { _, names in
      names.sorted { turns[$0] ?? .max < turns[$1] ?? .max }
    }
    let longest = ordered.map(\.count).max() ?? 0
    return (0..<longest).flatMap { turn in ordered.compactMap { $0.dropFirst(turn).first } }
  }
}

/// One poll in progress.
private struct Poll {
  private let group: AppGroup
  private let deadline: Deadline
  private let stop: StopSignal?
  private let ready: ReadySet
  /// The streams to query, the next one last.
  private var queue: [StreamName]
  private var open: [Int32: Inquiry] = [:]
  private(set) var reports: [StreamReport] = []
  private(set) var silent: [Inquiry] = []

  /// Streams not queried for lack of time or descriptors.
  var unasked: [StreamName] { queue.reversed() }

  init(
    _ group: AppGroup, _ streams: [StreamName], earlier: [Inquiry], until deadline: Deadline,
    _ stop: StopSignal?
  ) throws(SystemError) {
    self.group = group
    self.deadline = deadline
    self.stop = stop
    ready = try ReadySet()
    // A stream whose socket has left the directory has no publisher.
    let present = Set(streams)
    let kept = earlier.filter { present.contains($0.stream) }
    let asked = Set(kept.map(\.stream))
    queue = streams.filter { !asked.contains($0) }.reversed()
    if let stop { try ready.add(stop.descriptorNumber, tag: UInt64.max) }
    for inquiry in kept { try watch(inquiry) }
  }

  /// - Returns: how many connections were possible at once.
  mutating func run(atMost most: Int) throws(SystemError) -> Int {
    var limit = most
    while true {
      limit = try ask(atMost: limit)
      if open.isEmpty || deadline.isPast || stop?.isRaised == true { break }
      var numbers: [Int32] = []
      ready.wait(until: deadline) { tag in
        if tag != .max { numbers.append(Int32(truncatingIfNeeded: tag)) }
      }
      for number in numbers { advance(number) }
    }
    for inquiry in open.values.sorted(by: { $0.stream.text < $1.stream.text }) {
      ready.remove(inquiry.number)
      reports.append(inquiry.report)
      if inquiry.isSilent { silent.append(inquiry) }
    }
    return limit
  }

  /// Starts queries up to the limit.
  /// - Returns: the number of connections possible, fewer if descriptors have run out.
  private mutating func ask(atMost limit: Int) throws(SystemError) -> Int {
    while open.count < limit, let stream = queue.last {
      if deadline.isPast || stop?.isRaised == true { break }
      do throws(SystemError) {
        switch try Inquiry.begin(stream, in: group) {
        case .asked(let inquiry): try watch(inquiry)
        case .doorIsFull: reports.append(.silent(stream, publisherPID: 0))
        case .gone: break
        }
      } catch {
        guard error.isExhaustion, !open.isEmpty else { throw error }
        return open.count
      }
      queue.removeLast()
    }
    return limit
  }

  private mutating func watch(_ inquiry: Inquiry) throws(SystemError) {
    try ready.add(inquiry.number, tag: UInt64(inquiry.number))
    open[inquiry.number] = inquiry
  }

  private mutating func advance(_ number: Int32) {
    guard let inquiry = open[number] else { return }
    let progress = inquiry.advance()
    if case .continues = progress { return }
    if case .ended = progress { reports.append(inquiry.report) }
    ready.remove(number)
    open[number] = nil
  }
}

extension StreamReport {
  fileprivate var isSilent: Bool { if case .silent = self { true } else { false } }
}

/// The streams of a group whose publishers answer, by name.
/// - Parameter timeout: how long to wait for all answers together.
public func listStreams(
  in group: AppGroup, timeout: Duration = .seconds(1)
) throws(SystemError) -> [StreamStatus] {
  try StreamInspector(group).poll(timeout: timeout).compactMap {
    if case .answered(let status) = $0 { status } else { nil }
  }
}
