import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// The choices at the start of a broadcast: the extension, by a line of standard input, and the
/// names of its streams.
@Suite struct PickTests {
  private let root: TemporaryRoot
  private let location: [String]

  init() throws {
    root = try TemporaryRoot()
    location = ["--root", root.path, "--group", "a.b"]
    for words in [["group", "create"], ["extension", "register", "--builtin", "null"]] {
      try output(of: "framebus", words + location)
    }
  }

  private var start: [String] {
    location + ["broadcast", "start", "--yes", "--source", "test:gradient", "--size", "64x48"]
  }

  @Test func closedStandardInputCancelsPick() throws {
    let result = try run(
      "sh", ["-c", "exec \"$0\" \"$@\" <&-", pathOfProgram("framebus")] + start)
    #expect(result.status == .exited(1))
    #expect(result.errors.hasSuffix("cancelled\n"), "\(result.errors)")
  }

  @Test(arguments: ["1\r\n", "framebus.upload\r\n"])
  func carriageReturnEndsPickedLine(line: String) throws {
    try withWatchdog {
      let input = try OneWayPipe()
      try writeFully(Array(line.utf8), to: input.writeEnd.number)
      let host = try RunningProgram(
        "framebus", start, input: .descriptor(input.readEnd.number))
      try host.waitForErrors("live")
      #expect(try host.end(with: Signal.interrupt).status == .exited(130))
    }
  }

  @Test func soundStreamsDeriveNamesFromPictureStream() throws {
    try withWatchdog {
      let sound = ["--app-source", "tone:440", "--mic-source", "tone:880"]
      let host = try RunningProgram(
        "framebus", start + sound + ["framebus.upload", "--stream", "studio"])
      try host.waitForErrors("live")
      try waitUntil("its streams exist: \(host.transcript)") {
        let names = try FileManager.default
          .contentsOfDirectory(atPath: root.file("run/a.b/streams"))
          .filter { $0.hasSuffix(".sock") }
        return names.sorted() == [
          "studio.audio.app.sock", "studio.audio.mic.sock", "studio.sock",
        ]
      }
      #expect(try host.end(with: Signal.terminate).status == .exited(0))
    }
  }

  @Test(arguments: ["Studio", "a/b", String(repeating: "x", count: 48)])
  func malformedStreamNameIsUsageError(name: String) throws {
    let result = try run("framebus", start + ["framebus.upload", "--stream", name])
    #expect(result.status == .exited(2))
    #expect(result.errors.contains("--stream: the stream name"), "\(result.errors)")
  }
}
