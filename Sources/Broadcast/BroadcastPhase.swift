import Platform

/// What a broadcast is doing.
public enum BroadcastPhase: String, Hashable, Sendable, CaseIterable {
  /// There is none.
  case idle
  /// The roles are being started.
  case starting
  /// Samples go to the extension.
  case live
  /// They do not; ``BroadcastPause`` says why.
  case paused
  case finished

  /// Its number in a ``StateWord``.
  var code: UInt64 {
    switch self {
    case .idle: 0
    case .starting: 1
    case .live: 2
    case .paused: 3
    case .finished: 4
    }
  }

  /// Whether the broadcast began and has not ended.
  public var isActive: Bool { self == .starting || self == .live || self == .paused }
}

/// Why no samples come. Several may hold at once; samples come again when none does.
public enum BroadcastPause: UInt8, Hashable, Sendable, CaseIterable, Comparable,
  CustomStringConvertible
{
  /// The host asked for it.
  case requested = 1
  /// The capture died, or has not come yet.
  case captureLost = 2
  /// The source changes into something else, such as another size of the screen.
  case transition = 4
  /// There is nothing to capture, such as a screen that is off.
  case unavailable = 8

  public var description: String {
    switch self {
    case .requested: "requested"
    case .captureLost: "captureLost"
    case .transition: "transition"
    case .unavailable: "unavailable"
    }
  }

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Names one broadcast of a group, from its start to its ending.
public struct SessionID: Hashable, Sendable, CustomStringConvertible {
  public let text: String

  /// One that there never was.
  init() { text = String(UInt64.random(in: 1 << 60...UInt64.max), radix: 16) }

  /// - Returns: nil unless it is 16 hexadecimal digits, as all are.
  public init?(_ text: String) {
    guard text.utf8.count == 16, UInt64(text, radix: 16) != nil, text.first != "+" else {
      return nil
    }
    self.text = text
  }

  public var description: String { text }
}

/// The 64 bits that the notification of a broadcast carries, for those who want no more than that:
/// the phase in bits 0–7, the reasons of a pause in bits 8–15, and the session's last 32 bits.
public struct StateWord: Hashable, Sendable {
  public let rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  init(_ record: BroadcastRecord?) {
    guard let record else {
      rawValue = 0
      return
    }
    let pauses = record.pauses.reduce(0) { $0 | UInt64($1.rawValue) }
    let session = UInt64(record.session.text.suffix(8), radix: 16) ?? 0
    rawValue = record.phase.code | pauses << 8 | session << 32
  }

  /// Idle for a number that no phase has.
  public var phase: BroadcastPhase {
    BroadcastPhase.allCases.first { $0.code == rawValue & 0xff } ?? .idle
  }
  public var pauses: [BroadcastPause] {
    BroadcastPause.allCases.filter { rawValue >> 8 & UInt64($0.rawValue) != 0 }
  }
}
