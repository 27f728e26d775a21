#if Media
  import Capture
  import FrameBus

  extension UnsafeMutableRawBufferPointer {
    /// Makes rectangles of a picture of 32-bit pixels black. Traps outside of it. Each pixel is
    /// written once, however many thousand rectangles lie over it.
    func blank(_ rects: [PixelRect], stride: Int) {
      let rects = rects.filter { !$0.isEmpty }.sorted { $0.x < $1.x }
      guard let top = rects.map(\.y).min(), let end = rects.map({ $0.y + $0.height }).max()
      else { return }
      for row in top..<end {
        // All that begins further to the left is done up to here.
        var column = 0
        for rect in rects where rect.y <= row && row < rect.y + rect.height {
          let first = Swift.max(rect.x, column)
          guard first < rect.x + rect.width else { continue }
          column = rect.x + rect.width
          let bytes = row * stride + first * 4..<row * stride + column * 4
          precondition(0 <= bytes.lowerBound && bytes.upperBound <= count, "\(rect)")
          // SAFETY: the bounds were checked.
          unsafe UnsafeMutableRawBufferPointer(rebasing: self[bytes])
            .initializeMemory(as: UInt8.self, repeating: 0)
        }
      }
    }
  }

  extension FrameLoan {
    /// Copies a picture of 32-bit pixels into the slot, each square of `divisor` pixels as one,
    /// their mean. Squares at the right and the lower edge may be smaller.
    mutating func fill(
      shrinking pixels: UnsafeRawBufferPointer, _ area: PixelRect, by divisor: Int
    ) {
      let target = PixelRect(x: 0, y: 0, width: area.width, height: area.height)
        .divided(by: divisor)
      var bytes = self.bytes
      precondition(target.width * target.height * 4 <= bytes.byteCount, "\(target) is too large")
      precondition(area.width * area.height * 4 <= pixels.count, "\(area) is too large")
      // SAFETY: both were checked to contain their picture.
      unsafe bytes.withUnsafeMutableBytes { slot in
        unsafe withUnsafeTemporaryAllocation(of: UInt16.self, capacity: area.width * 4) { sums in
          for row in 0..<target.height {
            let rows = row * divisor..<min((row + 1) * divisor, area.height)
            unsafe sums.initialize(repeating: 0)
            for source in rows { unsafe sums.add(pixels, from: source * sums.count) }
            unsafe sums.writeMeans(
              to: slot, from: row * target.width * 4, of: divisor, rows: rows.count)
          }
        }
      }
    }

    /// Copies pixels to the start of the slot. Traps if they do not fit.
    mutating func fill(from pixels: Slice<UnsafeRawBufferPointer>) {
      var bytes = self.bytes
      unsafe precondition(pixels.count <= bytes.byteCount, "\(pixels.count) bytes are too many")
      // SAFETY: the source fits into the slot.
      unsafe bytes.withUnsafeMutableBytes {
        unsafe $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: pixels))
      }
    }
  }

  extension UnsafeMutableBufferPointer<UInt16> {
    /// Adds a row of bytes to the sums. A simple loop, which the compiler vectorizes.
    fileprivate func add(_ pixels: UnsafeRawBufferPointer, from offset: Int) {
      guard let row = pixels.baseAddress, let sums = baseAddress else { return }
      // SAFETY: `FrameLoan.fill` has checked that all rows lie in the pixels.
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
      // SAFETY: `FrameLoan.fill` has checked that the picture fits into the slot.
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
