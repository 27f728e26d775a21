#if Media
  /// What proves that somebody was shown the page's address: 128 bits that nobody guesses.
  struct PageToken: Sendable, CustomStringConvertible {
    private static let byteCount = 16
    let description: String

    init() {
      var random = SystemRandomNumberGenerator()
      description = (0..<Self.byteCount).map { _ in
        let digits = String(UInt8.random(in: 0...255, using: &random), radix: 16)
        return digits.count == 1 ? "0" + digits : digits
      }.joined()
    }

    /// Takes as long wherever the two differ, so that nobody can find it digit by digit.
    func equals(_ text: some StringProtocol) -> Bool {
      let own = Array(description.utf8)
      let other = Array(text.utf8)
      guard own.count == other.count else { return false }
      var difference: UInt8 = 0
      for (left, right) in zip(own, other) { difference |= left ^ right }
      return difference == 0
    }
  }
#endif
