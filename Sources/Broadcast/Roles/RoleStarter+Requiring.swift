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
    var captures = [CaptureNeeds(source: request.source)]
    captures += sources.streams.keys.filter { $0 != .video }.compactMap { type in
      request.soundSource(of: type).map(CaptureNeeds.init(source:))
    }
    for needs in captures {
      if let why = try weakness(of: confinement(of: needs), launcher) { weak[.capture] = why }
    }
    if let why = try weakness(of: confinement(of: manifest), launcher) { weak[.extension] = why }
    removeUnwritten()
    if !weak.isEmpty { throw .weakConfinement(weak) }
  }

  /// - Returns: what is weaker, as text for people; nil if every measure is on.
  private func weakness(
    of confinement: Confinement?, _ launcher: Launcher
  ) throws(BroadcastError) -> String? {
    guard let confinement else { return unconfinedReason }
    let idle = LaunchOptions(programInPath(named: "true") ?? "/bin/true")
    do throws(LaunchError) {
      let role = try launcher.start(idle, confinement: confinement)
      _ = role.wait()
      return Self.weakness(of: role.measures)
    } catch { throw .launch("\(error)") }
  }

  /// - Returns: the measures that are off, with the reasons; nil if all are on.
  static func weakness(of measures: [Measure]) -> String? {
    let off = measures.filter { !$0.isOn }
    if off.isEmpty { return nil }
    return off.map { "\($0.name) is off, \($0.detail)" }.joined(separator: "; ")
  }
}
