import AppGroup
import CFrameLayout
import Platform

/// What flows in one stream, as its publisher's control plane reports it. Asking disturbs nobody
/// on the hot path.
public struct StreamStatus: Hashable, Sendable {
  public enum State: String, Hashable, Sendable { case starting, live, paused, finished }

  public struct Subscriber: Hashable, Sendable {
    public let id: Int
    public let pid: Int32
    /// The last frame received or given up.
    public let position: UInt64
    /// Frames published that it has not come to yet.
    public let lag: UInt64
    /// Frames it holds now.
    public let held: Int
    public let received: UInt64
    public let dropped: UInt64
    public let isLossless: Bool
  }

  public let name: StreamName
  public let state: State
  /// The number of this publisher; a restarted one has another.
  public let generation: UInt64
  public let publisherPID: Int32
  /// The newest sequence number, which is also how many frames were published.
  public let cursor: UInt64
  public let abandoned: UInt64
  public let format: FrameFormat?
  public let slots: Int
  public let slotBytes: Int
  /// Subscribers that a new pool could not be sent to yet.
  public let owed: Int
  public let subscribers: [Subscriber]

  package init(_ name: StreamName, _ status: fb_status) {
    self.name = name
    state =
      switch Int(status.state) {
      case Int(FB_STATE_LIVE): .live
      case Int(FB_STATE_PAUSED): .paused
      case Int(FB_STATE_FINISHED): .finished
      default: .starting
      }
    generation = status.generation
    publisherPID = Int32(truncatingIfNeeded: status.publisher_pid)
    cursor = status.cursor
    abandoned = status.abandoned
    format = FrameFormat(status.format)
    slots = Int(status.pool.slot_count)
    slotBytes = Int(clamping: status.pool.slot_bytes)
    owed = Int(status.owed)
    let count = min(Int(status.subscriber_count), Int(FB_MAXIMUM_SUBSCRIBERS))
    var rows = status.subscribers
    // SAFETY: `count` is at most the number of rows in the record.
    let subscribers = unsafe withUnsafeBytes(of: &rows) { bytes in
      (0..<count).map { index in
        unsafe bytes.load(
          fromByteOffset: index * MemoryLayout<fb_subscriber_status>.stride,
          as: fb_subscriber_status.self)
      }
    }
    self.subscribers = subscribers.map { row in
      Subscriber(
        id: Int(row.id), pid: Int32(truncatingIfNeeded: row.pid), position: row.position,
        lag: status.cursor > row.position ? status.cursor - row.position : 0,
        held: Int(row.held), received: row.received, dropped: row.dropped,
        isLossless: row.place == UInt32(FB_PLACE_LOSSLESS))
    }
  }
}

/// The streams of a group that have a living publisher, by name.
/// - Parameter patience: how long to wait for one that does not answer; it is left out.
public func listStreams(
  in group: AppGroup, patience: Duration = .seconds(1)
) throws(SystemError) -> [StreamStatus] {
  let directory = try Directory(path: group.streamsPath)
  return try directory.names().sorted().compactMap { file in
    guard file.hasSuffix(StreamFiles.socketSuffix),
      let stream = try? StreamName(String(file.dropLast(StreamFiles.socketSuffix.count)))
    else { return nil }
    return inspect(stream, in: group, until: .after(patience))
  }
}

/// Asks one publisher. Nil if it has gone, or does not answer.
private func inspect(
  _ stream: StreamName, in group: AppGroup, until deadline: Deadline
) -> StreamStatus? {
  let rendezvous = Rendezvous(stream: stream, group: group, hello: fb_hello())
  let path = StreamFiles(stream, in: group).socketPath
  guard let socket = try? rendezvous.connect(to: path) else { return nil }
  let request = fb_short_message(Int(FB_MESSAGE_INSPECT))
  guard socket.send(request) == .sent, socket.waitUntilReadable(until: deadline),
    let message = try? Message(from: socket),
    let status = message.record(fb_status(), kind: Int(FB_MESSAGE_STATUS))
  else { return nil }
  return StreamStatus(stream, status)
}
