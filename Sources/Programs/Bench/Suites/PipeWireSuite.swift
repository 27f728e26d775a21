import AppGroup
import CommandLineSupport
import Platform

/// The cost of capturing a node of PipeWire's, such as a desktop's portal shares, and the age of
/// its frames: the PipeWire rows of the suite `capture`.
struct PipeWireSuite: BenchSuite {
  let name = "capture"

  static let width = 1920
  static let height = 1080
  private static let defaultSeconds = 5

  func run(_ run: BenchRun) throws -> BenchReport {
    let folder = try TemporaryFolder(prefix: "framebus-bench-capture-")
    defer { try? folder.remove() }
    _ = try AppGroup.create(.local, root: folder.path)
    let scene = try PipeWireScene(
      width: Self.width, height: Self.height, folder: folder.path,
      groupID: GroupID.local.description, run)
    defer { scene.stop() }

    var subjects = [try scene.framebus(), try scene.limit()]
    if run.hasPeers { subjects += CaptureSubject.installed(scene.peers, run.terminal) }
    let seconds = run.wholeSeconds(or: Self.defaultSeconds)
    let turns = subjects.map {
      CaptureTurn(
        subject: $0, folder: folder.path, serverID: scene.server.process.processID, run: run,
        seconds: seconds)
    }
    let findings = try CaptureTurn.findings(of: turns, run)
    if let error = scene.errorIfEnded() { throw error }
    let results = zip(subjects, findings).filter { !$0.1.isEmpty }
    return NumberedReport(
      suite: name, scenario: "PipeWire, \(Self.width)x\(Self.height) at 60 Hz", server: "pipewire",
      seconds: seconds
    ).report(results.map { (subject: $0.0, findings: $0.1) }, run)
  }
}
