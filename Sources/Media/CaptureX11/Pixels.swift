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

  extension PixelRect {
    func moved(by x: Int, _ y: Int) -> PixelRect {
      PixelRect(x: self.x + x, y: self.y + y, width: width, height: height)
    }
  }

  extension FrameLoan {
    /// Copies pixels to the start of the slot. Traps if they do not fit.
    mutating func fill(from pixels: UnsafeRawBufferPointer) {
      var bytes = self.bytes
      precondition(pixels.count <= bytes.byteCount, "\(pixels.count) bytes are too many")
      // SAFETY: the source fits into the slot.
      unsafe bytes.withUnsafeMutableBytes { unsafe $0.copyMemory(from: pixels) }
    }
  }
#endif
