import AppGroup
import Capture
import CredentialStore
import FrameBus
import Platform
import SharedLog

/// Starts the roles of one session, with their programs, environments and credentials.
final class RoleStarter: Sendable {
  private let group: AppGroup
  private let session: SessionID
  private let request: BroadcastRequest
  private let manifest: ExtensionManifest
  private let log: SharedLog
  private let launcher: any RoleLauncher

  init(
    _ group: AppGroup, _ session: SessionID, _ request: BroadcastRequest,
    _ manifest: ExtensionManifest, _ log: SharedLog, _ launcher: any RoleLauncher
  ) {
    self.group = group
    self.session = session
    self.request = request
    self.manifest = manifest
    self.log = log
    self.launcher = launcher
  }

  /// The executable in the manifest.
  var extensionProgram: String { manifest.executable }

  /// The stream that the capture publishes.
  var videoStream: StreamName? { sources.streams[.video] }

  private var sources: SampleSources { request.sources(for: manifest) }

  func startCapture() throws(BroadcastError) -> RoleProcess {
    var arguments = captureArguments
    if let videoStream { arguments.append("--stream=\(videoStream)") }
    if let rate = manifest.format.framesPerSecond { arguments.append("--fps=\(rate)") }
    if let width = manifest.format.width, let height = manifest.format.height,
      request.source.hasPrefix("test")
    {
      arguments.append("--size=\(width)x\(height)")
    }
    if request.hasSoundInSource {
      arguments.append("--sound=\(sources.streams[.audioApp]?.text ?? "none")")
    }
    // Options of the user come last, so that they override the extension's preferences.
    arguments += request.captureOptions + ["--", request.source]
    return try start(.capture(source: request.source), program(named: "framebus"), arguments)
  }

  /// - Returns: nil if this kind is not captured.
  func startSoundCapture(of type: SampleBufferType) throws(BroadcastError) -> RoleProcess? {
    guard let source = request.soundSource(of: type), let stream = sources.streams[type] else {
      return nil
    }
    return try start(
      .capture(source: source), program(named: "framebus"),
      captureArguments + ["--stream=\(stream)", Self.kindOption(type), "--", source])
  }

  /// The options that let a later host attribute the capture to its session.
  private var captureArguments: [String] {
    ["capture", "--quiet", SessionMark.option(of: session)]
  }

  /// The option that ties the capture to its kind's sound switch, whatever the stream's name.
  private static func kindOption(_ type: SampleBufferType) -> String {
    "--kind=\(type == .audioMic ? "mic" : "app")"
  }

  func startExtension() throws(BroadcastError) -> RoleProcess {
    let handOver = try handOver()
    let path = try program(named: manifest.executable)
    return try start(
      .extension(manifest), path, manifest.arguments,
      environment: [
        ExtensionEnvironment.identifier: manifest.id,
        ExtensionEnvironment.streams: sources.description,
      ], handOver)
  }

  /// Removes output placeholders that nobody wrote to. Call it when the roles have exited.
  func removeUnwritten() { launcher.removeUnwritten() }

  private func start(
    _ job: RoleJob, _ path: String, _ arguments: [String],
    environment: [String: String?] = [:], _ handOver: HandOver? = nil
  ) throws(BroadcastError) -> RoleProcess {
    do {
      let errors = try OneWayPipe()
      var options = LaunchOptions(path, arguments)
      options.environment = environment
      options.environment[GroupVariables.group] = .some("\(group.id)")
      options.environment[GroupVariables.home] = .some(group.rootPath)
      options.environment[ExtensionEnvironment.session] = .some(session.text)
      options.environment[HandOver.variable] = .some(nil)
      if let handOver {
        options.inherited = [handOver.descriptorNumber]
        // Inherited descriptors start at 3.
        options.environment[HandOver.variable] = "3"
      }
      options.output = .null
      options.errors = .descriptor(errors.writeEnd.number)
      // Ctrl-C reaches only the host, which then stops the roles in order.
      options.hasOwnGroup = true
      let child = try launcher.launch(options, for: job)
      let words = try RoleErrorOutput(of: job.role, reading: errors.takeReadEnd(), log)
      return .child(child, words, handOver)
    } catch let error as SystemError {
      throw .system(error)
    } catch let error as BroadcastError {
      throw error
    } catch {
      throw .launch("\(error)")
    }
  }

  /// The requested credentials that the host has, in memory that only the new process receives.
  private func handOver() throws(BroadcastError) -> HandOver? {
    if manifest.credentials.isEmpty { return nil }
    do throws(CredentialError) {
      guard try CredentialStore.exists(in: group) else { return nil }
      let opened = request.credentials
      let store =
        if let opened { opened } else {
          try CredentialStore.open(in: group, as: .host)
        }
      var leases: [Lease] = []
      for name in manifest.credentials {
        do throws(CredentialError) { leases.append(try store.lease(name)) } catch {
          guard case .notFound = error else { throw error }
          log.append(.warning, "no credential \(name) to hand over", label: "broadcast.host")
        }
      }
      return try store.handOver(to: .extension, leases: leases)
    } catch { throw .credentials(error) }
  }

  private func program(named name: String) throws(BroadcastError) -> String {
    if name.hasPrefix("/") { return name }
    guard let path = siblingProgram(named: name) ?? programInPath(named: name) else {
      throw .missingProgram(name)
    }
    return path
  }
}

extension BroadcastRequest {
  /// The streams of the samples that an extension requests.
  func sources(for manifest: ExtensionManifest) -> SampleSources {
    var sources: [SampleBufferType: StreamName] = [:]
    for type in manifest.samples {
      sources[type] = streams[type] ?? (try? StreamName(type.usualStream))
    }
    return SampleSources(sources)
  }

  /// The same request with the streams of a running session.
  func publishing(as record: BroadcastRecord) -> BroadcastRequest {
    var request = self
    request.streams.merge(record.sound.streams) { $1 }
    if let stream = try? StreamName(record.stream) { request.streams[.video] = stream }
    return request
  }

  /// Whether the picture capture also captures the sound.
  var hasSoundInSource: Bool { (try? SourceSpecification(source))?.kind.hasSound == true }

  /// The source that a separate process captures; nil for none.
  func soundSource(of type: SampleBufferType) -> String? {
    type == .audioApp && hasSoundInSource ? nil : soundSources[type]
  }

  /// The sound streams that separate processes capture.
  func capturedSound(for manifest: ExtensionManifest) -> SampleSources {
    SampleSources(
      sources(for: manifest).streams.filter { type, _ in
        type != .video && soundSource(of: type) != nil
      })
  }
}

extension AppGroup {
  /// The directory given by `--root`, if any: it has the container in `state/ID` and the run
  /// directory in `run/ID`.
  var rootPath: String? {
    let suffix = "/state/\(id)"
    guard containerPath.hasSuffix(suffix) else { return nil }
    let root = String(containerPath.dropLast(suffix.count))
    return runPath == "\(root)/run/\(id)" ? root : nil
  }
}
