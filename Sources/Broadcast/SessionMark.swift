import AppGroup
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

  /// What a host has started as a session's extension and goes on, also if it never listened where
  /// one is looked for: its environment bears the mark.
  static func extensions(of session: SessionID, in group: AppGroup) -> [PeerProcess] {
    let mark = "\(ExtensionEnvironment.session)=\(session.text)"
    let processes = PeerProcess.leaders { environment in
      environment.contains(mark)
        && environment.contains { $0.hasPrefix("\(ExtensionEnvironment.identifier)=") }
    }
    return processes.filter {
      let who = $0.credentials
      return who.pid != currentProcessID()
        && group.roles(uid: who.uid, gid: who.gid).contains(.extension)
    }
  }
}
