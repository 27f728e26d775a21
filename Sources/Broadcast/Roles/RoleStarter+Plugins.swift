import AppGroup
import Capture
import Confinement
import Platform
import SharedLog

/// GStreamer's plugin registry, which a host updates before a session's first role that uses it.
extension RoleStarter {
  private static let programsWithPlugins = [
    ExtensionManifest.builtinExecutable, SourceKind.mediaProgram,
  ]

  /// Updates the registry of each user who needs it, once in a session.
  /// - Returns: false if `stop` was raised first.
  func updatePluginRegistry(stop: StopSignal) throws(BroadcastError) -> Bool {
    guard let launcher, request.isConfined else { return true }
    let captures = captureSources.map { (Role.capture, CaptureNeeds.program(of: $0)) }
    for (role, program) in [(Role.extension, manifest.executable)] + captures
    where Self.programsWithPlugins.contains(program) {
      let user = try user(of: role).account
      if pluginRegistries.withLock({ $0[user] != nil }) { continue }
      guard let outcome = PluginRegistry.update(of: user, by: launcher, stop: stop) else {
        return false
      }
      pluginRegistries.withLock { $0[user] = outcome }
      guard case .missing(let path) = outcome else { continue }
      log.append(
        .notice,
        "each start of a role scans all GStreamer plugins, because \(path) cannot be created:"
          + " set GST_REGISTRY to a file that \(user.map { userText($0.id) } ?? "this user")"
          + " can write",
        label: Self.label)
    }
    return true
  }

  /// Whether a role's program uses a registry that need not be checked. A role lacks the machine's
  /// devices, so it would find the registry stale at each start.
  func hasCurrentPlugins(_ program: String, _ user: UserAccount?) -> Bool {
    Self.programsWithPlugins.contains(program)
      && pluginRegistries.withLock { $0[user] } == .current
  }
}
