import AppGroup
import CFrameLayout
import Platform

/// What one look at a stream found.
public enum StreamReport: Hashable, Sendable {
  case answered(StreamStatus)
  /// Its publisher does not answer: it is stopped, or its machine very busy. The process is 0 if
  /// the publisher does not even accept connections.
  case silent(StreamName, publisherPID: Int32)

  public var name: StreamName {
    switch self {
    case .answered(let status): status.name
    case .silent(let name, _): name
    }
  }
}

/// Asks the publishers of a group what flows, as often as one likes.
///
/// Only control planes are asked: no look delays a frame, and none takes a subscriber's place. A
/// publisher that does not answer has one question waiting for it, however often one looks, so that
/// none is in the way of subscribers when it goes on.
///
/// A look has a bounded number of connections open at once. The owners of the sockets take turns,
/// so one user's thousand sockets do not keep a look from another user's stream.
public final class StreamInspector {
  private let group: AppGroup
  private var unanswered: [Inquiry] = []
  /// Streams that the last look had neither time nor descriptors for. The next one begins with
  /// them.
  public private(set) var unasked: [StreamName] = []

  /// Connections open at once, as far as the limit of descriptors goes.
  private static let mostAtOnce = 512

  public init(_ group: AppGroup) { self.group = group }

  /// Where the sockets of the group's streams lie.
  public var directoryPath: String { group.streamsPath }

  /// Looks at every stream that has a publisher: those that answer, by name, and then those that
  /// do not.
  /// - Parameters:
  ///   - patience: how long to wait for all answers together.
  ///   - stop: ends the look early; who has not answered by then is silent.
  public func look(
    patience: Duration = .seconds(1), stop: StopSignal? = nil
  ) throws(SystemError) -> [StreamReport] {
    var look = try Look(
      group, try streamsInTurn(), earlier: unanswered, until: .after(patience), stop)
    unanswered = []
    unasked = []
    let limit = try look.run(atMost: Self.mostAtOnce)
    // Half of what can be open, or a crowd that is silent would be all that is ever asked.
    unanswered = Array(look.silent.prefix(limit / 2))
    unasked = look.unasked
    return look.reports.sorted { one, other in
      one.isSilent == other.isSilent ? one.name.text < other.name.text : other.isSilent
    }
  }

  /// The streams whose sockets lie in the group's directory, one of each owner after the other, and
  /// those first that the last look did not come to.
  private func streamsInTurn() throws(SystemError) -> [StreamName] {
    let directory = try Directory(path: group.streamsPath)
    let leftOut = Set(unasked)
    var queues: [UInt32: [StreamName]] = [:]
    for file in try directory.names().sorted() {
      guard file.hasSuffix(StreamFiles.socketSuffix),
        let name = try? StreamName(String(file.dropLast(StreamFiles.socketSuffix.count))),
        let status = try directory.status(of: file), status.kind == .socket
      else { continue }
      queues[status.ownerID, default: []].append(name)
    }
    let ordered = queues.sorted { $0.key < $1.key }.map { _, names in
      names.filter(leftOut.contains) + names.filter { !leftOut.contains($0) }
    }
    let longest = ordered.map(\.count).max() ?? 0
    return (0..<longest).flatMap { turn in ordered.compactMap { $0.dropFirst(turn).first } }
  }
}

/// One look, while it goes on.
private struct Look {
  private let group: AppGroup
  private let deadline: Deadline
  private let stop: StopSignal?
  private let ready: ReadySet
  /// The streams to ask, the next one last.
  private var queue: [StreamName]
  private var open: [Int32: Inquiry] = [:]
  private(set) var reports: [StreamReport] = []
  private(set) var silent: [Inquiry] = []

  /// Those that there was no time, or no descriptor, to ask.
  var unasked: [StreamName] { queue.reversed() }

  init(
    _ group: AppGroup, _ streams: [StreamName], earlier: [Inquiry], until deadline: Deadline,
    _ stop: StopSignal?
  ) throws(SystemError) {
    self.group = group
    self.deadline = deadline
    self.stop = stop
    ready = try ReadySet()
    // A socket that is gone from the directory is nobody's stream any more.
    let present = Set(streams)
    let kept = earlier.filter { present.contains($0.stream) }
    let asked = Set(kept.map(\.stream))
    queue = streams.filter { !asked.contains($0) }.reversed()
    if let stop { try ready.add(stop.descriptorNumber, tag: UInt64.max) }
    for inquiry in kept { try watch(inquiry) }
  }

  /// - Returns: how many connections could be open at once.
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

  /// Asks as many as may be open at once.
  /// - Returns: how many that are, fewer where descriptors have run out.
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
    if case .goesOn = progress { return }
    if case .ended = progress { reports.append(inquiry.report) }
    ready.remove(number)
    open[number] = nil
  }
}

extension StreamReport {
  fileprivate var isSilent: Bool { if case .silent = self { true } else { false } }
}

/// The streams of a group that have a publisher which answers, by name.
/// - Parameter patience: how long to wait for all answers together.
public func listStreams(
  in group: AppGroup, patience: Duration = .seconds(1)
) throws(SystemError) -> [StreamStatus] {
  try StreamInspector(group).look(patience: patience).compactMap {
    if case .answered(let status) = $0 { status } else { nil }
  }
}
