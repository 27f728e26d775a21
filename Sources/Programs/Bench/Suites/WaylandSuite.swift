import AppGroup
import CommandLineSupport
import Platform

/// The cost of capturing a Wayland compositor, the age of its frames, and the refreshes that
/// a capture skips, by numbers that are drawn into the pictures.
struct WaylandSuite: BenchSuite {
  let name: String
  private let defaultSeconds: Int
  private let comparesPeers: Bool

  /// The Wayland rows of the suite `capture`.
  static let bus = WaylandSuite(name: "capture", defaultSeconds: 5, comparesPeers: true)
  /// Longer turns, in which a skipped refresh is seldom.
  static let pacing = WaylandSuite(name: "pacing", defaultSeconds: 20, comparesPeers: false)

  private static let width = 1920
  private static let height = 1080

  func run(_ run: BenchRun) throws -> BenchReport {
    let folder = try TemporaryFolder(prefix: "framebus-bench-capture-")
    defer { try? folder.remove() }
    _ = try AppGroup.create(.local, root: folder.path)
    let compositor = try VirtualCompositor(width: Self.width, height: Self.height, stop: run.stop)
    defer { compositor.close() }
    let scene = WaylandScene(
      compositor: compositor, folder: folder.path, groupID: GroupID.local.description)
    let content = try scene.showContent()
    defer { content.stop() }

    var subjects = [try scene.framebus(), try scene.limit()]
    if run.hasPeers, comparesPeers {
      subjects += CaptureSubject.installed(scene.peers, run.terminal)
    }
    let turns = subjects.map {
      CaptureTurn(
        subject: $0, folder: folder.path, serverID: compositor.server.process.processID, run: run,
        seconds: run.wholeSeconds(or: defaultSeconds))
    }
    let findings = try CaptureTurn.findings(of: turns, run)
    if let error = content.errorIfEnded() ?? compositor.server.errorIfEnded() { throw error }
    return report(zip(subjects, findings).filter { !$0.1.isEmpty }, run)
  }

  private var scenario: String { "Wayland, \(Self.width)x\(Self.height) at 60 Hz" }

  private func report(
    _ results: [(subject: CaptureSubject, findings: [CaptureFinding])], _ run: BenchRun
  ) -> BenchReport {
    NumberedReport(
      suite: name, scenario: scenario, server: "sway",
      seconds: run.wholeSeconds(or: defaultSeconds)
    ).report(results, run)
  }
}
