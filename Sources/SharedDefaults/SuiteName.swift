/// The name of a suite of settings within a group. By convention it is the group's own name, such
/// as `group.dev.example.studio`.
public struct SuiteName: Hashable, Sendable, CustomStringConvertible {
  /// The most bytes of a name.
  public static let maximumBytes = 128

  /// The name itself.
  public let text: String

  /// - Parameter text: 1…128 bytes of `A–Z`, `a–z`, `0–9`, `.`, `-` and `_`, beginning with a
  ///   letter or digit.
  /// - Throws: ``DefaultsError/invalidName(_:)``.
  public init(_ text: String) throws(DefaultsError) {
    let isAllowed = text.utf8.enumerated().allSatisfy { index, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): index > 0
      default: false
      }
    }
    guard isAllowed, (1...Self.maximumBytes).contains(text.utf8.count) else {
      throw .invalidName(text)
    }
    self.text = text
  }

  public var description: String { text }

  private static let suffix = ".suite"

  var fileName: String { text + Self.suffix }

  /// Returns nil if the file name is not that of a suite.
  init?(fileName: String) {
    guard fileName.hasSuffix(Self.suffix),
      let name = try? SuiteName(String(fileName.dropLast(Self.suffix.count)))
    else { return nil }
    self = name
  }
}
