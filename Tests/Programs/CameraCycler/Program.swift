import Capture
import CaptureCamera
import Foundation
import Platform
import WorkerSupport

/// Opens a camera, takes a picture and closes it, N times: `CameraCycler PATH N`. It prints what
/// the process had after the first tenth, and at the end: descriptors, mappings, kilobytes of its
/// own.
@main struct Program {
  static func main() { runWorker(run) }

  private static func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let count = Int(arguments[2]) else {
      fatalError("usage: CameraCycler PATH N")
    }
    let times = CameraTimes()
    for index in 1...count {
      let camera = try EncodedCamera(arguments[1], CaptureSettings(), times)
      var isTaken = false
      while !isTaken {
        _ = try camera.next { bytes, _ in
          isTaken = bytes.byteCount > 0
          return true
        }
      }
      if index == count / 10 || index == count { print(try resources()) }
    }
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
