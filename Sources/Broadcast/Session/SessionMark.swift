import AppGroup
import Platform

/// Marks a capture with its session: an option on its command line, which the host sets and any
/// process can read. A host that finds a process through its socket can tell by the mark whether
/// the process belongs to its session.
///
/// It proves nothing about a process that lies, but a process can lie only about itself.
enum SessionMark {
  private static let name = "--session="

  static func option(of session: SessionID) -> String { name + session.text }

  /// - Returns: nil for a process that no host started for a session.
  static func session(of process: PeerProcess) -> SessionID? {
    // The arguments after `--` name the source.
    let options = process.commandLine.prefix { $0 != "--" }
    return options.first { $0.hasPrefix(name) }
      .flatMap { SessionID(String($0.dropFirst(name.utf8.count))) }
  }

  /// The running processes that a host started as a session's extension, including those that
  /// never listened on the socket of the role. Their environment has the mark.
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
