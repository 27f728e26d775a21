import Foundation
import Platform
import TestSupport
import Testing

/// The main job on a real screen: an independent program draws, FrameBus captures and records, and
/// independent programs check the file.
@Suite(.serialized) struct ScreenToFileTests {
  @Test(arguments: ["mkv", "mp4"])
  func screenContentIsInTheFile(container: String) throws {
    let screen = try VirtualScreen(width: 640, height: 360)
    let witness = try Witness(on: screen)
    let scene = try Scene()
    let capture = try scene.start("capture", "screen\(screen.display)", "--fps=25", "--verbose")
    let path = scene.file("out.\(container)")
    // A second subscriber records every frame that capture published.
    let log = try scene.start("upload", "null", "--policy=keep:2")
    let upload = try scene.run("upload", "file:\(path)", "--frames=100", "--json")
    #expect(upload.status == .exited(0), "\(upload.errors)")
    for program in [capture, log] { program.process.send(signal: SIGTERM) }
    _ = (try capture.finish(), try log.finish())
    let drawnAtNs = witness.drawnAtNs

    let recording = try Recording(path)
    #expect(recording.width == 640 && recording.height == 360)
    #expect(recording.frameCount == recording.times.count)
    #expect(recording.frameCount >= 100)
    for (earlier, later) in zip(recording.times, recording.times.dropFirst()) {
      #expect(later > earlier)
    }
    let numbers = recording.numbers
    #expect(numbers.allSatisfy { $0 != nil }, "a frame shows no number: \(numbers)")
    let seen = numbers.compactMap { $0 }
    #expect(seen == seen.sorted())
    #expect(Set(seen).count >= 90, "the screen changed 20 times a second: \(seen)")
    // Two frames are as far apart in the file as their contents were on the screen, up to the
    // pauses of drawing and grabbing.
    for index in seen.indices.dropFirst() where seen[index] > seen[0] {
      let drawn = Double(drawnAtNs[seen[index] - 1] - drawnAtNs[seen[0] - 1]) / 1e9
      let shown = recording.times[index] - recording.times[0]
      #expect(abs(drawn - shown) < 0.25, "number \(seen[index]): drawn \(drawn), shown \(shown)")
    }
  }

  @Test func stillScreenIsRecordedAsAnIndependentGrabShowsIt() throws {
    let screen = try VirtualScreen(width: 640, height: 360)
    let witness = try Witness(on: screen, interval: 0.02, count: 10)
    try witness.program.waitForOutput("still")
    let scene = try Scene()
    let capture = try scene.start("capture", "screen\(screen.display)", "--no-cursor")
    let path = scene.file("still.mkv")
    let upload = try scene.run("upload", "file:\(path)", "--duration=3", "--json")
    #expect(upload.status == .exited(0), "\(upload.errors)")
    _ = try capture.end(with: SIGTERM)

    let grab = try RunningProgram(
      "ffmpeg",
      [
        "-v", "error", "-f", "x11grab", "-draw_mouse", "0", "-i", screen.display, "-frames:v", "1",
        "-f", "rawvideo", "-pix_fmt", "gray", "-",
      ])
    #expect(try grab.finish().status == .exited(0))
    let truth = grab.output.bytes
    let recording = try Recording(path)
    // At least one frame a second, although nothing changed.
    #expect(recording.frameCount >= 3)
    let last = recording.picture(recording.frameCount - 1)
    #expect(truth.count == last.count)
    let difference = zip(truth, last).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
    #expect(Double(difference) / Double(truth.count) < 4)
  }

  @Test func snapshotShowsTheCurrentScreenAfterAnIdlePeriod() throws {
    let screen = try VirtualScreen(width: 320, height: 180)
    let scene = try Scene()
    let capture = try scene.start("capture", "screen\(screen.display)", "--no-cursor")
    _ = try scene.waitForStream("capture is there") { _ in true }
    for colour in ["white", "black"] {
      #expect(try screen.show("xsetroot", ["-solid", colour]).finish().status.isSuccess)
      let path = scene.file("\(colour).png")
      let result = try scene.run("snapshot", "screen", path)
      #expect(result.status == .exited(0), "\(result.errors)")
      let picture = try Recording(path).picture(0)
      #expect(picture.allSatisfy { ($0 > 128) == (colour == "white") }, "\(colour)")
    }
    _ = try capture.end(with: SIGTERM)
  }

  /// As in a script that starts both.
  @Test func snapshotWaitsForAStreamThatIsBeingStarted() throws {
    let scene = try Scene()
    let path = scene.file("now.png")
    let snapshot = try scene.start("snapshot", "screen", path)
    try waitUntil("it runs") {
      try scene.run("log", "--role=extension", "--level=info").output.contains("started")
    }
    let capture = try scene.start("capture", "test")
    let result = try snapshot.finish()
    #expect(result.status == .exited(0), "\(result.errors)")
    #expect(try Recording(path).frameCount == 1)
    _ = try capture.end(with: SIGTERM)
  }

  @Test func timeStampsInTheFileAreThoseOfCapture() throws {
    let scene = try Scene()
    let screen = try VirtualScreen(width: 640, height: 360)
    let witness = try Witness(on: screen)
    let capture = try scene.start("capture", "screen\(screen.display)", "--fps=25")
    _ = try scene.waitForStream("capture is there") { _ in true }
    // A subscriber that records the PTS of every frame it receives.
    let clerk = try RunningProgram(
      "BusWorker",
      ["subscribe", scene.root.path, "group.local.framebus", "screen", "policy=keep:2", "log=1"])
    try clerk.waitForOutput("attached")
    let path = scene.file("out.mkv")
    #expect(try scene.run("upload", "file:\(path)", "--frames=60").status == .exited(0))
    _ = try capture.end(with: SIGTERM)
    let log = try clerk.finish().output
    let captured = log.split(separator: "\n").compactMap { line -> Int64? in
      line.hasPrefix("pts ") ? Int64(line.dropFirst(4)) : nil
    }
    let milliseconds = try Recording(path).times.map { Int64(($0 * 1000).rounded()) }
    // The file begins at 0 with one of capture's frames; every later frame is one of capture's, to
    // the millisecond precision of Matroska, unless it is a repeated one.
    let matches = captured.indices.map { first in
      let relative = Set(captured[first...].map { ($0 - captured[first] + 500_000) / 1_000_000 })
      return milliseconds.count { time in
        relative.contains(time) || relative.contains(time - 1) || relative.contains(time + 1)
      }
    }
    #expect((matches.max() ?? 0) >= 60, "of \(milliseconds.count) frames: \(matches.max() ?? 0)")
    withExtendedLifetime(witness) {}
  }
}
