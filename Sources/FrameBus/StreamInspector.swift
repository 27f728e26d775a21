import AppGroup
import CFrameLayout
import Platform

/// What one look at a stream found.
public enum StreamReport: Hashable, Sendable {
  case answered(StreamStatus)
  /// Its publisher does not answer: it is stopped, or its machine very busy.
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
public final class StreamInspector {
  private let group: AppGroup
  private var unanswered: [StreamName: Inquiry] = [:]

  public init(_ group: AppGroup) { self.group = group }

  /// Looks at every stream that has a publisher, by name.
  /// - Parameters:
  ///   - patience: how long to wait for all answers together.
  ///   - stop: ends the look early; who has not answered by then is silent.
  public func look(
    patience: Duration = .seconds(1), stop: StopSignal? = nil
  ) throws(SystemError) -> [StreamReport] {
    let deadline = Deadline.after(patience)
    let streams = try names()
    // Asked all at once, so that one who is slow to answer costs no other its time.
    let inquiries = streams.compactMap { unanswered[$0] ?? Inquiry($0, in: group) }
    unanswered = [:]
    return inquiries.compactMap { inquiry in
      switch inquiry.answer(until: deadline, stop: stop) {
      case .answered(let status): return .answered(status)
      case .gone: return nil
      case .silent:
        unanswered[inquiry.stream] = inquiry
        return .silent(inquiry.stream, publisherPID: inquiry.publisherPID)
      }
    }
  }

  private func names() throws(SystemError) -> [StreamName] {
    let directory = try Directory(path: group.streamsPath)
    return try directory.names().compactMap { file in
      guard file.hasSuffix(StreamFiles.socketSuffix) else { return nil }
      return try? StreamName(String(file.dropLast(StreamFiles.socketSuffix.count)))
    }.sorted { $0.text < $1.text }
  }
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

/// A question to one publisher, from the connection to the answer.
private final class Inquiry {
  enum Answer { case answered(StreamStatus), silent, gone }

  let stream: StreamName
  let publisherPID: Int32
  private let socket: MessageSocket

  /// - Returns: nil if nobody publishes the stream, or none whom the group admits.
  init?(_ stream: StreamName, in group: AppGroup) {
    let rendezvous = Rendezvous(stream: stream, group: group, hello: fb_hello())
    guard
      let socket = try? rendezvous.connect(to: StreamFiles(stream, in: group).socketPath),
      let peer = try? socket.peer(), socket.send(Self.question(FB_MESSAGE_INSPECT)) == .sent
    else { return nil }
    self.stream = stream
    self.socket = socket
    publisherPID = peer.pid
  }

  func answer(until deadline: Deadline, stop: StopSignal?) -> Answer {
    guard socket.waitUntilReadable(until: deadline, stop: stop) else { return .silent }
    guard let message = try? Message(from: socket),
      let status = message.record(fb_status(), kind: Int(FB_MESSAGE_STATUS))
    else { return .gone }
    let subscribers = status.subscriberIDs.compactMap { id in
      details(of: id, until: deadline, stop: stop)
    }
    return .answered(StreamStatus(stream, status, subscribers))
  }

  /// What one subscriber does; nil if it has left meanwhile.
  private func details(
    of id: UInt32, until deadline: Deadline, stop: StopSignal?
  ) -> fb_subscriber_details? {
    let question = Self.question(FB_MESSAGE_INSPECT_SUBSCRIBER, value: UInt64(id))
    guard socket.send(question) == .sent, socket.waitUntilReadable(until: deadline, stop: stop),
      let message = try? Message(from: socket),
      let details = message.record(
        fb_subscriber_details(), kind: Int(FB_MESSAGE_SUBSCRIBER_STATUS)),
      details.subscriber.id == id, details.subscriber.place != UInt32(FB_PLACE_FREE)
    else { return nil }
    return details
  }

  private static func question(_ kind: some BinaryInteger, value: UInt64 = 0) -> fb_short_message {
    fb_short_message(Int(kind), value: value)
  }
}
