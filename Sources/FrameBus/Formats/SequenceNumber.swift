/// A frame's number within one generation of a stream: from 1, without gaps, never reused.
public struct SequenceNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number.
  public let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public var description: String { String(rawValue) }
}
