import Foundation
import Platform
import TestSupport
import Testing

/// The group's log records the actions of the product's processes, and the messages of the
/// libraries that they use.
@Suite struct ProductLogTests {
  private let scene: Scene

  init() throws { scene = try Scene() }

  private struct Line: Decodable {
    let role: String
    let level: String
    let label: String
    let message: String
    let metadata: [String: String]
    let pid: Int32
  }

  private func log() throws -> [Line] {
    let result = try scene.run("log", "--json")
    #expect(result.errors == "" || result.output == "", "\(result.errors)")
    return try result.output.split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
  }

  @Test func logRecordsCaptureAndUpload() throws {
    let capture = try scene.start("capture", "test", "--stream", "s", "--frames", "30")
    let movie = scene.file("out.mkv")
    let upload = try scene.start("upload", "file:\(movie)", "--stream", "s")
    #expect(try capture.finish().status == .exited(0), "\(capture.transcript)")
    #expect(try upload.finish().status == .exited(0), "\(upload.transcript)")

    let lines = try log()
    let captured = lines.filter { $0.pid == capture.processID }
    #expect(
      captured.map(\.message).filter { $0 != "frames dropped: the source was too slow" }
        == ["started", "stream up", "stream gone", "capture ended", "ended"])
    #expect(captured.allSatisfy { $0.label == "framebus-capture" && $0.role == "capture" })
    #expect(captured.first?.metadata["options"]?.hasPrefix("test --stream=s --frames=30") == true)
    let up = try #require(captured.first { $0.message == "stream up" })
    #expect(up.metadata["size"] == "1280x720" && up.metadata["stream"] == "s")
    #expect(captured.first { $0.message == "capture ended" }?.metadata["frames"] == "30")
    #expect(captured.last?.metadata == ["status": "0"])

    let uploaded = lines.filter { $0.pid == upload.processID && $0.label == "framebus-upload" }
    let story = ["started", "stream attached", "frame format", "upload ended", "ended"]
    #expect(uploaded.map(\.message).filter(story.contains) == story)
    #expect(uploaded.allSatisfy { $0.role == "extension" })
    #expect(uploaded.first?.metadata["options"]?.hasPrefix("file:\(movie)") == true)
    let end = try #require(uploaded.first { $0.message == "upload ended" })
    #expect(end.metadata["end"] == "publisherFinished")
    #expect(Int(end.metadata["frames"] ?? "").map { (1...30).contains($0) } == true)
    // Programs that ended normally left nothing behind.
    let segments = scene.root.path + "/run/group.local.framebus/logs"
    #expect(try FileManager.default.contentsOfDirectory(atPath: segments).isEmpty)
  }

  @Test func killedCaptureLeavesItsLastLines() throws {
    let capture = try scene.start("capture", "test", "--stream", "s")
    try waitUntil("the capture logs") { try log().contains { $0.message == "stream up" } }
    try capture.end(with: SIGKILL)
    let words = try scene.run("log", "--last-words", "\(capture.processID)").output
    #expect(words.contains("stream up") && !words.contains("ended"))
  }

  @Test func errorsAreLoggedAsShownToTheUser() throws {
    let capture = try scene.start("capture", "test", "--stream", "s")
    _ = try scene.waitForStream("it is up") { _ in true }
    let result = try scene.run("upload", "file:\(scene.file("none/out.mkv"))", "--stream", "s")
    #expect(result.status == .exited(1))
    try capture.end(with: SIGTERM)
    let printed = try #require(
      result.errors.split(separator: "\n").last { $0.hasPrefix("error: ") })
    let errors = try log().filter { $0.level == "error" && $0.label == "framebus-upload" }
    #expect(errors.map(\.message).contains(String(printed.dropFirst(7))), "\(errors)")
    #expect(errors.last?.message == "ended" && errors.last?.metadata["status"] == "1")
  }

  @Test func gstreamerMessagesAreLoggedAndNotPrinted() throws {
    let upload = try scene.start("upload", "null", "--stream", "s")
    let capture = try scene.start(
      ["capture", "gst:videotestsrc num-buffers=3 ! identity error-after=2", "--stream", "s"],
      environment: ["GST_DEBUG": ""])
    let result = try capture.finish()
    _ = try upload.finish()
    #expect(!result.errors.contains("identity:"))
    let lines = try log().filter { $0.pid == capture.processID }
    let said = lines.filter { $0.label == "gstreamer" }
    #expect(said.contains { $0.level == "warning" && $0.message.hasPrefix("identity: error: ") })
    #expect(said.allSatisfy { ["error", "warning"].contains($0.level) })
    let options = lines.first { $0.message == "started" }?.metadata["options"]
    #expect(options?.hasPrefix("gst:videotestsrc …") == true)
  }

  /// For the programs in one mount namespace, the directory of segments is read-only.
  @Test(.enabled(if: geteuid() == 0, "mounting takes root"))
  func unwritableLogStopsNoProgramAndIsReportedOnce() throws {
    let segments = scene.root.path + "/run/group.local.framebus/logs"
    let program = try pathOfProgram("framebus")
    let script = """
      mount --bind \(segments) \(segments) && mount -o remount,bind,ro \(segments) || exit 77
      "\(program)" capture test --duration 0.01 --root \(scene.root.path) "$@"
      """
    func capture(_ options: String...) throws -> ProgramResult {
      try TestSupport.run("unshare", ["--mount", "sh", "-c", script, "capture"] + options)
    }
    let result = try capture()
    #expect(result.status == .exited(0))
    #expect(result.errors.components(separatedBy: "does not write to the group's log").count == 2)
    let quiet = try capture("--quiet")
    #expect(quiet.status == .exited(0) && quiet.errors == "")
    #expect(try log().isEmpty)
  }

  @Test func processAlsoLogsToTheSinkOfItsEnvironment() throws {
    let socket = scene.file("journal")
    let journal = try RunningProgram("python3", [tool("journal.py"), socket, "2"])
    try journal.waitForOutput("ready")
    let file = scene.file("lines.jsonl")
    let environment: [String: String?] = [
      "FRAMEBUS_LOG_JOURNAL": socket, "FRAMEBUS_LOG_JSON": file,
    ]
    let upload = try scene.start(
      ["upload", "null", "--stream", "s", "--frames", "1"], environment: environment)
    let capture = try scene.start("capture", "test", "--stream", "s")
    #expect(try upload.finish().status == .exited(0))
    try capture.end(with: SIGTERM)
    let received = try journal.finish().output
    #expect(received.contains("\"MESSAGE\": \"started\""))
    #expect(received.contains("\"SYSLOG_IDENTIFIER\": \"framebus-upload\""))
    let written = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    let own = try log().filter { $0.pid == upload.processID }
    #expect(written.count == own.count)
    #expect(written.first?.contains("\"message\":\"started\"") == true)

    let wrong = try scene.run(
      "capture", "test", "--duration", "0.01", environment: ["FRAMEBUS_LOG_LEVEL": "loud"])
    #expect(wrong.status == .exited(0))
    #expect(wrong.errors.contains("warning: FRAMEBUS_LOG_LEVEL=loud is not a log level; use trace"))
  }
}
