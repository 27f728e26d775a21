import AppGroup
import Confinement
import Platform
import SharedLog
import Synchronization

/// Starts the processes of roles.
protocol RoleLauncher: Sendable {
  func launch(
    _ options: LaunchOptions, for job: RoleJob
  ) throws(BroadcastError) -> LaunchedRole

  /// Removes what was made for roles to write and was not written; called when they have ended.
  func removeUnwritten()
}

extension RoleLauncher {
  func removeUnwritten() {}
}

/// What a process is started for, which says what it needs.
enum RoleJob: Sendable {
  case capture(source: String)
  case upload(ExtensionManifest)

  var role: Role {
    switch self {
    case .capture: .capture
    case .upload: .extension
    }
  }

  /// Whether its program is one of ours that uses GStreamer.
  var needsPlugins: Bool {
    switch self {
    case .capture(let source):
      switch CaptureNeeds(source: source) {
      case .file, .soundServer: true
      case .nothing, .display, .unknown: false
      }
    case .upload(let manifest): manifest.executable == ExtensionManifest.builtinExecutable
    }
  }
}

/// A process that was started.
struct LaunchedRole: Sendable {
  let process: ChildProcess
  /// As which it can be asked how it ended; nil for one that was started as it is.
  var confined: RunningRole?
  /// How far it is confined, for a person.
  let confinement: String
}

/// Starts them as they are, without confining them.
struct PlainLauncher: RoleLauncher {
  /// Why.
  let reason: String

  func launch(
    _ options: LaunchOptions, for job: RoleJob
  ) throws(BroadcastError) -> LaunchedRole {
    do throws(SystemError) {
      return LaunchedRole(process: try ChildProcess(options), confinement: "off: \(reason)")
    } catch { throw .system(error) }
  }
}

/// Starts them so that they can do what their role needs, and what the manifest asks for, alone.
final class ConfiningLauncher: RoleLauncher {
  private let group: AppGroup
  private let log: SharedLog
  private let launcher: Launcher
  private let placeholders = OutputPlaceholders()
  private let bond: Launcher.Bond
  private let pluginRegistry = Mutex<PluginRegistry.Outcome?>(nil)

  private static let label = "broadcast.host"

  /// - Parameter rolesEndWithHost: otherwise a host that is killed leaves them to the next one.
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
      let plain = PlainLauncher(reason: "nobody knows what its source needs")
      log.append(.notice, "the capture is not confined: \(plain.reason)", label: Self.label)
      return try plain.launch(options, for: job)
    }
    var options = options
    if job.needsPlugins, isPluginRegistryCurrent() {
      // Without the machine's devices, a role would find it out of date at each of its starts.
      options.environment["GST_REGISTRY_UPDATE"] = .some("no")
    }
    // The launcher grants the program's file, and not its folder: that may be somebody's home.
    confinement.variables += options.environment.filter { $0.value != nil }.keys.sorted()
    do throws(LaunchError) {
      let running = try launcher.start(options, confinement: confinement, bond: bond)
      return LaunchedRole(
        process: running.process, confined: running,
        confinement: describe(running.measures, of: job.role))
    } catch { throw .launch("\(error)") }
  }

  func removeUnwritten() { placeholders.removeUnwritten() }

  /// Whether GStreamer's registry of its plugins is what roles can go by: brought up to date once a
  /// session, before the first role that uses it.
  private func isPluginRegistryCurrent() -> Bool {
    let outcome = pluginRegistry.withLock { known in
      if let known { return known }
      let outcome = PluginRegistry.update()
      known = outcome
      if case .missing(let path) = outcome {
        log.append(
          .notice,
          "each start of a role looks through all of GStreamer's plugins, since \(path) cannot be"
            + " made: name a file in GST_REGISTRY that this user can write",
          label: Self.label)
      }
      return outcome
    }
    return outcome == .current
  }

  /// - Returns: nil for what cannot be said in grants.
  private func confinement(for job: RoleJob) -> Confinement? {
    switch job {
    case .capture(let source): confinementOfCapture(CaptureNeeds(source: source))
    case .upload(let manifest): confinementOfExtension(manifest)
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
    confinement.grants += manifest.reads.map { .init(.read, $0) }
    for path in manifest.writes {
      do throws(SystemError) { try placeholders.make(path) } catch {
        log.append(.warning, "the extension cannot write: \(error)", label: Self.label)
      }
      confinement.grants.append(.init(.write, path))
    }
    return confinement
  }

  /// Tells the log of each measure.
  /// - Returns: how far it is confined.
  private func describe(_ measures: [Measure], of role: Role) -> String {
    let texts = measures.map { "\($0.name) \($0.isOn ? "on" : "off"): \($0.detail)" }
    log.append(
      .info, "the \(role) is confined: \(texts.joined(separator: "; "))", label: Self.label)
    let off = measures.filter { !$0.isOn }
    if off.isEmpty { return "on" }
    log.append(
      .notice,
      "this machine cannot keep the \(role) from all: "
        + off.map { "\($0.name) is off, \($0.detail)" }.joined(separator: "; "),
      label: Self.label)
    return "on, without \(off.map(\.name).joined(separator: ", "))"
  }
}
