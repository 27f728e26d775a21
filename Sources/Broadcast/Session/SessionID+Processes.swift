import AppGroup
import Platform

/// The processes of a session carry a mark, which the host sets and any process can read: a capture
/// an option on its command line, an extension a variable. A host that finds a process through its
/// socket can tell by the mark whether the process belongs to its session.
///
/// It proves nothing about a process that lies, but a process can lie only about itself.
extension SessionID {
  private static let optionName = "--session="

  /// The mark of the session's captures.
  var captureOption: String { Self.optionName + text }

  /// The session of a capture; nil for a process that no host started for one.
  init?(ofCapture process: PeerProcess) {
    // The arguments after `--` name the source.
    let options = process.commandLine.prefix { $0 != "--" }
    guard let option = options.first(where: { $0.hasPrefix(Self.optionName) }) else { return nil }
    self.init(String(option.dropFirst(Self.optionName.utf8.count)))
  }

  /// The running processes that a host started as the session's extension, including those that
  /// never listened on the socket of the role.
  func extensions(in group: AppGroup) -> [PeerProcess] {
    let mark = "\(ExtensionEnvironment.session)=\(text)"
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
