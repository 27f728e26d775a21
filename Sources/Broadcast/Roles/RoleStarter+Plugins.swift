import AppGroup
import Capture
import Confinement
import Platform
import SharedLog

/// GStreamer's plugin registry, which a host updates before a session's first role that uses it.
extension RoleStarter {
  /// Updates the registry of each user who needs it, once in a session.
  /// - Returns: false if `stop` was raised first.
  func updatePluginRegistry(stop: StopSignal) throws(BroadcastError) -> Bool {
    guard let launcher, request.isConfined else { return true }
    let captures = captureSources.map { (Role.capture, CaptureNeeds.usesPlugins($0)) }
    for (role, usesPlugins) in [(Role.extension, hasPlugins(manifest.executable))] + captures
    where usesPlugins {
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

  /// Whether an extension's program loads GStreamer's plugins.
  func hasPlugins(_ program: String) -> Bool { program == ExtensionManifest.builtinExecutable }

  /// Whether a role's program uses a registry that need not be checked. A role lacks the machine's
  /// devices, so it would find the registry stale at each start.
  func hasCurrentPlugins(_ user: UserAccount?) -> Bool {
    pluginRegistries.withLock { $0[user] } == .current
  }
}
