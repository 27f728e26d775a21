import Foundation
import Platform
import TestSupport
import Testing

@testable import CaptureCamera

/// The device of a driver in the kernel, by the name that it has there; nil without one.
private func device(_ name: String) -> String? {
  let folder = "/sys/class/video4linux"
  let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  return names.first {
    (try? String(contentsOfFile: "\(folder)/\($0)/name", encoding: .utf8)) == name + "\n"
  }.map { "/dev/\($0)" }
}

/// What `scripts/vm` loads: v4l2loopback.
private let loopback = device("Loopback")

/// `upload camera:/dev/videoN` before a driver of the kernel.
@Suite(
  .enabled(if: loopback != nil, "no device of v4l2loopback: run scripts/vm where it builds"),
  .serialized)
struct OutputDriverTests {
  private static let limit = Duration.seconds(300)
  private static let (width, height) = (64, 48)

  private let world: CameraWorld

  init() throws { world = try CameraWorld() }

  /// Emulated, the machine makes few pictures a second.
  private func publish(_ size: String) throws -> RunningProgram {
    try RunningProgram(
      "framebus-capture",
      ["test:flash", "--fps", "10", "--size", size, "--root", world.root.path])
  }

  private func upload(_ path: String) throws -> RunningProgram {
    try RunningProgram("framebus-upload", ["camera:\(path)", "--root", world.root.path])
  }

  /// ffmpeg, as any other program reads a camera.
  private func reader(_ path: String, _ file: String, count: Int) throws -> RunningProgram {
    try RunningProgram(
      "ffmpeg",
      ["-nostdin", "-loglevel", "error", "-f", "v4l2", "-input_format", "yuv420p", "-i", path]
        + ["-frames:v", "\(count)", "-f", "rawvideo", "-y", world.root.file(file)])
  }

  private func pictures(_ file: String, _ width: Int = width, _ height: Int = height) -> [[UInt8]] {
    guard let data = try? Data(contentsOf: URL(filePath: world.root.file(file))) else { return [] }
    let size = width * height * 3 / 2
    return (0..<data.count / size).map { [UInt8](data[$0 * size..<($0 + 1) * size]) }
  }

  /// Whether the device is a camera, as it is while a program writes it.
  private func waitForCamera(_ path: String, _ upload: RunningProgram) throws {
    try waitUntil("\(path) is a camera: \(upload.transcript)") {
      CameraSearch.all().contains { $0.path == path && $0.problem == nil }
    }
  }

  @Test func loopbackDeviceShowsThePicturesToSeveralReaders() throws {
    let path = try #require(loopback)
    let capture = try publish("64x48")
    let upload = try upload(path)
    try waitForCamera(path, upload)
    let first = try reader(path, "first", count: 25)
    let second = try reader(path, "second", count: 25)
    let stopped = try reader(path, "stopped", count: 1000)
    let killed = try reader(path, "killed", count: 1000)
    try waitUntil("they read") { !pictures("stopped").isEmpty && !pictures("killed").isEmpty }
    stopped.process.send(signal: SIGSTOP)
    try killed.end(with: SIGKILL)
    for (name, reader) in [("first", first), ("second", second)] {
      let result = try reader.finish(within: Self.limit)
      #expect(result.status.isSuccess, "\(result)")
      let luma = pictures(name).map { [$0[0], $0[64 * 48 - 1]] }
      #expect(luma.count == 25)
      #expect(
        luma.contains { $0.allSatisfy { $0 > 200 } }
          && luma.contains { $0.allSatisfy { $0 < 50 } }, "\(luma)")
    }
    // Another program cannot write it.
    let refused = try self.upload(path).finish(within: Self.limit)
    #expect(refused.errors.contains("another program writes it"), "\(refused)")
    try stopped.end(with: SIGKILL)
    #expect(upload.process.status == nil, "\(upload.transcript)")
    #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
    try capture.end(with: SIGTERM)
  }

  /// The device keeps its size while a program has it open.
  @Test func loopbackDeviceIsACameraOfFrameBusInTheSizeThatReadersBeganWith() throws {
    let path = try #require(loopback)
    var capture = try publish("64x48")
    var upload = try upload(path)
    try waitForCamera(path, upload)
    let reader = try RunningProgram(
      "framebus-capture",
      ["camera:\(path)", "--stream", "shown", "--root", world.root.path, "--format", "i420"])
    let subscriber = try world.subscriber(of: "shown", waiting: Self.limit)
    withExtendedLifetime(subscriber) {}
    try upload.end(with: SIGTERM)
    try capture.end(with: SIGTERM)
    capture = try publish("96x48")
    upload = try self.upload(path)
    let other = try self.reader(path, "other", count: 12)
    let result = try other.finish(within: Self.limit)
    #expect(result.status.isSuccess, "\(result) \(upload.transcript)")
    #expect(pictures("other").count == 12)
    try reader.end(with: SIGTERM)
    try upload.end(with: SIGTERM)
    try capture.end(with: SIGTERM)
  }
}
