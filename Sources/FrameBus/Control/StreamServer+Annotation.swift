import CFrameLayout

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
