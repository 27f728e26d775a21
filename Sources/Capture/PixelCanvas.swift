import FrameBus

/// Rectangles and small text, drawn into 32-bit pixels. Everything outside is clipped away.
@safe struct PixelCanvas {
  let width: Int
  let height: Int
  private let base: UnsafeMutableRawPointer
  private let strideBytes: Int

  /// - Parameter bytes: memory for `height` rows of `strideBytes`, aligned to 4 bytes, that
  ///   outlives the canvas. Traps if it is smaller.
  init(bytes: UnsafeMutableRawBufferPointer, width: Int, height: Int, strideBytes: Int) {
    precondition(
      strideBytes >= width * 4 && strideBytes % 4 == 0 && bytes.count >= strideBytes * height,
      "\(bytes.count) bytes are no canvas of \(width)x\(height)")
    self.width = width
    self.height = height
    self.strideBytes = strideBytes
    guard let base = bytes.baseAddress else { preconditionFailure("a canvas without memory") }
    unsafe self.base = base
  }

  /// Gives the pixels of one row from `x` on to `body`; nothing if the row lies outside.
  func withRow(_ y: Int, _ body: (UnsafeMutableBufferPointer<UInt32>) -> Void) {
    guard (0..<height).contains(y) else { return }
    // SAFETY: the row lies inside the memory that `init` checked.
    let row = unsafe (base + y * strideBytes).assumingMemoryBound(to: UInt32.self)
    unsafe body(UnsafeMutableBufferPointer(start: row, count: width))
  }

  /// Fills a rectangle with one colour, 0xRRGGBB.
  func fill(_ rect: PixelRect, _ color: UInt32) {
    let columns = max(0, rect.x)..<max(0, rect.x, min(width, rect.x + rect.width))
    for y in max(0, rect.y)..<max(0, rect.y, min(height, rect.y + rect.height)) {
      // SAFETY: the columns were clipped to the row.
      unsafe withRow(y) { unsafe $0[columns].update(repeating: color) }
    }
  }

  /// Draws digits and a few signs, 5 × 7 cells of `cell` pixels each.
  func draw(_ text: String, x: Int, y: Int, cell: Int, color: UInt32) {
    for (index, character) in text.enumerated() {
      for (row, bits) in Glyph.rows(of: character).enumerated() {
        for column in 0..<5 where bits >> (4 - column) & 1 == 1 {
          let left = x + (index * 6 + column) * cell
          fill(PixelRect(x: left, y: y + row * cell, width: cell, height: cell), color)
        }
      }
    }
  }
}

/// A 5 × 7 font for numbers and times.
private enum Glyph {
  /// Seven rows, the leftmost dot in bit 4. An unknown character is blank.
  static func rows(of character: Character) -> [UInt8] {
    switch character {
    case "0": [0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E]
    case "1": [0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E]
    case "2": [0x0E, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1F]
    case "3": [0x0E, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0E]
    case "4": [0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02]
    case "5": [0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E]
    case "6": [0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E]
    case "7": [0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08]
    case "8": [0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E]
    case "9": [0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C]
    case ":": [0x00, 0x04, 0x04, 0x00, 0x04, 0x04, 0x00]
    case ".": [0x00, 0x00, 0x00, 0x00, 0x00, 0x0C, 0x0C]
    case "#": [0x0A, 0x0A, 0x1F, 0x0A, 0x1F, 0x0A, 0x0A]
    default: []
    }
  }
}
