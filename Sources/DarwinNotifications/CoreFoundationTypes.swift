/// Text: so `"x" as CFString` and `name as String` compile as they do with Core Foundation.
public typealias CFString = String
public typealias CFDictionary = [AnyHashable: Any]

/// The name of a notification.
public struct CFNotificationName: RawRepresentable, Hashable, Sendable {
  public let rawValue: CFString

  public init(_ rawValue: CFString) { self.rawValue = rawValue }
  public init(rawValue: CFString) { self.rawValue = rawValue }
}

/// What to do with posts while the observing application is suspended: nothing here suspends
/// applications, and the Darwin center ignores it too.
public enum CFNotificationSuspensionBehavior: Int, Sendable {
  case drop = 1
  case coalesce = 2
  case hold = 3
  case deliverImmediately = 4
}

/// What an observer is called with: the center, the observer and the name it was added with; no
/// object and no user info, which the Darwin center does not carry.
public typealias CFNotificationCallback =
  @Sendable (
    CFNotificationCenter?, UnsafeMutableRawPointer?, CFNotificationName?, UnsafeRawPointer?,
    CFDictionary?
  ) -> Void
