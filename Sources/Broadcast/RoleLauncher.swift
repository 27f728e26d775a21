import AppGroup
import Confinement
import Platform

/// Starts the processes of roles.
package protocol RoleLauncher: Sendable {
  /// - Parameter hearsSound: whether it captures what a sound server has.
  func launch(
    _ options: LaunchOptions, as role: Role, of manifest: ExtensionManifest, hearsSound: Bool
  ) throws(BroadcastError) -> LaunchedRole
}

/// A process that was started.
package struct LaunchedRole: Sendable {
  let process: ChildProcess
  /// What belongs to it, and is kept as long as it is.
  let belongings: (any Sendable)?
  /// What was done to confine it: for the log.
  let measures: [String]
}

/// Starts them as they are, without confining them.
struct PlainLauncher: RoleLauncher {
  func launch(
    _ options: LaunchOptions, as role: Role, of manifest: ExtensionManifest, hearsSound: Bool
  ) throws(BroadcastError) -> LaunchedRole {
    do throws(SystemError) {
      return LaunchedRole(process: try ChildProcess(options), belongings: nil, measures: [])
    } catch { throw .system(error) }
  }
}

/// Starts them so that they can do what their role needs, and what the manifest asks for, alone.
struct ConfiningLauncher: RoleLauncher {
  private let group: AppGroup
  private let launcher: Launcher

  init(_ group: AppGroup) throws(BroadcastError) {
    self.group = group
    do throws(LaunchError) { launcher = try Launcher() } catch { throw .launch("\(error)") }
  }

  func launch(
    _ options: LaunchOptions, as role: Role, of manifest: ExtensionManifest, hearsSound: Bool
  ) throws(BroadcastError) -> LaunchedRole {
    var confinement =
      role == .capture
      ? hearsSound
        ? Confinement.soundCapture(in: group)
        : .capture(in: group, display: environmentValue("DISPLAY"))
      : .extension(in: group, memoryBytes: manifest.memoryLimitBytes.map(UInt64.init))
    if role == .extension {
      confinement.grants += manifest.reads.map { .init(.read, $0) }
      confinement.grants += manifest.writes.map { .init(.write, $0) }
    }
    // The launcher grants the program's file, and not its folder: that may be somebody's home.
    confinement.variables += options.environment.filter { $0.value != nil }.keys.sorted()
    do throws(LaunchError) {
      // A host that is killed leaves them to the next one.
      let running = try launcher.start(options, confinement: confinement, bond: .outlivesHost)
      return LaunchedRole(
        process: running.process, belongings: running,
        measures: running.measures.map { "\($0.name) \($0.isOn ? "on" : "off"): \($0.detail)" })
    } catch { throw .launch("\(error)") }
  }
}
