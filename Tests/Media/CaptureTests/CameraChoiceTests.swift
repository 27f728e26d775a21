import Capture
import FrameBus
import Testing

@testable import CaptureCamera

@Suite struct CameraChoiceTests {
  private func mode(
    _ name: String, _ width: UInt32, _ height: UInt32, _ rates: Int...
  ) throws -> CameraMode {
    CameraMode(
      encoding: try #require(CameraEncoding.all.first { $0.name == name }),
      widths: try #require(CameraMode.Steps(width, width, step: 1)),
      heights: try #require(CameraMode.Steps(height, height, step: 1)),
      rates: rates.map { FrameRate($0) }, isRateRange: false)
  }

  private func choice(
    _ settings: CaptureSettings = CaptureSettings(), of modes: [CameraMode]
  ) throws -> String {
    let choice = try CameraChoice(settings, of: modes, path: "/dev/video0")
    return "\(choice.encoding.name) \(choice.width)x\(choice.height)@\(choice.rate?.numerator ?? 0)"
  }

  @Test func quickModesComeBeforeThoseWithoutDecoderBeforeLargerOnes() throws {
    let webcam = [
      try mode("yuyv", 640, 480, 30, 15), try mode("yuyv", 1280, 720, 10),
      try mode("mjpeg", 1280, 720, 60, 30), try mode("mjpeg", 1920, 1080, 30),
    ]
    #expect(try choice(of: webcam) == "yuyv 640x480@30")
    var settings = CaptureSettings()
    settings.region = PixelRect(x: 0, y: 0, width: 1280, height: 720)
    #expect(try choice(settings, of: webcam) == "mjpeg 1280x720@30")
    settings.pixelFormat = "yuyv"
    #expect(try choice(settings, of: webcam) == "yuyv 1280x720@10")
    settings.frameRate = FrameRate(60)
    #expect(throws: CameraError.self) { try choice(settings, of: webcam) }
    settings.pixelFormat = nil
    #expect(try choice(settings, of: webcam) == "mjpeg 1280x720@60")
  }

  @Test func numbersOfPicturesAndTimesAreJudged() {
    var clock = CameraClock()
    let missing = [5, 6, 9, 9, 2, 4_000_000_000, .max, 0, 1].map { clock.missingCount(before: $0) }
    #expect(missing == [0, 0, 2, 0, 0, 0, 0, 0, 0])
    func frame(_ timestampNs: Int64, isMonotonic: Bool = true) -> CameraTime {
      CameraTime(timestampNs: timestampNs, isMonotonic: isMonotonic)
    }
    let now: UInt64 = 1_000_000_000_000
    let times = [
      frame(999_990_000_000), frame(999_990_000_000), frame(1), frame(-5),
      frame(2_000_000_000_000), frame(999_999_000_000, isMonotonic: false), frame(.max),
    ].map { clock.times(of: $0, nowNs: now) }
    let taken: UInt64 = 999_990_000_000
    #expect(times.map(\.capturedAtNs) == [taken, taken, now, now, now, now, now])
    for (earlier, later) in zip(times, times.dropFirst()) { #expect(later.ptsNs > earlier.ptsNs) }
  }
}
