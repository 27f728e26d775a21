import FrameBus

/// Draws rectangles and small text into 32-bit pixels, clipped to the canvas.
struct PixelCanvas: ~Copyable, ~Escapable {
  let width: Int
  let height: Int
  private let rowPixels: Int
  private var pixels: MutableSpan<UInt32>

  /// - Parameter bytes: memory for `height` rows of `strideBytes`, aligned to 4 bytes. Traps if it
  ///   is smaller.
  @_lifetime(&bytes)
  init(_ bytes: inout MutableRawSpan, width: Int, height: Int, strideBytes: Int) {
    precondition(
      strideBytes >= width * 4 && strideBytes % 4 == 0 && bytes.byteCount >= strideBytes * height,
      "\(bytes.byteCount) bytes are too few for a canvas of \(width)x\(height)")
    self.width = width
    self.height = height
    rowPixels = strideBytes / 4
    // SAFETY: slots are page-aligned, and any four bytes are a pixel.
    pixels = unsafe bytes._unsafeMutableView(as: UInt32.self)
  }

  /// Sets one pixel, 0xRRGGBB.
  @_lifetime(self: copy self)
  mutating func set(_ x: Int, _ y: Int, _ color: UInt32) { pixels[y * rowPixels + x] = color }

  /// Fills a rectangle with one colour, 0xRRGGBB.
  @_lifetime(self: copy self)
  mutating func fill(_ rect: PixelRect, _ color: UInt32) {
    let columns = max(0, rect.x)..<max(0, rect.x, min(width, rect.x + rect.width))
    for y in max(0, rect.y)..<max(0, rect.y, min(height, rect.y + rect.height)) {
      for x in columns { pixels[y * rowPixels + x] = color }
    }
  }

  /// Draws digits and a few signs in 5 × 7 cells of `cell` pixels each.
  @_lifetime(self: copy self)
  mutating func draw(_ text: String, x: Int, y: Int, cell: Int, color: UInt32) {
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
