/// A string. `"x" as CFString` and `name as String` compile as with Core Foundation.
public typealias CFString = String
/// A dictionary of anything.
public typealias CFDictionary = [AnyHashable: Any]

/// The name of a notification.
public struct CFNotificationName: RawRepresentable, Hashable, Sendable {
  public let rawValue: CFString

  /// A name.
  public init(_ rawValue: CFString) { self.rawValue = rawValue }
  public init(rawValue: CFString) { self.rawValue = rawValue }
}

/// How to handle posts while the observing application is suspended. Ignored, as by the Darwin
/// center: FrameBus does not suspend applications.
public enum CFNotificationSuspensionBehavior: Int, Sendable {
  /// Nothing is delivered.
  case drop = 1
  /// One delivery for all posts.
  case coalesce = 2
  /// Deliveries wait.
  case hold = 3
  /// Deliveries arrive at once.
  case deliverImmediately = 4
}

/// The callback of an observer: its arguments are the center, the observer and the name it was
/// added with. Object and user info are nil, because the Darwin center does not carry them.
public typealias CFNotificationCallback =
  @Sendable (
    CFNotificationCenter?, UnsafeMutableRawPointer?, CFNotificationName?, UnsafeRawPointer?,
    CFDictionary?
  ) -> Void
