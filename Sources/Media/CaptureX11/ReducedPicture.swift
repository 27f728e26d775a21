#if Media
  import Capture
  import FrameBus

  /// A smaller picture of a target: each square of `divisor` pixels a side is one, their mean.
  /// Squares at the right and the lower edge may be smaller. It is kept from frame to frame, so
  /// that only what has changed needs to be grabbed and made smaller.
  struct ReducedPicture {
    /// Of the target.
    private let width: Int
    private let height: Int
    private let divisor: Int
    private let size: PixelRect
    /// Empty before the first update.
    private var pixels: [UInt32] = []

    init(of area: PixelRect, by divisor: Int) {
      (width, height, self.divisor) = (area.width, area.height, divisor)
      size = PixelRect(x: 0, y: 0, width: width, height: height).divided(by: divisor)
    }

    /// The whole squares that a region of the target touches; everything before the first update.
    func pieces(of region: DamageRegion) -> [PixelRect] {
      if region.isFull || pixels.isEmpty {
        return [PixelRect(x: 0, y: 0, width: width, height: height)]
      }
      return region.rects.map { rect in
        let squares = rect.divided(by: divisor)
        let (left, top) = (squares.x * divisor, squares.y * divisor)
        return PixelRect(
          x: left, y: top, width: min(squares.width * divisor, width - left),
          height: min(squares.height * divisor, height - top))
      }
    }

    /// Makes a piece smaller.
    /// - Parameters:
    ///   - source: 32-bit pixels of `bounds`, without gaps.
    ///   - bounds: a rectangle of the target that contains the piece.
    mutating func update(
      _ piece: PixelRect, from source: UnsafeRawBufferPointer, of bounds: PixelRect
    ) {
      if pixels.isEmpty { pixels = Array(repeating: 0, count: size.width * size.height) }
      let squares = piece.divided(by: divisor)
      precondition(bounds.contains(piece), "\(piece) is not in \(bounds)")
      precondition(bounds.width * bounds.height * 4 <= source.count, "\(bounds) is too large")
      precondition(size.contains(squares), "\(squares) is not in \(size)")
      // SAFETY: all three were checked to contain what is read and written.
      unsafe pixels.withUnsafeMutableBytes { pixels in
        unsafe withUnsafeTemporaryAllocation(of: UInt16.self, capacity: piece.width * 4) { sums in
          for row in 0..<squares.height {
            let rows = row * divisor..<min((row + 1) * divisor, piece.height)
            unsafe sums.initialize(repeating: 0)
            for line in rows {
              let first = (piece.y + line - bounds.y) * bounds.width + piece.x - bounds.x
              unsafe sums.add(source, from: first * 4)
            }
            let target = (squares.y + row) * size.width + squares.x
            unsafe sums.writeMeans(to: pixels, from: target * 4, of: divisor, rows: rows.count)
          }
        }
      }
    }

    /// Copies all of it into the slot.
    func copy(to loan: inout FrameLoan) {
      // SAFETY: the bytes are read while the array keeps them.
      unsafe pixels.withUnsafeBytes { unsafe loan.fill(from: $0) }
    }
  }

  extension UnsafeMutableBufferPointer<UInt16> {
    /// Adds a row of bytes to the sums. A simple loop, which the compiler vectorizes.
    fileprivate func add(_ pixels: UnsafeRawBufferPointer, from offset: Int) {
      guard let row = pixels.baseAddress, let sums = baseAddress else { return }
      // SAFETY: `ReducedPicture.update` has checked that the columns lie in the pixels.
      for index in 0..<count {
        unsafe sums[index] &+= UInt16(
          row.load(fromByteOffset: offset &+ index, as: UInt8.self))
      }
    }

    /// Writes one pixel for each `divisor` of them, from sums of `rows` rows.
    fileprivate func writeMeans(
      to slot: UnsafeMutableRawBufferPointer, from offset: Int, of divisor: Int, rows: Int
    ) {
      guard let target = slot.baseAddress, let sums = baseAddress else { return }
      var column = 0
      var offset = offset
      // SAFETY: `ReducedPicture.update` has checked that the row lies in the picture.
      while column < count {
        let end = Swift.min(column &+ divisor &* 4, count)
        // At most 255 after the shift: 255 × count × (65536 ÷ count + 1) is below 256 × 65536 for
        // squares of at most 16 × 16.
        let reciprocal = 65536 / UInt32(rows &* (end &- column) / 4) &+ 1
        var (blue, green, red, rest) = (UInt32(0), UInt32(0), UInt32(0), UInt32(0))
        while column < end {
          unsafe blue &+= UInt32(sums[column])
          unsafe green &+= UInt32(sums[column &+ 1])
          unsafe red &+= UInt32(sums[column &+ 2])
          unsafe rest &+= UInt32(sums[column &+ 3])
          column &+= 4
        }
        var pixel = (rest &* reciprocal) >> 16
        pixel = (pixel << 8) | ((red &* reciprocal) >> 16)
        pixel = (pixel << 8) | ((green &* reciprocal) >> 16)
        pixel = (pixel << 8) | ((blue &* reciprocal) >> 16)
        unsafe target.storeBytes(of: pixel, toByteOffset: offset, as: UInt32.self)
        offset &+= 4
      }
    }
  }
#endif
