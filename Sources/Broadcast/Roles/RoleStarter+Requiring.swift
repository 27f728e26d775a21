import AppGroup
import Confinement
import Platform

/// A session that refuses to run a role which is confined only in part.
extension RoleStarter {
  /// Throws unless this machine can confine every role in full. Starts a program that does nothing
  /// with the rights of each role, so that no role runs before the answer.
  func requireConfinement() throws(BroadcastError) {
    guard let launcher else { throw .weakConfinement([.host: unconfinedReason]) }
    var weak: [Role: String] = [:]
    let capturer = try user(of: .capture)
    for source in captureSources {
      let needs = CaptureNeeds(source: source, compositor: request.compositor)
      let confinement = confinement(of: needs, as: capturer.account)
      if let why = try weakness(of: confinement, capturer, launcher) { weak[.capture] = why }
    }
    let sender = try user(of: .extension)
    let confinement = confinement(of: manifest, as: sender.account)
    if let why = try weakness(of: confinement, sender, launcher) { weak[.extension] = why }
    removeUnwritten()
    if !weak.isEmpty { throw .weakConfinement(weak) }
  }

  /// - Returns: what is weaker, as text for people; nil if every measure is on.
  private func weakness(
    of confinement: Confinement?, _ user: RoleUser, _ launcher: Launcher
  ) throws(BroadcastError) -> String? {
    guard let confinement else { return unconfinedReason }
    let idle = LaunchOptions(programInPath(named: "true") ?? "/bin/true")
    do throws(LaunchError) {
      let role = try launcher.start(idle, confinement: confinement, as: user.account)
      _ = role.wait()
      return Self.weakness(of: [user.measure].compactMap(\.self) + role.measures)
    } catch { throw .launch("\(error)") }
  }

  /// - Returns: the measures that are off, with the reasons; nil if all are on.
  static func weakness(of measures: [Measure]) -> String? {
    let off = measures.filter { !$0.isOn }
    if off.isEmpty { return nil }
    return off.map { "\($0.name) is off, \($0.detail)" }.joined(separator: "; ")
  }
}
