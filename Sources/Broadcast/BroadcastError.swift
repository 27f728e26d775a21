import AppGroup
import CredentialStore
import FrameBus
import FrontApplication
import NotifyCenter
import Platform
import SharedDefaults
import SharedLog

/// Why a broadcast could not be started, changed or looked at.
public enum BroadcastError: Error, Hashable, Sendable, CustomStringConvertible {
  case unknownExtension(String, known: [String])
  /// There is none to pick from.
  case noExtension
  case brokenManifest(path: String, line: Int, reason: String)
  case notOwner(String)
  /// Another broadcast is under way.
  case alreadyBroadcasting(SessionID, extensionID: String, source: String)
  case noBroadcast
  /// Another user's, of a broadcast that is over.
  case captureGoesOn(pid: Int32, uid: UInt32)
  /// A stream of the broadcast has a publisher that is none of it.
  case alreadyPublished(StreamName, pid: Int32, uid: UInt32)
  /// What is no name of an application.
  case badApplication
  /// What was to be written down of a broadcast, such as its source, has a longer text.
  case textTooLong(maximumBytes: Int)
  /// An extension's process was started by nobody who broadcasts.
  case noSession
  /// Another process is this session's extension.
  case roleTaken(Role)
  case missingProgram(String)
  /// A role was not started.
  case launch(String)
  case untrusted(path: String, why: String)
  /// It has ended, and its processes with it, which could not be written down; nil: nobody knows
  /// how.
  case unrecorded(BroadcastEnding?, why: String)
  case group(GroupError)
  case settings(DefaultsError)
  case notifications(NotifyError)
  case log(LogError)
  case credentials(CredentialError)
  case system(SystemError)

  public var description: String {
    switch self {
    case .unknownExtension(let name, let known):
      "there is no extension \(name.plain) in the group; "
        + (known.isEmpty
          ? "register one with `framebus extension register FILE`, or --builtin"
          : "there are \(known.joined(separator: ", "))")
    case .noExtension:
      "there is no extension in the group; register one with `framebus extension register FILE`,"
        + " or --builtin"
    case .brokenManifest(let path, let line, let reason):
      "\(path), line \(line): \(reason); correct the line"
    case .notOwner(let what): "only the group's owner can \(what); ask them"
    case .alreadyBroadcasting(let session, let extensionID, let source):
      "the broadcast \(session) of \(source.plain) to \(extensionID.plain) is under way; end it"
        + " first with `framebus broadcast stop`"
    case .noBroadcast:
      "no broadcast is under way; start one with `framebus broadcast start EXTENSION`"
    case .captureGoesOn(let pid, let uid):
      "process \(pid) of user \(uid), a capture of a broadcast that is over, goes on; have that"
        + " user end it: `kill \(pid)`"
    case .alreadyPublished(let stream, let pid, let uid):
      "process \(pid) of user \(uid) publishes the stream “\(stream)”, and this broadcast would"
        + " show what is its; have that user end it (`kill \(pid)`), or choose another name with"
        + " `framebus broadcast start --stream NAME`"
    case .badApplication:
      "an application's name has 1 to \(ApplicationID.maximumBytes) bytes, and no control or format"
        + " characters; use one such as org.example.editor"
    case .textTooLong(let maximumBytes):
      "a broadcast's source, and each other text of it, has at most \(maximumBytes) bytes;"
        + " use a shorter one"
    case .noSession:
      "this program is an extension, which a host starts: use `framebus broadcast start EXTENSION`"
    case .roleTaken(let role):
      "another process is the \(role) of this broadcast; `framebus broadcast status` shows it"
    case .missingProgram(let name):
      "the program \(name.plain) is neither beside this one, nor in ../libexec/framebus, nor in"
        + " PATH; install it, or name it by its path"
    case .launch(let why): why
    case .untrusted(let path, let why): "\(path) cannot be trusted: \(why)"
    case .unrecorded(let ending, let why):
      "the broadcast \(ending.map { "\($0)".plain } ?? "has ended"), and its processes with it, but"
        + " its record could not be changed, and will call it dead: \(why)"
    case .group(let error): "\(error)"
    case .settings(let error): "\(error)"
    case .notifications(let error): "\(error)"
    case .log(let error): "\(error)"
    case .credentials(let error): "\(error)"
    case .system(let error): error.explained
    }
  }

  /// What happened, without what to do about it.
  var cause: String {
    if case .settings(.system(let error)) = self { "\(error)" } else { description }
  }
}
