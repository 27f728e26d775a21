import AppGroup
import Capture
import Confinement
import CredentialStore
import FrameBus
import Platform
import SharedLog
import Synchronization

/// Starts the roles of one session, with their programs, environments, credentials and rights.
final class RoleStarter: Sendable {
  let group: AppGroup
  let log: SharedLog
  /// The executable in the manifest.
  var extensionProgram: String { manifest.executable }

  private let session: SessionID
  let request: BroadcastRequest
  let manifest: ExtensionManifest
  /// Nil if no role is confined.
  let launcher: Launcher?
  /// Why a role that runs unconfined does so.
  let unconfinedReason: String
  /// The result for the first role that needs the plugin registry, which updates it.
  let pluginRegistry = Mutex<PluginRegistry.Outcome?>(nil)
  /// Outputs created so that an extension can be granted each by itself, without its neighbours.
  let placeholders = Mutex<[OutputPlaceholder]>([])

  static let label = "broadcast.host"
  private static let programsWithPlugins = [
    ExtensionManifest.builtinExecutable, SourceKind.mediaProgram,
  ]

  init(
    _ group: AppGroup, _ session: SessionID, _ request: BroadcastRequest,
    _ manifest: ExtensionManifest, _ log: SharedLog
  ) {
    self.group = group
    self.session = session
    self.request = request
    self.manifest = manifest
    self.log = log
    guard request.isConfined else {
      launcher = nil
      unconfinedReason = "disabled by request"
      return
    }
    do throws(LaunchError) {
      launcher = try Launcher()
      unconfinedReason = "the needs of its source are unknown"
    } catch {
      log.append(.warning, "roles are not confined: \(error)", label: Self.label)
      launcher = nil
      unconfinedReason = "framebus-confine is missing"
    }
  }

  var sources: SampleSources { request.sources(for: manifest) }

  // MARK: The roles

  func startCapture() throws(BroadcastError) -> RoleProcess {
    var options = request.captureSettings(for: manifest).arguments
    if request.hasSoundInSource {
      options.append("--sound=\(sources.streams[.audioApp]?.text ?? "none")")
    }
    return try startCapture(of: request.source, as: sources.streams[.video], options)
  }

  /// - Parameter isRetry: whether an earlier capture has failed, and the log says why.
  /// - Returns: nil if this kind is not captured.
  func startSoundCapture(
    of type: SampleBufferType, isRetry: Bool
  ) throws(BroadcastError) -> RoleProcess? {
    guard let source = request.soundSource(of: type), let stream = sources.streams[type] else {
      return nil
    }
    // Ties the capture to its kind's sound switch, whatever the stream's name.
    let kind = "--kind=\(type == .audioMic ? "mic" : "app")"
    var settings = CaptureSettings()
    settings.silenceLimit = request.captureSettings(for: manifest).silenceLimit
    return try startCapture(of: source, as: stream, [kind] + settings.arguments, isRetry: isRetry)
  }

  /// The session on the command line lets a later host attribute the capture to it.
  private func startCapture(
    of source: String, as stream: StreamName?, _ options: [String], isRetry: Bool = false
  ) throws(BroadcastError) -> RoleProcess {
    var arguments = ["--quiet", session.captureOption]
    if let stream { arguments.append("--stream=\(stream)") }
    arguments += options + ["--", source]
    return try start(
      .capture, CaptureNeeds.program(of: source), arguments,
      environment: isRetry ? [CaptureRetry.variable: "1"] : [:], isQuiet: isRetry,
      confinement(of: CaptureNeeds(source: source)))
  }

  func startExtension() throws(BroadcastError) -> RoleProcess {
    let handOver = try handOver()
    return try start(
      .extension, manifest.executable, manifest.arguments,
      environment: [
        ExtensionEnvironment.identifier: manifest.id,
        ExtensionEnvironment.streams: sources.description,
        // At each start: the setting may name another server meanwhile.
        ExtensionEnvironment.server: request.destination?.server?.text,
      ], confinement(of: manifest), handOver)
  }

  // MARK: Starting

