#if Media
  import CQR

  /// A text as a QR code (ISO/IEC 18004), for the camera of a phone.
  public struct QRCode: Sendable {
    /// The modules around the code that must stay light.
    private static let margin = 2
    private let width: Int
    /// Row by row; true is dark.
    private let isDark: [Bool]

    /// - Returns: nil if the text is too long.
    public init?(_ text: String) {
      let bytes = Array(text.utf8)
      // SAFETY: the library copies the bytes, and `width` squared modules are at `data` until the
      // code is freed.
      guard let code = unsafe QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M) else {
        return nil
      }
      defer { unsafe QRcode_free(code) }
      let side = unsafe Int(code.pointee.width)
      width = side
      isDark = (0..<side * side).map { unsafe code.pointee.data[$0] & 1 == 1 }
    }

    /// Lines of text, two modules in each character, for dark letters on a light ground.
    public var lines: [String] {
      let all = -Self.margin..<width + Self.margin
      return stride(from: all.lowerBound, to: all.upperBound, by: 2).map { row in
        all.map { column in
          switch (dark(row, column), dark(row + 1, column)) {
          case (true, true): "█"
          case (true, false): "▀"
          case (false, true): "▄"
          case (false, false): " "
          }
        }.joined()
      }
    }

    private func dark(_ row: Int, _ column: Int) -> Bool {
      (0..<width).contains(row) && (0..<width).contains(column) && isDark[row * width + column]
    }
  }
#endif
