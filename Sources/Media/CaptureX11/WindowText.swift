#if Media
  /// What a window's property may say, whatever its writer claims of the encoding: text in Latin-1
  /// (STRING, ICCCM section 2.7.1), in UTF-8, or in COMPOUND_TEXT of only these two.
  struct WindowText {
    /// The likeliest first; empty if there is no text.
    let readings: [String]

    /// - Parameter bytes: may be cut off within a character.
    init(_ bytes: some Collection<UInt8>) {
      let bytes = bytes.prefix(Self.maximumBytes).prefix { $0 != 0 }
      if bytes.isEmpty {
        readings = []
      } else if let compound = Self.compound(bytes) {
        readings = [compound]
      } else {
        let latin1 = String(String.UnicodeScalarView(bytes.map(Unicode.Scalar.init)))
        readings = [Self.utf8(bytes), latin1].compactMap(\.self)
      }
    }

    private static let maximumBytes = 1024

    static func utf8(_ bytes: some Collection<UInt8>) -> String? {
      let bytes = bytes.prefix(maximumBytes).prefix { $0 != 0 }
      if bytes.isEmpty { return nil }
      for cut in 0...(bytes.count > maximumBytes - 4 ? 3 : 0) {
        if let text = String(validating: bytes.dropLast(cut), as: UTF8.self) { return text }
      }
      return nil
    }

    private static let escape: UInt8 = 0x1B
    private static let utf8Begin: [UInt8] = [0x1B, 0x25, 0x47]
    private static let utf8End: [UInt8] = [0x1B, 0x25, 0x40]
    /// ASCII and Latin-1, which are in effect at the beginning too.
    private static let sameSets: [[UInt8]] = [[0x1B, 0x28, 0x42], [0x1B, 0x2D, 0x41]]

    /// - Returns: nil if the text has no escape sequences, or those of other character sets.
    private static func compound(_ bytes: some Collection<UInt8>) -> String? {
      guard bytes.contains(escape) else { return nil }
      var rest = Array(bytes)[...]
      var text = ""
      while let first = rest.first {
        if first != escape {
          text.unicodeScalars.append(Unicode.Scalar(first))
          rest = rest.dropFirst()
        } else if rest.starts(with: utf8Begin) {
          rest = rest.dropFirst(3)
          let part = rest.prefix { $0 != escape }
          guard let part = String(validating: part, as: UTF8.self) else { return nil }
          text += part
          rest = rest.drop { $0 != escape }
          if rest.starts(with: utf8End) { rest = rest.dropFirst(3) }
        } else if sameSets.contains(where: { rest.starts(with: $0) }) {
          rest = rest.dropFirst(3)
        } else {
          return nil
        }
      }
      return text
    }
  }
#endif
