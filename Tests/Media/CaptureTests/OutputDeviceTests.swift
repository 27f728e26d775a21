import Foundation
import Platform
import TestSupport
import Testing

/// `upload camera:/dev/videoN` as a user runs it, before a device that FakeCamera makes up: what it
/// is sent lies in a file. OutputDriverTests run the same before drivers of the kernel.
@Suite struct OutputDeviceTests {
  private static let width = 64
  private static let height = 48

  private let world: CameraWorld

  init() throws { world = try CameraWorld() }

  /// Publishes pictures that are black, and white for a moment of each second.
  private func publish(_ size: String = "64x48") throws -> RunningProgram {
    try RunningProgram(
      "framebus-capture", ["test:flash", "--size", size, "--root", world.root.path])
  }

  /// Starts `framebus-upload camera:/dev/video77` before a device.
  private func upload(_ device: [String], _ arguments: String...) throws -> RunningProgram {
    try RunningProgram(
      "FakeCamera",
      ["direction=output", "encoding=YU12", "pictures=\(world.root.file("pictures"))"]
        + ["journal=\(world.root.file("journal"))"] + device
        + ["--", try pathOfProgram("framebus-upload"), "camera:/dev/video77"]
        + ["--root", world.root.path] + arguments)
  }

  /// The pictures that the device has been sent.
  private func pictures(_ width: Int, _ height: Int) throws -> [[UInt8]] {
    let path = world.root.file("pictures")
    guard let data = try? Data(contentsOf: URL(filePath: path)) else { return [] }
    let size = width * height * 3 / 2
    return (0..<data.count / size).map { [UInt8](data[$0 * size..<($0 + 1) * size]) }
  }

  @Test(arguments: [[], ["planes=1"]])
  func picturesReachTheDeviceInItsFormat(options: [String]) throws {
    try withWatchdog {
      let capture = try publish()
      let upload = try upload(["width=64", "height=48"] + options)
      try waitUntil("black and white pictures: \(upload.transcript)") {
        let luma = try pictures(64, 48).map { [$0[0], $0[64 * 48 - 1]] }
        return luma.contains { $0.allSatisfy { $0 > 200 } }
          && luma.contains { $0.allSatisfy { $0 < 50 } }
      }
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result)")
      #expect(try world.journal().contains("format 64x48"))
      try capture.end(with: SIGTERM)
    }
  }

  /// As v4l2loopback does for its readers.
  @Test func deviceThatKeepsItsSizeGetsScaledPicturesWithBlackBesideThem() throws {
    try withWatchdog {
      let capture = try publish("64x48")
      let upload = try upload(["width=160", "height=60"])
      // 80 × 60 in the middle.
      var seen: [UInt8]?
      try waitUntil("a white picture: \(upload.transcript)") {
        seen = try pictures(160, 60).first { $0[30 * 160 + 80] > 200 }
        return seen != nil
      }
      let picture = try #require(seen)
      let row = (0..<160).map { picture[30 * 160 + $0] }
      #expect(row[..<40].allSatisfy { $0 == 16 } && row[120...].allSatisfy { $0 == 16 }, "\(row)")
      #expect(row[42..<118].allSatisfy { $0 > 200 }, "\(row)")
      #expect(picture[160 * 60 + 10] == 128)
      #expect(try upload.end(with: SIGTERM).status == .exited(0))
      try capture.end(with: SIGTERM)
    }
  }

  @Test func deviceWithoutRoomLosesPicturesAndTheUploadGoesOn() throws {
    try withWatchdog {
      // A picture of at most 4,096 bytes enters a pipe as a whole, or not at all.
      try output(of: "mkfifo", [world.root.file("pictures")])
      let capture = try publish("48x32")
      let upload = try upload(["width=48", "height=32"], "--json", "--duration", "3")
      let result = try upload.finish()
      #expect(result.status == .exited(0), "\(result)")
      let text = result.output.split(separator: "\"drops\":").last ?? ""
      // 28 pictures of 2,304 bytes fit.
      #expect(Int(text.prefix { $0.isNumber }) ?? 0 >= 30, "\(result.output)")
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: [
    (["direction=input"], "takes no pictures: it is a camera"),
    (["lie=busy"], "is in use: another program writes it"),
    (["encoding=YUYV"], "takes no pictures in I420 (YU12), but “YUYV”"),
    (["lie=zero"], "says what cannot be"), (["lie=huge"], "says what cannot be"),
    (["lie=stride"], "says what cannot be"), (["lie=narrow"], "says what cannot be"),
    (["lie=small"], "says what cannot be"), (["planes=1", "lie=pieces"], "says what cannot be"),
    (["width=63"], "says what cannot be"),
  ])
  func deviceThatCannotTakeThePicturesIsRefused(options: [String], why: String) throws {
    try withWatchdog {
      let capture = try publish()
      let result = try upload(["width=64", "height=48"] + options).finish()
      #expect(result.status == .exited(1), "\(result)")
      #expect(result.errors.contains("/dev/video77") && result.errors.contains(why), "\(result)")
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: [
    ("/dev/null", "/dev/null is not a Video4Linux device"),
    ("/dev/video98", "/dev/video98 does not exist"),
  ])
  func fileThatIsNoDeviceIsRefused(path: String, why: String) throws {
    try withWatchdog {
      let capture = try publish()
      let result = try RunningProgram(
        "framebus-upload", ["camera:\(path)", "--root", world.root.path]
      ).finish()
      #expect(result.status == .exited(1), "\(result)")
      #expect(result.errors.contains(why), "\(result)")
      #expect(result.errors.contains("modprobe v4l2loopback"), "\(result)")
      try capture.end(with: SIGTERM)
    }
  }
}
