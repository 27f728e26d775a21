import AppGroup
import Capture
import CredentialStore
import FrameBus
import NotifyCenter
import Platform
import SharedDefaults
import SharedLog

/// Why a broadcast could not be started, changed or read.
public enum BroadcastError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The group has no extension of this name.
  case unknownExtension(String, known: [String])
  /// The group has no extension to pick.
  case noExtension
  /// An extension's manifest is malformed.
  case brokenManifest(path: String, line: Int, reason: String)
  /// A preference in a manifest that no broadcast to its extension can follow.
  case unusedPreference(String, why: String)
  /// This user is not the one who may do it; the text says which user is.
  case notOwner(String)
  /// Another broadcast is active.
  case alreadyBroadcasting(SessionID, extensionID: String, source: String)
  /// The same broadcast is running, with other options.
  case otherOptions(SessionID, [BroadcastDifference])
  /// Some options of the running broadcast were changed; these need a new one.
  case restartNeeded(SessionID, [BroadcastDifference], changed: [BroadcastDifference])
  /// Options, by their names on a command line, that have no effect on a stream that an application
  /// publishes.
  case optionsOfCapture(StreamName, [String])
  /// An option that the source cannot have.
  case option(CaptureOptionError)
  /// What the host passes to the extension is outside its limits.
  case badSetup(String)
  /// What the session's host passed to the extension cannot be read, so that the next host cannot
  /// restart the extension.
  case setupLost(SessionID, why: String)
  /// No broadcast is active.
  case noBroadcast
  /// A capture of an ended broadcast belongs to another user.
  case captureStillRunning(pid: Int32, uid: UInt32)
  /// A stream of the broadcast is published by a process outside it.
  case alreadyPublished(StreamName, pid: Int32, uid: UInt32)
  /// The application name is malformed.
  case badApplication
  /// A text of the record, such as the source, is too long.
  case textTooLong(maximumBytes: Int)
  /// An extension's process was not started by a host.
  case noSession
  /// Another process holds this role of the session.
  case roleTaken(Role)
  /// One of FrameBus's own programs is not there.
  case missingProgram(String)
  /// The program of a manifest is not there, or nobody may run it.
  case notExecutable(path: String)
  /// A role could not be started.
  case launch(String)
  /// Others than the group's members could have written a file.
  case untrusted(path: String, why: String)
  /// The broadcast and its processes have ended, but the ending could not be recorded; nil if the
  /// ending is unknown.
  case unrecorded(BroadcastEnding?, why: String)
  /// Nobody has agreed to what a new broadcast shows to others.
  case consentRequired(BroadcastConsent)
  /// Confinement in full is required, and these roles would have less, for these reasons.
  case weakConfinement([Role: String])
  /// The setting `whipURL` names no server to which somebody has agreed.
  case server(BroadcastServerError)
  /// The desktop's portal grants no pictures; the text says what to do.
  case portal(String, mayPass: Bool)
  /// PipeWire lets no camera be offered.
  case camera(String)
  /// The windows that must not be seen are unknown.
  case protection(ProtectionSettingError)
  /// The group cannot be used.
  case group(GroupError)
  /// The settings cannot be used.
  case settings(DefaultsError)
  /// The notifications cannot be used.
  case notifications(NotifyError)
  /// The log cannot be used.
  case log(LogError)
  /// The credentials cannot be used.
  case credentials(CredentialError)
  /// A system call failed.
  case system(SystemError)

  public var description: String {
    switch self {
    case .unknownExtension(let name, let known):
      "extension \(name.plain) is not registered in the group; "
        + (known.isEmpty
          ? "register one with `framebus extension register FILE`, or --builtin"
          : "use one of \(known.joined(separator: ", "))")
    case .noExtension:
      "the group has no extension; register one with `framebus extension register FILE`,"
        + " or --builtin, or name a WHIP server in the setting whipURL"
    case .brokenManifest(let path, let line, let reason):
      "\(path), line \(line): \(reason); correct the line"
    case .unusedPreference(let key, let why):
      "\(key) in [capture] has no effect: \(why); leave it out, or correct samples"
    case .notOwner(let what): "only the group's owner can \(what); ask the owner"
    case .alreadyBroadcasting(let session, let extensionID, let source):
      "broadcast \(session) of \(SourceKind.shown(source).plain) to \(extensionID.plain) is active;"
        + " stop it first with `framebus broadcast stop`"
    case .otherOptions(let session, let differences):
      "broadcast \(session) is running with other options: \(Self.list(differences)); stop it first"
        + " with `framebus broadcast stop`, or add --apply, which switches sound, protects more"
        + " windows or ends it earlier while it runs"
    case .restartNeeded(let session, let differences, let changed):
      "broadcast \(session) is running with other options that need a new one:"
        + " \(Self.list(differences)); stop it first with `framebus broadcast stop`"
        + (changed.isEmpty ? "" : " (changed: \(changed.map(\.option).joined(separator: ", ")))")
    case .optionsOfCapture(let stream, let options):
      "\(options.map { "--\($0)" }.joined(separator: ", ")): nothing is captured, because an"
        + " application publishes the stream “\(stream)”; leave this out, and set it in the"
        + " application"
    case .option(let error): "--\(error)"
    case .badSetup(let why): "setup information: \(why)"
    case .setupLost(let session, let why):
      "the setup information of broadcast \(session) cannot be read: \(why); stop it with"
        + " `framebus broadcast stop`, and start it again"
    case .noBroadcast:
      "no broadcast is active; start one with `framebus broadcast start EXTENSION`"
    case .captureStillRunning(let pid, let uid):
      "process \(pid) of user \(uid), a capture of an ended broadcast, is still running; ask that"
        + " user to run `kill \(pid)`"
    case .alreadyPublished(let stream, let pid, let uid):
      "process \(pid) of user \(uid) publishes the stream “\(stream)”, so this broadcast would send"
        + " that process's frames; ask that user to run `kill \(pid)`, or choose another name with"
        + " `framebus broadcast start --stream NAME`"
    case .badApplication:
      "an application's name has 1 to \(ApplicationID.maximumBytes) bytes, and no control or format"
        + " characters; use one such as org.example.editor"
    case .textTooLong(let maximumBytes):
      "the source, and each other text of a broadcast, is limited to \(maximumBytes) bytes;"
        + " use a shorter one"
    case .noSession:
      "this program is an extension, and only a host can start it: use"
        + " `framebus broadcast start EXTENSION`"
    case .roleTaken(let role):
      "another process is the \(role) of this broadcast; see `framebus broadcast status`"
    case .missingProgram(let name):
      "the program \(name.plain) is not beside this one, in ../libexec/framebus or in PATH;"
        + " install it, or give its path"
    case .notExecutable(let path):
      "\(path.plain) is not an executable file; install the program there, or correct executable in"
        + " the manifest"
    case .launch(let why): why
    case .untrusted(let path, let why): "\(path) cannot be trusted: \(why)"
    case .unrecorded(let ending, let why):
      "the broadcast \(ending.map { "\($0)".plain } ?? "has ended") and its processes have exited,"
        + " but the record could not be changed, so `status` will report that it died: \(why)"
    case .consentRequired(let consent):
      "nobody has agreed to this broadcast: “\(consent.text.plain)”; start it on a terminal, or"
        + " with --yes\(consent.server.map { " --server \($0)" } ?? "") if the user agrees"
    case .weakConfinement(let roles):
      "confinement in full is required, but not available: "
        + roles.sorted { $0.key.rawValue < $1.key.rawValue }
        .map { "\($0.key): \($0.value)" }.joined(separator: "; ")
        + "; see `framebus doctor`, or start without --require-confinement"
    case .server(let error): "\(error)"
    case .portal(let why, _): why
    case .camera(let why):
      "no camera can be offered: PipeWire: \(why); start it as this user, or name a device,"
        + " camera:/dev/videoN"
    case .protection(let error): "\(error)"
    case .group(let error): "\(error)"
    case .settings(let error): "\(error)"
    case .notifications(let error): "\(error)"
    case .log(let error): "\(error)"
    case .credentials(let error): "\(error)"
    case .system(let error): error.explained
    }
  }

  private static func list(_ differences: [BroadcastDifference]) -> String {
    differences.map(\.description).joined(separator: "; ")
  }

  /// What happened, without the remedy.
  var cause: String {
    if case .settings(.system(let error)) = self { "\(error)" } else { description }
  }
}
