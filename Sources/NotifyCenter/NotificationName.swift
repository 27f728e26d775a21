/// The name of a notification: any UTF-8 text of 1…512 bytes without a zero byte. By convention,
/// reverse DNS, as in `org.example.broadcastStarted`.
///
/// Four prefixes have a special meaning:
///
/// | prefix | who may post and observe it |
/// | --- | --- |
/// | `self.` | this process only: the name never leaves it |
/// | `user.uid.N` | the processes of user N only |
/// | `framebus.` | FrameBus posts; every member may observe |
/// | any other | as the group's manifest says; by default, every member |
public struct NotificationName: Hashable, Sendable, CustomStringConvertible {
  /// The most bytes of a name.
  public static let maximumBytes = 512

  /// The name itself.
  public let text: String
  /// FNV-1a of the bytes, never 0: where the search for the name begins in a table.
  let hash: UInt64
  let scope: Scope

  /// - Throws: ``NotifyError/invalidName(_:why:)``.
  public init(_ text: String) throws(NotifyError) {
    let count = text.utf8.count
    guard (1...Self.maximumBytes).contains(count) else {
      throw .invalidName(text, why: "it has \(count) bytes; use 1 to \(Self.maximumBytes)")
    }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 {
      if byte == 0 { throw .invalidName(text, why: "it contains a zero byte") }
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    self.text = text
    self.hash = max(hash, 1)
    scope = Scope(text)
    if case .user(nil) = scope {
      throw .invalidName(text, why: "“user.uid.” needs a user's number, as in user.uid.1000")
    }
  }

  /// The processes that share a name, by its prefix.
  enum Scope: Hashable, Sendable {
    case process
    /// Nil if the prefix has no number.
    case user(UInt32?)
    case system
    case group

    private static let userPrefix = "user.uid."

    init(_ text: String) {
      if text.hasPrefix("self.") {
        self = .process
      } else if text.hasPrefix("framebus.") {
        self = .system
      } else if text.hasPrefix(Self.userPrefix) {
        let digits = text.dropFirst(Self.userPrefix.count).prefix { $0 != "." }
        let isNumber = digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
        self = .user(isNumber ? UInt32(digits) : nil)
      } else {
        self = .group
      }
    }
  }

  public var description: String { text }

  /// Compares the names.
  public static func == (left: Self, right: Self) -> Bool {
    // The hash covers the bytes: it distinguishes names that `==` on texts treats as equal.
    left.hash == right.hash && left.text == right.text
  }

  /// Uses a number that was computed once.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
