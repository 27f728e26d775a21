import FrameBus

/// The background of the test pattern.
public enum TestPatternStyle: String, Hashable, Sendable, CaseIterable {
  /// Colour bars with a moving white line.
  case bars
  /// A moving gradient.
  case gradient
  /// Noise, which no encoder can compress: the worst case.
  case noise
  /// Black, and white for the first tenth of each second of the monotonic clock, while `beep`
  /// sounds: used to measure the skew between pictures and sound.
  case flash
}

/// A moving picture with its frame number and time, readable by machines and by people.
public struct TestPattern: Hashable, Sendable {
  /// What is drawn behind the mark.
  public var style: TestPatternStyle

  /// A pattern of this style.
  public init(_ style: TestPatternStyle = .bars) { self.style = style }

  /// Draws one frame into 32-bit pixels (BGRx in memory).
  /// - Parameters:
  ///   - bytes: `height` rows of `strideBytes`, aligned to 4 bytes.
  ///   - milliseconds: the time code, such as the monotonic clock's milliseconds.
  public func draw(
    into bytes: inout MutableRawSpan, width: Int, height: Int, strideBytes: Int,
    sequence: UInt64, milliseconds: UInt64
  ) {
    var canvas = PixelCanvas(&bytes, width: width, height: height, strideBytes: strideBytes)
    drawBackground(on: &canvas, sequence: sequence, milliseconds: milliseconds)
    let mark = TestPatternMark(
      sequence: UInt32(truncatingIfNeeded: sequence),
      milliseconds: UInt32(truncatingIfNeeded: milliseconds))
    mark.draw(on: &canvas)
    drawDigits(on: &canvas, sequence: sequence, milliseconds: milliseconds)
  }

  @_lifetime(canvas: copy canvas)
  private func drawBackground(
    on canvas: inout PixelCanvas, sequence: UInt64, milliseconds: UInt64
  ) {
    let step = Int(truncatingIfNeeded: sequence & 0xFFFF_FFFF)
    switch style {
    case .bars:
      let colors: [UInt32] = [
        0xC0C0C0, 0xC0C000, 0x00C0C0, 0x00C000, 0xC000C0, 0xC00000, 0x0000C0, 0x202020,
      ]
      for (index, color) in colors.enumerated() {
        let left = canvas.width * index / 8
        let right = canvas.width * (index + 1) / 8
        canvas.fill(PixelRect(x: left, y: 0, width: right - left, height: canvas.height), color)
      }
      let line = PixelRect(
        x: step * 8 % canvas.width, y: 0, width: max(2, canvas.width / 160),
        height: canvas.height)
      canvas.fill(line, 0xFFFFFF)
    case .gradient:
      for y in 0..<canvas.height {
        for x in 0..<canvas.width {
          let red = UInt32(truncatingIfNeeded: x + step) & 0xFF
          let green = UInt32(truncatingIfNeeded: y + step) & 0xFF
          canvas.set(x, y, red << 16 | green << 8 | 0x80)
        }
      }
    case .flash:
      let whole = PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height)
      canvas.fill(whole, milliseconds % 1000 < 100 ? 0xFFFFFF : 0)
    case .noise:
      var state = sequence &* 0x9E37_79B9_7F4A_7C15 | 1
      for y in 0..<canvas.height {
        for x in 0..<canvas.width {
          state ^= state << 13
          state ^= state >> 7
          state ^= state << 17
          canvas.set(x, y, UInt32(truncatingIfNeeded: state) & 0xFFFFFF)
        }
      }
    }
  }

  /// `#123  01:02:03.456` below the mark.
  @_lifetime(canvas: copy canvas)
  private func drawDigits(on canvas: inout PixelCanvas, sequence: UInt64, milliseconds: UInt64) {
    guard let side = TestPatternMark.blockSide(width: canvas.width, height: canvas.height)
    else { return }
    let cell = max(1, side / 8)
    let seconds = milliseconds / 1000
    let text =
      "#\(sequence)  \(padded(seconds / 3600 % 24, 2)):\(padded(seconds / 60 % 60, 2))"
      + ":\(padded(seconds % 60, 2)).\(padded(milliseconds % 1000, 3))"
    let top = side * (TestPatternMark.rows + 2)
    let box = PixelRect(
      x: side - 2 * cell, y: top - 2 * cell, width: (text.count * 6 + 3) * cell,
      height: 11 * cell)
    canvas.fill(box, 0x000000)
    canvas.draw(text, x: side, y: top, cell: cell, color: 0xFFFFFF)
  }

  private func padded(_ number: UInt64, _ digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
