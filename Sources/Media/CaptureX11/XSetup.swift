#if Media
  /// What a server says of itself when a client connects (X11 protocol, chapter 8, "Connection
  /// Setup"). libxcb's own iterators believe every count in it; here each is checked.
  struct XSetup: Hashable, Sendable {
    var isLittleEndian: Bool
    /// Bits that a pixel of a depth takes in an image.
    var bitsPerPixel: [UInt8: UInt8] = [:]
    var screens: [Screen] = []

    struct Screen: Hashable, Sendable {
      var root: UInt32
      var rootVisual: UInt32
      var rootDepth: UInt8
      /// The masks of red, green and blue in a pixel of each visual.
      var colorMasks: [UInt32: [UInt32]] = [:]
    }

    /// - Parameter bytes: the answer, in this machine's byte order, as libxcb asks for it.
    /// - Returns: nil if it breaks off within something that it announced, or promises less than
    ///   the protocol asks of every server.
    init?(_ bytes: [UInt8]) {
      var reader = ByteCursor(bytes)
      guard reader.skip(16), let idMask = reader.next(UInt32.self), reader.skip(4),
        let vendorBytes = reader.next(UInt16.self), let longestRequest = reader.next(UInt16.self),
        let screenCount = reader.next(UInt8.self), let formatCount = reader.next(UInt8.self),
        let imageOrder = reader.next(UInt8.self), reader.skip(9),
        idMask.nonzeroBitCount >= 18, longestRequest >= 4096,
        reader.skip((Int(vendorBytes) + 3) / 4 * 4)
      else { return nil }
      isLittleEndian = imageOrder == 0
      for _ in 0..<formatCount {
        guard let depth = reader.next(UInt8.self), let bits = reader.next(UInt8.self),
          reader.skip(6)
        else { return nil }
        bitsPerPixel[depth] = bits
      }
      for _ in 0..<screenCount {
        guard let screen = Self.screen(&reader) else { return nil }
        screens.append(screen)
      }
    }

    private static func screen(_ reader: inout ByteCursor) -> Screen? {
      guard let root = reader.next(UInt32.self), reader.skip(28),
        let visual = reader.next(UInt32.self), reader.skip(2),
        let rootDepth = reader.next(UInt8.self), let depthCount = reader.next(UInt8.self)
      else { return nil }
      var screen = Screen(root: root, rootVisual: visual, rootDepth: rootDepth)
      for _ in 0..<depthCount {
        guard reader.skip(2), let visualCount = reader.next(UInt16.self), reader.skip(4)
        else { return nil }
        for _ in 0..<visualCount {
          guard let id = reader.next(UInt32.self), reader.skip(4),
            let red = reader.next(UInt32.self), let green = reader.next(UInt32.self),
            let blue = reader.next(UInt32.self), reader.skip(4)
          else { return nil }
          screen.colorMasks[id] = [red, green, blue]
        }
      }
      return screen
    }
  }

  /// Takes numbers out of bytes, and says when there are no more.
  private struct ByteCursor {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func skip(_ count: Int) -> Bool {
      guard count <= rest.count else { return false }
      rest = rest.dropFirst(count)
      return true
    }

    mutating func next<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
      let count = MemoryLayout<Number>.size
      guard count <= rest.count else { return nil }
      defer { rest = rest.dropFirst(count) }
      let number = rest.prefix(count).reversed().reduce(Number.zero) {
        $0 << 8 | Number(truncatingIfNeeded: $1)
      }
      return Number(littleEndian: number)
    }
  }
#endif
