import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

@testable import CaptureCamera

/// A camera of the kernel's test driver, `vivid`, which `scripts/vm` loads.
private let vivid = instance(0)

/// That of the driver's instance with this number.
private func instance(_ number: Int) -> ListedCamera? {
  CameraSearch.all().first { $0.driver == "vivid" && $0.bus.hasSuffix("-00\(number)") }
}

/// `capture camera:` before a driver of the kernel.
@Suite(
  .enabled(if: vivid != nil, "no camera of the kernel's module vivid: run scripts/vm"), .serialized)
struct VividTests {
  /// Emulated, the machine makes five pictures a second.
  private static let size = ["--size", "320x180", "--format", "yuyv"]

  @Test func driverWritesIntoSealedSlotsAndIsUnpluggedAndBack() throws {
    let camera = try #require(vivid)
    let world = try CameraWorld()
    let capture = try RunningProgram(
      "framebus",
      ["capture", "camera:\(camera.path)", "--root", world.root.path, "--json"] + Self.size)
    var subscriber = try world.subscriber(waiting: .seconds(300))
    var pictures: [CameraWorld.Picture] = []
    for _ in 0..<5 { pictures.append(try world.picture(from: &subscriber)) }
    for (earlier, later) in zip(pictures, pictures.dropFirst()) {
      #expect(later.ptsNs > earlier.ptsNs)
    }
    // Its bus is "platform:vivid-000"; the device of the driver is "vivid.0".
    let driver = "/sys/bus/platform/drivers/vivid"
    try output(of: "sh", ["-c", "echo vivid.0 > \(driver)/unbind"])
    try capture.waitForErrors("the stream is paused until the camera is back")
    try output(of: "sh", ["-c", "echo vivid.0 > \(driver)/bind"])
    try capture.waitForErrors("the camera is back")
    for _ in 0..<3 { _ = try world.picture(from: &subscriber) }
    let result = try capture.end(with: SIGINT)
    #expect(result.output.contains("\"copies_per_frame\":0,"), "\(result.output)")
    #expect(!result.errors.contains("cannot write into slots"))
  }

  /// The second instance has the calls with planes alone.
  @Test(.enabled(if: instance(1) != nil, "vivid was loaded without an instance with planes"))
  func driverWithPlanesWritesIntoSealedSlots() throws {
    let camera = try #require(instance(1))
    let world = try CameraWorld()
    let capture = try RunningProgram(
      "framebus",
      ["capture", "camera:\(camera.path)", "--root", world.root.path, "--json"] + Self.size)
    var subscriber = try world.subscriber(waiting: .seconds(300))
    var lastNs: Int64 = 0
    for _ in 0..<5 {
      let picture = try world.picture(from: &subscriber)
      #expect(picture.ptsNs > lastNs)
      lastNs = picture.ptsNs
    }
    let result = try capture.end(with: SIGINT)
    #expect(result.output.contains("\"copies_per_frame\":0,"), "\(result.output)")
  }

  /// The kernel's driver pins the slots' memory.
  @Test func thousandCyclesLeaveDescriptorsAndMemoryAsTheyWere() throws {
    let camera = try #require(vivid)
    let world = try CameraWorld()
    let result = try RunningProgram(
      "CameraCycler", [camera.path, "1000", world.root.path, "180"]
    ).finish(within: .seconds(1200))
    let lines = result.output.split(separator: "\n").map {
      $0.split(separator: " ").map { Int($0)! }
    }
    try #require(lines.count == 2, "\(result)")
    #expect(lines[0][0] == lines[1][0] && lines[0][1] == lines[1][1], "\(lines)")
    #expect(lines[1][2] - lines[0][2] < 1024, "kilobytes: \(lines)")
  }

  /// Landlock and the private root judge a device of the kernel.
  @Test func confinedBroadcastReachesTheDevice() throws {
    let camera = try #require(vivid)
    let root = try TemporaryRoot()
    let location = ["--root", root.path, "--group", "a.b"]
    try output(of: "framebus", ["group", "create", "a.b", "--root", root.path])
    try output(of: "framebus", location + ["extension", "register", "--builtin", "null"])
    let host = try RunningProgram(
      "framebus",
      location + ["broadcast", "start", "framebus.upload", "--yes"]
        + ["--source", "camera:\(camera.path)"] + Self.size)
    try host.waitForErrors("live", within: .seconds(300))
    let status = try output(of: "framebus", location + ["broadcast", "status"])
    #expect(status.contains("confined: on"), "\(status)")
    host.process.send(signal: SIGINT)
    #expect(try host.finish(within: .seconds(300)).status == .exited(130), "\(host.transcript)")
  }

  @Test func modesAndControlsOfTheDriverAreListedAndApplied() throws {
    let camera = try #require(vivid)
    #expect(camera.problem == nil && camera.modes.contains { $0.encoding.name == "yuyv" })
    let brightness = try #require(camera.controls.first { $0.name == "brightness" })
    let wanted = brightness.value == 77 ? 78 : 77
    let world = try CameraWorld()
    let capture = try RunningProgram(
      "framebus",
      [
        "capture", "camera:\(camera.name)", "--root", world.root.path, "--frames", "2",
        "--control", "brightness=\(wanted)",
      ] + Self.size)
    var subscriber = try world.subscriber(waiting: .seconds(300))
    _ = try world.picture(from: &subscriber)
    #expect(try capture.finish(within: .seconds(300)).status == .exited(0))
    let after = CameraSearch.all().first { $0.path == camera.path }
    #expect(after?.controls.first { $0.name == "brightness" }?.value == wanted)
  }
}
