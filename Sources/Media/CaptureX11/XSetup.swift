#if Media
  import Platform

  /// What a server says of itself when a client connects (X11 protocol, chapter 8, "Connection
  /// Setup"). libxcb's own iterators believe every count in it; here each is checked.
  struct XSetup: Hashable, Sendable {
    var isLittleEndian: Bool
    /// The bits of an ID that its client chooses; the others are the same in all of its IDs.
    var idMask: UInt32
    /// Bits that a pixel of a depth takes in an image.
    var bitsPerPixel: [UInt8: UInt8] = [:]
    var screens: [Screen] = []
    /// The first and the last number that a key has.
    var keycodes: ClosedRange<UInt8>

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
      guard let setup = try? XSetup(parsing: bytes) else { return nil }
      self = setup
    }

    private init(parsing bytes: [UInt8]) throws(FormatError) {
      var parser = ByteParser(bytes)
      try parser.skip(16)
      idMask = try parser.integer(UInt32.self)
      try parser.skip(4)
      let vendorBytes = try parser.integer(UInt16.self)
      let longestRequest = try parser.integer(UInt16.self)
      let screenCount = try parser.integer(UInt8.self)
      let formatCount = try parser.integer(UInt8.self)
      isLittleEndian = try parser.integer(UInt8.self) == 0
      try parser.skip(3)
      let firstKey = try parser.integer(UInt8.self)
      let lastKey = try parser.integer(UInt8.self)
      keycodes = firstKey...max(firstKey, lastKey)
      try parser.skip(4)
      guard idMask.nonzeroBitCount >= 18, longestRequest >= 4096 else { throw .wrong }
      try parser.skip((Int(vendorBytes) + 3) / 4 * 4)
      for _ in 0..<formatCount {
        let depth = try parser.integer(UInt8.self)
        bitsPerPixel[depth] = try parser.integer(UInt8.self)
        try parser.skip(6)
      }
      for _ in 0..<screenCount { screens.append(try Self.screen(&parser)) }
    }

    private static func screen(_ parser: inout ByteParser) throws(FormatError) -> Screen {
      let root = try parser.integer(UInt32.self)
      try parser.skip(28)
      let visual = try parser.integer(UInt32.self)
      try parser.skip(2)
      let rootDepth = try parser.integer(UInt8.self)
      let depthCount = try parser.integer(UInt8.self)
      var screen = Screen(root: root, rootVisual: visual, rootDepth: rootDepth)
      for _ in 0..<depthCount {
        try parser.skip(2)
        let visualCount = try parser.integer(UInt16.self)
        try parser.skip(4)
        for _ in 0..<visualCount {
          let id = try parser.integer(UInt32.self)
          try parser.skip(4)
          screen.colorMasks[id] = [
            try parser.integer(UInt32.self), try parser.integer(UInt32.self),
            try parser.integer(UInt32.self),
          ]
          try parser.skip(4)
        }
      }
      return screen
    }
  }
#endif
