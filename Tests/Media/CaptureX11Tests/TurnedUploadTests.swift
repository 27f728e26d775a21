import Foundation
import Platform
import TestSupport
import Testing

/// A screen that RANDR turns while it is uploaded, to a file and to a WebRTC receiver.
@Suite struct TurnedUploadTests {
  private let turnable: TurnableScreen
  private let world: ScreenWorld

  init() throws {
    turnable = try TurnableScreen(width: 320, height: 240)
    world = try ScreenWorld(turnable.screen)
  }

  private func upload(_ destination: String) throws -> RunningProgram {
    try RunningProgram(
      "framebus",
      [
        "upload", destination, "--stream", world.stream.text, "--root", world.root.path, "--group",
        "org.example.test",
      ])
  }

  /// One of the colours of the screen's background.
  private func paint(_ turn: Int) throws {
    let part = String(ReceivedPicture.grey(turn), radix: 16)
    try world.paint("#" + part + part + part)
  }

  @Test func turnedScreenStaysUprightInRunningUploads() throws {
    try withWatchdog(after: .seconds(600)) {
      try paint(0)
      let left = try ShownWindow("left", "60x40+0+0", on: turnable.screen)
      let right = try ShownWindow("right", "60x40+120+0", color: "00ff00", on: turnable.screen)
      let receiver = try Receiver()
      let capture = try world.capture("--no-cursor")
      let path = world.root.file("out.mkv")
      let file = try upload("file:\(path)")
      let live = try upload("whip:\(receiver.address)")
      try file.waitForErrors(" frame")
      var expected = [ReceivedPicture(turn: 0, background: 0)]
      try receiver.wait(for: expected[0])
      for (index, direction) in ["left", "inverted", "right", "normal"].enumerated() {
        let turn = index + 1
        try turnable.turn(direction)
        // Optional: the next colour follows at once, so a receiver may never see this picture.
        expected.append(ReceivedPicture(turn: turn, background: index))
        try paint(turn)
        expected.append(ReceivedPicture(turn: turn, background: turn))
        try receiver.wait(for: expected[expected.count - 1])
      }
      try capture.end(with: SIGTERM)
      for upload in [file, live] {
        let result = try upload.finish()
        #expect(result.status == .exited(0), "\(result.errors)")
        #expect(!result.errors.contains("trying again"), "\(result.errors)")
      }
      #expect(receiver.sessionCount == 1)
      try check(receiver.pictures, against: expected)
      try check(try filePictures(path), against: expected)
      try left.close()
      try right.close()
    }
  }

  /// Checks the order and the times of pictures, and that there are no others.
  private func check(
    _ received: [(timeNs: Int64, colors: [UInt32])], against expected: [ReceivedPicture]
  ) throws {
    #expect(zip(received, received.dropFirst()).allSatisfy { $0.timeNs < $1.timeNs })
    var last = 0
    var seen: Set<Int> = []
    for (timeNs, colors) in received {
      let index = try #require(
        expected.indices.dropFirst(last).first { expected[$0].matches(colors) },
        "\(colors.map { String($0, radix: 16) }) at \(timeNs) ns, after number \(last)")
      last = index
      seen.insert(index)
    }
    let settled = expected.indices.filter { expected[$0].isSettled }
    #expect(seen.isSuperset(of: settled), "\(seen.sorted())")
  }

  /// According to ffmpeg.
  private func filePictures(_ path: String) throws -> [(timeNs: Int64, colors: [UInt32])] {
    let times = try output(
      of: "ffprobe",
      [
        "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of",
        "csv=p=0", path,
      ]
    ).split { $0 == "," || $0 == "\n" }.compactMap { Double($0) }.map { Int64($0 * 1e9) }
    let decoder = try RunningProgram(
      "ffmpeg",
      [
        "-v", "error", "-xerror", "-i", path, "-fps_mode", "passthrough", "-pix_fmt", "rgb24",
        "-f", "rawvideo", "-",
      ])
    let result = try decoder.finish()
    #expect(result.status.isSuccess && result.errors.isEmpty, "\(result.errors)")
    let bytes = decoder.output.bytes
    let byteCount = 320 * 240 * 3
    #expect(bytes.count == times.count * byteCount)
    return times.enumerated().map { frame, timeNs in
      let colors = ReceivedPicture.points.map { x, y in
        let start = frame * byteCount + (y * 320 + x) * 3
        return bytes[start..<start + 3].reduce(0) { $0 << 8 | UInt32($1) }
      }
      return (timeNs, colors)
    }
  }
}

/// A picture of 320×240 pixels, into which a screen of 320×240 or 240×320 is fitted upright. The
/// screen shows two windows beside each other in its upper left corner.
private struct ReceivedPicture {
  /// How often the screen was turned by a quarter.
  let turn: Int
  /// How often it was painted since.
  let background: Int

  static let points = [(20, 15), (150, 20), (90, 15), (182, 15), (160, 200), (300, 200)]
  /// Never black, which is the colour of the borders beside a turned screen.
  static func grey(_ background: Int) -> UInt32 { 0x40 + 0x28 * UInt32(background) }

  var isSettled: Bool { turn == background }

  private var colors: [UInt32] {
    let grey = Self.grey(background) * 0x01_0101
    return turn % 2 == 0
      ? [magenta, 0x00_FF00, grey, grey, grey, grey] : [0, grey, magenta, 0x00_FF00, grey, 0]
  }

  /// Whether the colours at the points are these, as far as an encoder preserves them.
  func matches(_ received: [UInt32]) -> Bool {
    received.count == colors.count
      && zip(received, colors).allSatisfy { received, color in
        [16, 8, 0].allSatisfy { shift in
          abs(Int(received >> shift & 0xFF) - Int(color >> shift & 0xFF)) < 0x14
        }
      }
  }
}

/// The WHIP endpoint of Tests/Tools, independent of FrameBus.
private struct Receiver {
  private let program: RunningProgram
  let address: String

  init() throws {
    let points = ReceivedPicture.points.map { "\($0).\($1)" }.joined(separator: ",")
    program = try RunningProgram(
      "/usr/bin/python3", [tool("whip_server.py"), "0", "points=\(points)"])
    try program.waitForOutput("\n")
    let words = program.output.text.split { $0 == " " || $0 == "\n" }
    guard words.count > 1, let port = Int(words[1]) else {
      throw HarnessError("it names no port: \(program.transcript)")
    }
    address = "http://127.0.0.1:\(port)/whip"
  }

  var sessionCount: Int { program.output.text.split(separator: "\n").count { $0 == "POST 201" } }

  var pictures: [(timeNs: Int64, colors: [UInt32])] { Self.pictures(in: program.output.text) }

  private static func pictures(in text: String) -> [(timeNs: Int64, colors: [UInt32])] {
    // The last line may be incomplete.
    text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { line in
      let words = line.split(separator: " ")
      guard words.first == "points", let seconds = Double(words[1]) else { return nil }
      return (Int64(seconds * 1e9), words.dropFirst(2).compactMap { UInt32($0, radix: 16) })
    }
  }

  func wait(for picture: ReceivedPicture) throws {
    guard
      program.output.wait(
        until: .after(.seconds(100)),
        for: { Self.pictures(in: $0).last.map { picture.matches($0.colors) } ?? false })
    else { throw HarnessError("\(picture) does not arrive\n\(program.transcript)") }
  }
}
