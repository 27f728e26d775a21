import AppGroup
import CFrameLayout
import Platform

/// Sends the stream's annotation to peers that asked for it. Older peers never do, so they receive
/// no message that they do not know.
extension StreamServer {
  /// Owes the annotation to every subscriber. Called on any thread.
  func announceAnnotation() {
    loop.enqueue { [weak self] in
      guard let self else { return }
      for connection in connections.values where connection.wantsAnnotation {
        connection.owesAnnotation = true
        flush(connection)
      }
    }
  }

  /// Sends a subscriber the newest annotation if it is owed one.
  /// - Returns: false if nothing more can be sent yet.
  func flushAnnotation(_ connection: Connection) -> Bool {
    guard connection.owesAnnotation else { return true }
    switch connection.socket.send(fb_annotation(annotation.application)) {
    case .sent:
      connection.owesAnnotation = false
      return true
    case .wouldBlock: connection.watchForRoom(true)
    case .shortOfResources: flushLater(connection)
    case .disconnected: drop(connection)
    }
    return false
  }

  /// Takes a name from another process.
  /// - Returns: false if its user cannot be a host.
  func annotate(_ application: ApplicationID, for peer: PeerCredentials) -> Bool {
    guard group.roles(uid: peer.uid, gid: peer.gid).contains(.host) else { return false }
    annotation.application = application
    return true
  }
}

extension StreamAnnotation {
  /// Names the application of a stream that any process publishes. Waits for its publisher.
  /// - Returns: false if nobody publishes it; if the publisher does not take the name from this
  ///   user, who must hold the role host, or is older than this message; or if it does not answer.
  package static func set(
    _ application: ApplicationID, of stream: StreamName, in group: AppGroup,
    until deadline: Deadline
  ) -> Bool {
    let rendezvous = Rendezvous(stream: stream, group: group, hello: fb_hello())
    guard let socket = try? rendezvous.connect() else { return false }
    var request = fb_annotation(application)
    request.header = fb_message_header(Int(FB_MESSAGE_ANNOTATE))
    // A publisher that does not take the name ends the connection, and answers no query.
    guard socket.send(request) == .sent,
      socket.send(fb_short_message(Int(FB_MESSAGE_INSPECT))) == .sent,
      socket.waitUntilReadable(until: deadline), let answer = try? Message(from: socket)
    else { return false }
    return answer.record(fb_status(), kind: Int(FB_MESSAGE_STATUS)) != nil
  }
}

extension fb_annotation {
  init(_ application: ApplicationID?) {
    self.init()
    header = fb_message_header(Int(FB_MESSAGE_ANNOTATION))
    // SAFETY: the name is at most as long as the field, whose other bytes are 0.
    unsafe withUnsafeMutableBytes(of: &self.application) {
      unsafe $0.copyBytes(from: (application?.text ?? "").utf8)
    }
  }

  /// The name in a message of a peer; nil if it has none that can be shown.
  var name: ApplicationID? {
    // SAFETY: every byte of the field is read as a byte.
    unsafe withUnsafeBytes(of: application) { unsafe ApplicationID(bytes: $0) }
  }
}
