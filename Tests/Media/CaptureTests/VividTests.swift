import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

@testable import CaptureCamera

/// A camera of the kernel's test driver, `vivid`, which `scripts/vm` loads.
private let vivid = CameraSearch.all().first { $0.driver == "vivid" }

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
    let camera = try #require(CameraSearch.all().first { $0.driver == "vivid" })
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
