import AppGroup
import CameraGrant
import Capture
import Confinement
import CredentialStore
import FrameBus
import Platform
import ScreenCast
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
  /// Nil if no role is confined, or started as another user.
  let launcher: Launcher?
  /// Why a role that runs unconfined does so.
  let unconfinedReason: String
  /// The state of GStreamer's plugin registry of each user; nil for the host's.
  let pluginRegistries = Mutex<[UserAccount?: PluginRegistry.Outcome]>([:])
  /// Outputs created so that an extension can be granted each by itself, without its neighbours.
  let placeholders = Mutex<[OutputPlaceholder]>([])

  static let label = "broadcast.host"

  init(
    _ group: AppGroup, _ session: SessionID, _ request: BroadcastRequest,
    _ manifest: ExtensionManifest, _ log: SharedLog
  ) {
    self.group = group
    self.session = session
    self.request = request
    self.manifest = manifest
    self.log = log
    if !request.isConfined, group.hasOneUser || !mayStartAsOtherUsers {
      launcher = nil
      unconfinedReason = "disabled by request"
      return
    }
    do throws(LaunchError) {
      launcher = try Launcher()
      unconfinedReason =
        request.isConfined ? "the needs of its source are unknown" : "disabled by request"
    } catch {
      log.append(.warning, "roles are not confined: \(error)", label: Self.label)
      launcher = nil
      unconfinedReason = "framebus-confine is missing"
    }
  }

  var sources: SampleSources { request.sources(for: manifest) }

  /// The sources that are captured, each by a process.
  var captureSources: [String] {
    (request.publishedStream == nil ? [request.source] : [])
      + sources.streams.keys.filter { $0 != .video }.sorted { $0.rawValue < $1.rawValue }
      .compactMap(request.soundSource)
  }

  // MARK: The roles

  /// - Parameters:
  ///   - portal: the session of the desktop's portal, which a source of it replaces.
  ///   - isRestart: whether an earlier capture of the session ran.
  ///   - stop: ends the wait for the user's choice.
  func startCapture(
    _ portal: inout ScreenCastSession?, isRestart: Bool, stop: StopSignal
  ) throws(BroadcastError) -> RoleProcess {
    var settings = request.captureSettings(for: manifest)
    if let kind = (try? SourceSpecification(request.source))?.kind {
      settings = settings.limited(to: kind.options)
    }
    var options = settings.arguments
    if request.hasSoundInSource {
      options.append("--sound=\(sources.streams[.audioApp]?.text ?? "none")")
    }
    let remote = try openPortal(&portal, settings, stop: stop)
    if let node = portal?.node { options.append("--grant=\(node):3") }
    return try startCapture(
      of: request.source, as: sources.streams[.video], options,
      environment: isRestart ? [CaptureRetry.restartVariable: "1"] : [:],
      handOver: try settings.secret.map(handOver(secret:)), inheriting: remote)
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
    return try startCapture(
      of: source, as: stream, [kind] + settings.arguments, isQuiet: isRetry,
      environment: isRetry ? [CaptureRetry.variable: "1"] : [:])
  }

  /// The session on the command line lets a later host attribute the capture to it.
  private func startCapture(
    of source: String, as stream: StreamName?, _ options: [String], isQuiet: Bool = false,
    environment: [String: String?], handOver: HandOver? = nil,
    inheriting remote: borrowing Descriptor? = nil
  ) throws(BroadcastError) -> RoleProcess {
    var arguments = ["--quiet", session.captureOption]
    if let stream { arguments.append("--stream=\(stream)") }
    arguments += options + ["--", source]
    var environment = environment
    if let compositor = request.compositor { environment["WAYLAND_DISPLAY"] = compositor }
    return try start(
      .capture, CaptureNeeds.program(of: source), arguments, environment: environment,
      usesPlugins: CaptureNeeds.usesPlugins(source), isQuiet: isQuiet, handOver: handOver,
      inheriting: remote
    ) { user in
      var rights = confinement(
        of: CaptureNeeds(source: source, compositor: request.compositor), as: user)
      if handOver != nil { rights?.grants += CredentialStore.grants(for: .capture, in: group) }
      return rights
    }
  }

  func startExtension() throws(BroadcastError) -> RoleProcess {
    let handOver = try handOver()
    let connection = try openCameraConnection()
    let connectionNumber = connection == nil ? nil : "\(handOver == nil ? 3 : 4)"
    return try start(
      .extension, manifest.executable, manifest.arguments,
      environment: [
        ExtensionEnvironment.identifier: manifest.id,
        ExtensionEnvironment.streams: sources.description,
        // At each start: the setting may name another server meanwhile.
        ExtensionEnvironment.server: request.destination?.server?.text,
        ExtensionEnvironment.camera: connectionNumber,
      ], usesPlugins: hasPlugins(manifest.executable), handOver: handOver, inheriting: connection
    ) { confinement(of: manifest, as: $0) }
  }

  /// A new one for each process, because each can use its own only.
  private func openCameraConnection() throws(BroadcastError) -> Descriptor? {
    guard manifest.offersCameraNode else { return nil }
    do throws(CameraGrantError) { return try CameraGrant.open() } catch {
      throw .camera("\(error)")
    }
  }

  // MARK: Starting

  /// - Parameters:
  ///   - name: a path, or the name of a program of FrameBus or in PATH.
  ///   - usesPlugins: whether it may load GStreamer's plugins.
  ///   - isQuiet: logs its standard error at level debug.
  ///   - confinement: its rights as a user; nil if grants cannot express what it needs. Called only
  ///     if the session's roles are confined.
  private func start(
    _ role: Role, _ name: String, _ arguments: [String], environment: [String: String?] = [:],
    usesPlugins: Bool, isQuiet: Bool = false, handOver: HandOver? = nil,
    inheriting remote: borrowing Descriptor? = nil,
    _ confinement: (UserAccount?) -> Confinement?
  ) throws(BroadcastError) -> RoleProcess {
    guard let path = name.hasPrefix("/") ? name : productProgram(named: name) else {
      throw .missingProgram(name)
    }
    let user = try user(of: role)
    let account = user.account
    let confinement = launcher != nil && request.isConfined ? confinement(account) : nil
    do {
      let errors = try OneWayPipe()
      var options = LaunchOptions(path, arguments)
      options.environment = self.environment(handOver).merging(environment) { $1 }
      options.environment.merge(account?.environment ?? [:]) { $1 }
      if let handOver { options.inherited = [handOver.descriptorNumber] }
      switch remote {
      case .some(let remote): options.inherited.append(remote.number)
      case .none: break
      }
      options.output = .null
      options.errors = .descriptor(errors.writeEnd.number)
      // Ctrl-C reaches only the host, which then stops the roles in order.
      options.hasOwnGroup = true
      if confinement != nil, usesPlugins, hasCurrentPlugins(account) {
        options.environment["GST_REGISTRY_UPDATE"] = .some("no")
      }
      let process = try launch(role, options, confinement, user)
      let output = try RoleErrorOutput(
        of: role, reading: errors.takeReadEnd(), log, isQuiet: isQuiet)
      return .child(process.role, confinement: process.report, output, handOver)
    } catch let error as SystemError {
      throw .system(error)
    } catch let error as BroadcastError {
      throw error
    } catch {
      throw .launch("\(error)")
    }
  }

  /// A started process, and how it is confined, as text for people.
  private struct Launched {
    let role: RunningRole
    let report: String
  }

  private func launch(
    _ role: Role, _ options: LaunchOptions, _ confinement: Confinement?, _ user: RoleUser
  ) throws -> Launched {
    let bond: Launcher.Bond = request.rolesEndWithHost ? .diesWithHost : .outlivesHost
    guard let launcher, var confinement else {
      if request.requiresConfinement {
        throw BroadcastError.weakConfinement([role: unconfinedReason])
      }
      if request.isConfined, launcher != nil {
        log.append(
          .notice, "the \(role) is not confined: \(unconfinedReason)", label: Self.label)
      }
      let process: RunningRole =
        if let launcher, let account = user.account {
          try launcher.start(options, confinement: nil, as: account, bond: bond)
        } else { RunningRole(unconfined: try ChildProcess(options)) }
      return Launched(role: process, report: "off: \(unconfinedReason)")
    }
    confinement.variables += options.environment.filter { $0.value != nil }.keys.sorted()
    let process = try launcher.start(
      options, confinement: confinement, as: user.account, bond: bond)
    let measures = [user.measure].compactMap(\.self) + process.measures
    let report = describe(measures, of: role)
    // A restart may find less than the start of the session did.
    if request.requiresConfinement, let why = Self.weakness(of: measures) {
      process.stop(killAt: .now)
      throw BroadcastError.weakConfinement([role: why])
    }
    return Launched(role: process, report: report)
  }

  /// What every role's process finds in its environment.
  private func environment(_ handOver: HandOver?) -> [String: String?] {
    [
      GroupVariables.group: "\(group.id)", GroupVariables.home: group.rootPath,
      GroupVariables.run: group.usualRunPath,
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

  /// The secret of the source's server, for its capture, in the same kind of memory.
  private func handOver(secret: String) throws(BroadcastError) -> HandOver {
    do throws(CredentialError) {
      let store = try store()
      return try store.handOver(to: .capture, leases: [store.lease(CredentialName(secret))])
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

  /// The directory of the run directories, if no root is given.
  fileprivate var usualRunPath: String? {
    guard rootPath == nil, let end = runPath.lastIndex(of: "/") else { return nil }
    return String(runPath[..<end])
  }
}
