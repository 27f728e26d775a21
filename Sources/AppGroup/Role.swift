/// A role in a group. The manifest lists the users who may hold it; the kernel identifies the user
/// of a process.
public struct Role: Hashable, Sendable, Comparable, RawRepresentable, CustomStringConvertible {
  public let rawValue: String

  /// Manages settings and sign-in; starts and stops broadcasts.
  public static let host = Role(checked: "host")
  /// Owns the screen, camera or sound source; publishes frames.
  public static let capture = Role(checked: "capture")
  /// Uploads frames; has access to the network and the credential.
  public static let `extension` = Role(checked: "extension")

  /// The roles of every group. Their holders may publish streams.
  public static let publishing: [Role] = [.host, .capture, .extension]

  /// Returns nil unless the text has 1…32 of a-z, 0-9 and -, and begins with a letter.
  public init?(rawValue: String) {
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    guard (1...32).contains(rawValue.utf8.count), let first = rawValue.utf8.first,
      letters.contains(first),
      rawValue.utf8.allSatisfy({
        letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "-")
      })
    else { return nil }
    self.rawValue = rawValue
  }

  private init(checked rawValue: String) { self.rawValue = rawValue }

  public var description: String { rawValue }
  public static func < (left: Role, right: Role) -> Bool { left.rawValue < right.rawValue }
}
