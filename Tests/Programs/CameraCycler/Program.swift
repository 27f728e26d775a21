import AppGroup
import Capture
import CaptureCamera
import Foundation
import FrameBus
import Platform
import WorkerSupport

/// Opens a camera, takes a picture and closes it, N times: `CameraCycler PATH N` as for a decoder,
/// `CameraCycler PATH N ROOT HEIGHT` into the slots of a stream below ROOT, 320 pixels wide. It
/// prints what it had after the first tenth, and at the end: descriptors, mappings, kilobytes.
@main struct Program {
  static func main() { runWorker(run) }

  private static func run() throws {
    let arguments = CommandLine.arguments
    guard [3, 5].contains(arguments.count), let count = Int(arguments[2]), count > 0 else {
      fatalError("usage: CameraCycler PATH N [ROOT HEIGHT]")
    }
    let cycle =
      try arguments.count == 3
      ? encoded(arguments[1])
      : slots(arguments[1], arguments[3], height: Int(arguments[4]) ?? 0)
    for index in 1...count {
      try cycle()
      if index == max(1, count / 10) || index == count { print(try resources()) }
    }
  }

  private static func encoded(_ path: String) throws -> () throws -> Void {
    let times = CameraTimes()
    return {
      let camera = try EncodedCamera(path, CaptureSettings(), times)
      var isTaken = false
      while !isTaken {
        _ = try waitUntilReadable([camera.descriptorNumber], until: .after(.seconds(10)))
        _ = try camera.next { bytes, _ in
          isTaken = bytes.byteCount > 0
          return true
        }
      }
    }
  }

  private static func slots(
    _ path: String, _ root: String, height: Int
  ) throws -> () throws -> Void {
    var settings = CaptureSettings()
    settings.pixelFormat = "yuyv"
    settings.region = PixelRect(x: 0, y: 0, width: 320, height: height)
    let (format, bufferBytes) = try look(path, settings)
    var options = PublisherOptions()
    options.slotBytes = (bufferBytes + 4095) / 4096 * 4096
    options.maxLoans = 9
    let group = try AppGroup.open(.local, root: root)
    let held = Held(
      try Publisher(StreamName("camera"), in: group, format: format, options: options))
    return {
      let stream = try CameraStream(path, settings)
      let buffers = try CameraBuffers(stream, &held.publisher)
      defer { buffers.end() }
      precondition(buffers.isZeroCopy, "the driver does not write into slots")
      while true {
        _ = try waitUntilReadable([stream.descriptorNumber], until: .after(.seconds(10)))
        guard let picture = try buffers.next() else { continue }
        _ = try buffers.takeLoan(of: picture, &held.publisher, isLast: true).publish()
        return
      }
    }
  }

  private static func look(
    _ path: String, _ settings: CaptureSettings
  ) throws -> (FrameFormat, bufferBytes: Int) {
    let stream = try CameraStream(path, settings)
    return (stream.format, stream.bufferBytes)
  }

  private final class Held {
    var publisher: Publisher
    init(_ publisher: consuming Publisher) { self.publisher = publisher }
  }

  private static func resources() throws -> String {
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    let mappings = kernelText("/proc/self/maps").split(separator: "\n").count
    let own =
      kernelText("/proc/self/status").split(separator: "\n")
      .first { $0.hasPrefix("RssAnon:") }?.filter(\.isNumber) ?? ""
    return "\(descriptors) \(mappings) \(own)"
  }
}
