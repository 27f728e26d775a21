import CFuzzer
import Capture
import CaptureCamera
import FrameBus
import FuzzFakeDriver
import FuzzSupport
import Platform

/// Fuzzes what a camera's driver says: names, formats, sizes, rates, controls, buffers, pictures
/// and their times. It writes pictures into the slots of a stream.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        guard count > 2, let bytes = unsafe bytes else { return 0 }
        // SAFETY: libFuzzer says how many bytes there are, and keeps them during the call.
        unsafe fake_driver_begin(bytes[0], bytes + 2, count - 2)
        Program.play(kind: unsafe bytes[0], options: unsafe bytes[1])
        return 0
      })
  }

  /// FakeDriver's.
  private static let path = "/proc/self/fd/77"
  private static let pictureCount = 12
  nonisolated(unsafe) private static var stage = Stage()  // because libFuzzer has one thread

  private static func play(kind: UInt8, options: UInt8) {
    var settings = CaptureSettings()
    if options & 1 != 0 { settings.pixelFormat = kind & 8 != 0 ? "nv12" : "yuyv" }
    if options & 2 != 0 { settings.region = PixelRect(x: 0, y: 0, width: 320, height: 240) }
    if options & 4 != 0 { settings.controls = ["brightness=7"] }
    if options & 8 != 0 { settings.frameRate = FrameRate(30) }
    if options & 16 != 0 {
      guard let camera = ListedCamera(path) else { return }
      for line in CameraReport(camera).lines { precondition(line.isPlain, line) }
    } else if kind & 4 != 0 {
      decode(settings)
    } else {
      unsafe stage.capture(path, settings, count: pictureCount)
    }
  }

  private static func decode(_ settings: CaptureSettings) {
    let times = CameraTimes()
    guard let camera = try? EncodedCamera(path, settings, times) else { return }
    var lastNs = Int64.min
    for _ in 0..<pictureCount {
      let lost = try? camera.next { bytes, ptsNs in
        precondition(ptsNs > lastNs, "\(ptsNs) after \(lastNs)")
        lastNs = ptsNs
        // SAFETY: the bytes are only read; each must be the driver's.
        return unsafe bytes.withUnsafeBytes { unsafe $0.reduce(0) { $0 &+ Int($1) } } >= 0
      }
      if lost == nil { return }
    }
  }
}

/// A stream whose slots the driver writes.
struct Stage: ~Copyable {
  private let world = FuzzWorld()
  private var publisher: Publisher

  private static let slotBytes = 1 << 18

  init() {
    do {
      let format = try FrameFormat.video(.yuyv, width: 320, height: 240)
      var options = PublisherOptions()
      options.slotBytes = Self.slotBytes
      options.maxLoans = 9
      publisher = try Publisher(world.stream, in: world.group, format: format, options: options)
    } catch { fatalError("no stream to fuzz: \(error)") }
  }

  mutating func capture(_ path: String, _ settings: CaptureSettings, count: Int) {
    guard let stream = try? CameraStream(path, settings),
      stream.format.byteCount <= Self.slotBytes,
      (try? publisher.setFormat(stream.format)) != nil,
      let buffers = try? CameraBuffers(stream, &publisher)
    else { return }
    defer { buffers.end() }
    for _ in 0..<count {
      do {
        guard let picture = try buffers.next() else { continue }
        if picture.isWhole {
          _ = try buffers.takeLoan(of: picture, &publisher, isLast: false).publish()
        } else {
          try buffers.putBack(picture)
        }
      } catch { return }
    }
  }
}
