import AppGroup
import Capture
import Confinement
import CredentialStore
import Platform
import SharedLog
import Synchronization

/// Starts the processes of roles.
protocol RoleLauncher: Sendable {
  func launch(
    _ options: LaunchOptions, for job: RoleJob
  ) throws(BroadcastError) -> LaunchedRole

  /// Removes output placeholders that nobody wrote to. Call it when the roles have exited.
  func removeUnwritten()
}

extension RoleLauncher {
  func removeUnwritten() {}
}

/// The task of a process, which determines what it needs.
enum RoleJob: Sendable {
  case capture(source: String)
  case `extension`(ExtensionManifest)

  var role: Role {
    switch self {
    case .capture: .capture
    case .extension: .extension
    }
  }

  /// Whether its program is part of FrameBus and uses GStreamer.
  var needsPlugins: Bool {
    switch self {
    case .capture(let source): (try? SourceSpecification(source))?.kind.usesGStreamer == true
    case .extension(let manifest): manifest.executable == ExtensionManifest.builtinExecutable
    }
  }
}

/// A started process.
struct LaunchedRole: Sendable {
  let process: ChildProcess
  /// Reports how the process ended; nil for an unconfined one.
  var confined: RunningRole?
  /// How the process is confined, as text for people.
  let confinement: String
}

/// Starts processes without confining them.
struct PlainLauncher: RoleLauncher {
  /// Why they are not confined.
  let reason: String

  func launch(
    _ options: LaunchOptions, for job: RoleJob
  ) throws(BroadcastError) -> LaunchedRole {
    do throws(SystemError) {
      return LaunchedRole(process: try ChildProcess(options), confinement: "off: \(reason)")
    } catch { throw .system(error) }
  }
}

/// Confines each process to the needs of its role and the grants of the manifest.
final class ConfiningLauncher: RoleLauncher {
  private let group: AppGroup
  private let log: SharedLog
  private let launcher: Launcher
  private let placeholders = OutputPlaceholders()
  private let bond: Launcher.Bond
  private let pluginRegistry = Mutex<PluginRegistry.Outcome?>(nil)

  private static let label = "broadcast.host"

  /// - Parameter rolesEndWithHost: if false, roles outlive a killed host; the next one adopts them.
  init(
    _ group: AppGroup, _ log: SharedLog, _ rolesEndWithHost: Bool
  ) throws(LaunchError) {
    self.group = group
    self.log = log
    bond = rolesEndWithHost ? .diesWithHost : .outlivesHost
    launcher = try Launcher()
  }

  func launch(
    _ options: LaunchOptions, for job: RoleJob
  ) throws(BroadcastError) -> LaunchedRole {
    guard var confinement = confinement(for: job) else {
      let plain = PlainLauncher(reason: "the needs of its source are unknown")
      log.append(.notice, "the capture is not confined: \(plain.reason)", label: Self.label)
      return try plain.launch(options, for: job)
    }
    var options = options
    if job.needsPlugins, isPluginRegistryCurrent() {
      // A role lacks the machine's devices, so it would find the registry stale at each start.
      options.environment["GST_REGISTRY_UPDATE"] = .some("no")
    }
    // The launcher grants the program's file but not its directory, which may be a user's home.
    confinement.variables += options.environment.filter { $0.value != nil }.keys.sorted()
    do throws(LaunchError) {
      let running = try launcher.start(options, confinement: confinement, bond: bond)
      return LaunchedRole(
        process: running.process, confined: running,
        confinement: describe(running.measures, of: job.role))
    } catch { throw .launch("\(error)") }
  }

  func removeUnwritten() { placeholders.removeUnwritten() }

  /// Whether roles can use GStreamer's plugin registry as it is. The first call in a session
  /// updates it, before the first role that uses it.
  private func isPluginRegistryCurrent() -> Bool {
    let outcome = pluginRegistry.withLock { known in
      if let known { return known }
      let outcome = PluginRegistry.update()
      known = outcome
      if case .missing(let path) = outcome {
        log.append(
          .notice,
          "each start of a role scans all GStreamer plugins, because \(path) cannot be created:"
            + " set GST_REGISTRY to a file that this user can write",
          label: Self.label)
      }
      return outcome
    }
    return outcome == .current
  }

  /// - Returns: nil if grants cannot express what the job needs.
  private func confinement(for job: RoleJob) -> Confinement? {
    switch job {
    case .capture(let source): confinementOfCapture(CaptureNeeds(source: source))
    case .extension(let manifest): confinementOfExtension(manifest)
    }
  }

  private func confinementOfCapture(_ needs: CaptureNeeds) -> Confinement? {
    switch needs {
    case .nothing: return .capture(in: group)
    case .display(let name): return .capture(in: group, display: name)
    case .soundServer: return .soundCapture(in: group)
    case .file(let path):
      var confinement = Confinement.capture(in: group)
      confinement.grants.append(.init(.read, path))
      return confinement
    case .unknown: return nil
    }
  }

  private func confinementOfExtension(_ manifest: ExtensionManifest) -> Confinement {
    var confinement = Confinement.extension(
      in: group, memoryBytes: manifest.memoryLimitBytes.map(UInt64.init))
    confinement.grants += CredentialStore.grants(for: .extension, in: group)
    confinement.variables.append(HandOver.variable)
    confinement.grants += manifest.reads.map { .init(.read, $0) }
    for path in manifest.writes {
      do throws(SystemError) { try placeholders.make(path) } catch {
        log.append(.warning, "the extension cannot write: \(error)", label: Self.label)
      }
      confinement.grants.append(.init(.write, path))
    }
    return confinement
  }

  /// Logs each measure.
  /// - Returns: how the role is confined, as text for people.
  private func describe(_ measures: [Measure], of role: Role) -> String {
    let texts = measures.map { "\($0.name) \($0.isOn ? "on" : "off"): \($0.detail)" }
    log.append(
      .info, "the \(role) is confined: \(texts.joined(separator: "; "))", label: Self.label)
    let off = measures.filter { !$0.isOn }
    if off.isEmpty { return "on" }
    log.append(
      .notice,
      "the \(role) is confined only in part on this machine: "
        + off.map { "\($0.name) is off, \($0.detail)" }.joined(separator: "; "),
      label: Self.label)
    return "on, without \(off.map(\.name).joined(separator: ", "))"
  }
}
