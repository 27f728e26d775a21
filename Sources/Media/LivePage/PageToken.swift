#if Media
  /// The secret in the page's address, which proves that a client knows it: 128 random bits, unless
  /// the user chose one.
  public struct PageToken: Sendable, CustomStringConvertible {
    private static let byteCount = 16
    public let description: String

    /// - Returns: nil unless it is 16 to 64 letters, digits, `-` and `_`.
    public init?(_ text: String) {
      let allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8
      guard (16...64).contains(text.utf8.count), text.utf8.allSatisfy(allowed.contains) else {
        return nil
      }
      description = text
    }

    init() {
      var random = SystemRandomNumberGenerator()
      description = (0..<Self.byteCount).map { _ in
        let digits = String(UInt8.random(in: 0...255, using: &random), radix: 16)
        return digits.count == 1 ? "0" + digits : digits
      }.joined()
    }

    /// Compares in constant time, so that the token cannot be guessed digit by digit.
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
