import CVideo4Linux
import FrameBus

/// A format and size that a camera offers, with its rates. Sizes may be a range.
struct CameraMode: Hashable {
  let encoding: CameraEncoding
  let widths: Steps
  let heights: Steps
  /// Frames per second, each rate or the bounds of a range; empty if the driver does not say.
  let rates: [FrameRate]
  let isRateRange: Bool

  /// The numbers from the least to the most, in steps.
  struct Steps: Hashable {
    let least: Int
    let most: Int
    let step: Int

    /// Nil if there is no such number, or none that a picture can have.
    init?(_ least: UInt32, _ most: UInt32, step: UInt32) {
      guard (1...16384).contains(least), least <= most else { return nil }
      self.least = Int(least)
      self.most = Int(min(most, 16384))
      self.step = max(1, Int(min(step, 16384)))
    }

    func contains(_ number: Int) -> Bool {
      (least...most).contains(number) && (number - least).isMultiple(of: step)
    }

    /// The number nearest to one.
    func nearest(_ number: Int) -> Int {
      least + (min(max(number, least), most) - least) / step * step
    }
  }

  /// A driver that says that it has more is not believed.
  private static let maximumCount: UInt32 = 64

  /// The modes of a device that can be captured; empty if its driver does not list sizes.
  static func all(of device: borrowing CameraDevice) -> [CameraMode] {
    let encodings = device.list(atMost: maximumCount) { port, index -> UInt32? in
      var encoding = video_encoding()
      return unsafe video_encoding_at(port, index, &encoding) == 0 ? encoding.code : nil
    }
    var modes: [CameraMode] = []
    for encoding in encodings.compactMap(CameraEncoding.init(code:)) where modes.count < 512 {
      let sizes = device.list(atMost: maximumCount) { port, index -> video_size? in
        var size = video_size()
        let result = unsafe video_size_at(port, encoding.code.rawValue, index, &size)
        return result == 0 ? size : nil
      }
      for size in sizes {
        guard let widths = Steps(size.width, size.maximumWidth, step: size.stepWidth),
          let heights = Steps(size.height, size.maximumHeight, step: size.stepHeight)
        else { continue }
        let (rates, isRange) = rates(
          of: device, encoding, UInt32(widths.least), UInt32(heights.least))
        modes.append(
          CameraMode(
            encoding: encoding, widths: widths, heights: heights, rates: rates,
            isRateRange: isRange))
      }
    }
    return modes
  }

  private static func rates(
    of device: borrowing CameraDevice, _ encoding: CameraEncoding, _ width: UInt32,
    _ height: UInt32
  ) -> ([FrameRate], isRange: Bool) {
    let intervals = device.list(atMost: maximumCount) { port, index -> video_interval? in
      var interval = video_interval()
      // SAFETY: the call writes the structure only while it lasts.
      let result = unsafe video_interval_at(
        port, encoding.code.rawValue, width, height, index, &interval)
      return result == 0 ? interval : nil
    }
    if let range = intervals.first, range.isRange {
      // The shortest interval is the highest rate.
      let bounds = [
        FrameRate(interval: range.maximumNumerator, range.maximumDenominator),
        FrameRate(interval: range.numerator, range.denominator),
      ].compactMap { $0 }
      return (bounds.count == 2 ? bounds : [], true)
    }
    return (intervals.compactMap { FrameRate(interval: $0.numerator, $0.denominator) }, false)
  }

  /// Whether the camera has this rate, as far as its driver says.
  func offers(_ rate: FrameRate) -> Bool {
    if rates.isEmpty { return true }
    if isRateRange {
      return rates[0].perSecond <= rate.perSecond && rate.perSecond <= rates[1].perSecond
    }
    return rates.contains { abs($0.perSecond - rate.perSecond) < 0.01 }
  }

  /// As errors and lists show it, such as `yuyv 640x480 at 15, 30`.
  var text: String {
    let size =
      widths.least == widths.most && heights.least == heights.most
      ? "\(widths.least)x\(heights.least)"
      : "\(widths.least)x\(heights.least) to \(widths.most)x\(heights.most)"
    let shown = rates.map(\.shortText).joined(separator: isRateRange ? " to " : ", ")
    return "\(encoding.name) \(size)" + (shown.isEmpty ? "" : " at \(shown)")
  }
}

extension FrameRate {
  /// The rate of an interval in seconds that a driver named; nil if it is not a rate.
  init?(interval numerator: UInt32, _ denominator: UInt32) {
    guard numerator > 0, denominator > 0, denominator / numerator <= 100_000 else { return nil }
    self.init(Int(denominator), Int(numerator))
  }

  var perSecond: Double { Double(numerator) / Double(denominator) }

  /// Such as `30` or `29.97`.
  var shortText: String {
    let hundredths = (perSecond * 100).rounded()
    return hundredths.truncatingRemainder(dividingBy: 100) == 0
      ? "\(Int(hundredths / 100))" : "\(hundredths / 100)"
  }
}
