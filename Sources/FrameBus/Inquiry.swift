import AppGroup
import CFrameLayout
import Platform

/// One publisher's answers to a look, from the connection to the last of them. Never blocks.
final class Inquiry {
  enum Outcome { case asked(Inquiry), doorIsFull, gone }

  let stream: StreamName
  let publisherPID: Int32
  private let socket: MessageSocket
  private var status: fb_status?
  private var details: [fb_subscriber_details] = []
  /// The subscribers still to ask about, the next one last.
  private var unasked: [UInt32] = []

  /// Connects and asks.
  /// - Throws: that this process has no descriptor left for it.
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
      // Nobody publishes the stream, or nobody whom the group admits, or not over such a socket.
      default: return .gone
      }
    }
  }

  private init?(_ stream: StreamName, _ socket: consuming MessageSocket) {
    guard let peer = try? socket.peer(), socket.send(Self.question(FB_MESSAGE_INSPECT)) == .sent
    else { return nil }
    self.stream = stream
    self.socket = socket
    publisherPID = peer.pid
  }

  var number: Int32 { socket.descriptor.number }

  /// What is known until now.
  var report: StreamReport {
    guard let status else { return .silent(stream, publisherPID: publisherPID) }
    return .answered(StreamStatus(stream, status, details))
  }

  /// Whether it has answered nothing yet.
  var isSilent: Bool { status == nil }

  enum Progress {
    case goesOn
    /// There is nothing more to learn.
    case ended
    /// The publisher ended the connection and said nothing.
    case gone
  }

  /// Takes one answer and asks what comes next. An answer that is malformed is as good as none.
  func advance() -> Progress {
    let answer: Message?
    do throws(SystemError) { answer = try Message(from: socket) } catch {
      return status == nil ? .gone : .ended
    }
    guard let answer else { return .goesOn }
    if answer.isEmpty { return status == nil ? .gone : .ended }
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
      // One that has left meanwhile has no place.
      if found.subscriber.id == id, found.subscriber.place != UInt32(FB_PLACE_FREE) {
        details.append(found)
      }
    }
    guard let id = unasked.last else { return .ended }
    let question = Self.question(FB_MESSAGE_INSPECT_SUBSCRIBER, value: UInt64(id))
    return socket.send(question) == .sent ? .goesOn : .ended
  }

  private static func question(_ kind: some BinaryInteger, value: UInt64 = 0) -> fb_short_message {
    fb_short_message(Int(kind), value: value)
  }
}
