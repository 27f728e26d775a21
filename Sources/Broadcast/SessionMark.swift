import Platform

/// By which a capture says of which session it is: a word of its command line, which its host
/// writes and everybody can read. So the host that finds a process by its socket, through the
/// kernel, knows whether it is the session's own or just anybody's.
///
/// It proves nothing against a process that lies; but only about itself can one lie.
enum SessionMark {
  private static let name = "--session="

  static func option(of session: SessionID) -> String { name + session.text }

  /// - Returns: nil for a process that no host has started for a session.
  static func session(of process: PeerProcess) -> SessionID? {
    // What follows is what to capture.
    let options = process.commandLine.prefix { $0 != "--" }
    return options.first { $0.hasPrefix(name) }
      .flatMap { SessionID(String($0.dropFirst(name.utf8.count))) }
  }
}
