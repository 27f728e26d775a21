/// What a member may be in a group. The manifest says which users may hold which role; the
/// kernel says which user a process is.
public struct Role: Hashable, Sendable, Comparable, RawRepresentable, CustomStringConvertible {
  public let rawValue: String

  /// Settings, sign-in, starting and stopping.
  public static let host = Role(checked: "host")
  /// Owns the screen, camera or sound source; publishes frames.
  public static let capture = Role(checked: "capture")
  /// Uploads; has the network and the credential.
  public static let `extension` = Role(checked: "extension")

  /// The roles that every group has. Their holders may publish streams.
  public static let publishing: [Role] = [.host, .capture, .extension]

  /// Nil unless the text is 1…32 of a-z, 0-9 and -, beginning with a letter.
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
