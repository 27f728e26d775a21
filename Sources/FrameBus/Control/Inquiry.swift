import AppGroup
import CFrameLayout
import Platform

/// A status query to one publisher, from the connection to the last answer. Never blocks.
final class Inquiry {
  enum Outcome { case asked(Inquiry), doorIsFull, gone }

  let stream: StreamName
  let publisherPID: Int32
  private let socket: MessageSocket
  private var application: ApplicationID?
  private var isAnnotated = false
  private var status: fb_status?
  private var details: [fb_subscriber_details] = []
  /// Subscribers not queried yet, the next one last.
  private var unasked: [UInt32] = []

  /// Connects and sends the first query.
  /// - Throws: if this process has no descriptor left.
  static func begin(
    _ stream: StreamName, in group: AppGroup
  ) throws(SystemError) -> Outcome {
    let rendezvous = Rendezvous(stream: stream, group: group, hello: fb_hello())
    do throws(SubscriberError) {
      let socket = try rendezvous.connect()
      guard let inquiry = Inquiry(stream, socket) else { return .gone }
      return .asked(inquiry)
    } catch {
      switch error {
      case .system(let error) where error.isExhaustion: throw error
      case .noAnswer: return .doorIsFull
      // No publisher, a publisher that is not a member of the group, or another kind of socket.
      default: return .gone
      }
    }
  }

  private init?(_ stream: StreamName, _ socket: consuming MessageSocket) {
    let question = Self.question(FB_MESSAGE_INSPECT, value: UInt64(FB_EXTRA_ANNOTATION))
    guard let peer = try? socket.peer(), socket.send(question) == .sent else { return nil }
    self.stream = stream
    self.socket = socket
    publisherPID = peer.pid
  }

  var number: Int32 { socket.descriptor.number }

  /// The result so far.
  var report: StreamReport {
    guard let status else { return .silent(stream, publisherPID: publisherPID) }
    return .answered(StreamStatus(stream, status, details, application: application))
  }

  /// Whether the publisher has not answered yet.
  var isSilent: Bool { status == nil }

  enum Progress {
    case continues
    /// All answers have arrived.
    case ended
    /// The publisher closed the connection without an answer.
    case gone
  }

  /// Takes one answer and sends the next query. A malformed answer counts as none.
  func advance() -> Progress {
    let answer: Message?
    do throws(SystemError) { answer = try Message(from: socket) } catch {
      return status == nil ? .gone : .ended
    }
    guard let answer else { return .continues }
    if answer.isEmpty { return status == nil ? .gone : .ended }
    // Comes first, and only from publishers that have annotations.
    if status == nil, !isAnnotated,
      let annotation = answer.record(fb_annotation(), kind: Int(FB_MESSAGE_ANNOTATION))
    {
      application = annotation.name
      isAnnotated = true
      return .continues
    }
    if status == nil {
      guard let status = answer.record(fb_status(), kind: Int(FB_MESSAGE_STATUS)) else {
        return .ended
      }
      self.status = status
      unasked = status.subscriberIDs.reversed()
    } else {
      guard let id = unasked.popLast(),
        let found = answer.record(
          fb_subscriber_details(), kind: Int(FB_MESSAGE_SUBSCRIBER_STATUS))
      else { return .ended }
      // A subscriber that has left meanwhile has no seat.
      if found.subscriber.id == id, found.subscriber.seat != UInt32(FB_SEAT_FREE) {
        details.append(found)
      }
    }
    guard let id = unasked.last else { return .ended }
    let question = Self.question(FB_MESSAGE_INSPECT_SUBSCRIBER, value: UInt64(id))
    return socket.send(question) == .sent ? .continues : .ended
  }

  private static func question(_ kind: some BinaryInteger, value: UInt64 = 0) -> fb_short_message {
    fb_short_message(Int(kind), value: value)
  }
}