  /// - Parameters:
  ///   - name: a path, or the name of a program of FrameBus or in PATH.
  ///   - confinement: its rights; nil if grants cannot express what it needs. Evaluated only if
  ///     the session's roles are confined.
  ///   - isQuiet: logs its standard error at level debug.
  private func start(
    _ role: Role, _ name: String, _ arguments: [String], environment: [String: String?] = [:],
    isQuiet: Bool = false, _ confinement: @autoclosure () -> Confinement?,
    _ handOver: HandOver? = nil
  ) throws(BroadcastError) -> RoleProcess {
    guard let path = name.hasPrefix("/") ? name : productProgram(named: name) else {
      throw .missingProgram(name)
    }
    do {
      let errors = try OneWayPipe()
      var options = LaunchOptions(path, arguments)
      options.environment = self.environment(handOver).merging(environment) { $1 }
      if let handOver { options.inherited = [handOver.descriptorNumber] }
      options.output = .null
      options.errors = .descriptor(errors.writeEnd.number)
      // Ctrl-C reaches only the host, which then stops the roles in order.
      options.hasOwnGroup = true
      let process: RunningRole
      let report: String
      if let launcher, var confinement = confinement() {
        if Self.programsWithPlugins.contains(name), isPluginRegistryCurrent() {
          // A role lacks the machine's devices, so it would find the registry stale at each start.
          options.environment["GST_REGISTRY_UPDATE"] = .some("no")
        }
        confinement.variables += options.environment.filter { $0.value != nil }.keys.sorted()
        process = try launcher.start(
          options, confinement: confinement,
          bond: request.rolesEndWithHost ? .diesWithHost : .outlivesHost)
        report = describe(process.measures, of: role)
        // A restart may find less than the start of the session did.
        if request.requiresConfinement, let why = Self.weakness(of: process.measures) {
          process.stop(killAt: .now)
          throw BroadcastError.weakConfinement([role: why])
        }
      } else {
        if request.requiresConfinement {
          throw BroadcastError.weakConfinement([role: unconfinedReason])
        }
        if launcher != nil {
          log.append(
            .notice, "the \(role) is not confined: \(unconfinedReason)", label: Self.label)
        }
        process = RunningRole(unconfined: try ChildProcess(options))
        report = "off: \(unconfinedReason)"
      }
      let output = try RoleErrorOutput(
        of: role, reading: errors.takeReadEnd(), log, isQuiet: isQuiet)
      return .child(process, confinement: report, output, handOver)
    } catch let error as SystemError {
      throw .system(error)
    } catch let error as BroadcastError {
      throw error
    } catch {
      throw .launch("\(error)")
    }
  }

  /// What every role's process finds in its environment.
  private func environment(_ handOver: HandOver?) -> [String: String?] {
    [
      GroupVariables.group: "\(group.id)", GroupVariables.home: group.rootPath,
      ExtensionEnvironment.session: session.text,
      // Inherited descriptors start at 3.
      HandOver.variable: handOver == nil ? nil : "3",
    ]
  }

  /// The requested credentials that the host has, and what it passes on, in memory that only the
  /// new process receives.
  private func handOver() throws(BroadcastError) -> HandOver? {
    let setup = request.setup
    if manifest.credentials.isEmpty, setup.isEmpty { return nil }
    do throws(CredentialError) {
      // The host may have no credentials; what it passes on is in a store.
      if setup.isEmpty, try !CredentialStore.exists(in: group) { return nil }
      let store = try store()
      var leases: [CredentialLease] = []
      let chosen = Set(setup.secrets.values)
      for name in manifest.credentials.filter({ !chosen.contains($0) }) {
        do throws(CredentialError) { leases.append(try store.lease(name)) } catch {
          guard case .notFound = error else { throw error }
          log.append(.warning, "no credential \(name) to hand over", label: Self.label)
        }
      }
      for name in chosen.sorted() { leases.append(try store.lease(name)) }
      if !setup.isEmpty { leases.append(try setup.lease(of: session)) }
      return try store.handOver(to: .extension, leases: leases)
    } catch { throw .credentials(error) }
  }

  private func store() throws(CredentialError) -> CredentialStore {
    if let opened = request.credentials { return opened }
    return try CredentialStore.open(in: group, as: .host)
  }

  /// Removes what the session's hosts sealed for its extension. Call it when the session has ended.
  func removeSetup() {
    if request.setup.isEmpty { return }
    do throws(CredentialError) {
      try store().remove(SessionSetup.name(of: session))
    } catch {
      log.append(
        .warning, "the setup information stays sealed until the next session has some: \(error)",
        label: Self.label)
    }
  }
}

extension AppGroup {
  /// The directory given by `--root`, if any: it has the container in `state/ID` and the run
  /// directory in `run/ID`.
  fileprivate var rootPath: String? {
    let suffix = "/state/\(id)"
    guard containerPath.hasSuffix(suffix) else { return nil }
    let root = String(containerPath.dropLast(suffix.count))
    return runPath == "\(root)/run/\(id)" ? root : nil
  }
}
