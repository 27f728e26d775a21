import FrameBus
import Platform

/// The phase of a broadcast.
public enum BroadcastPhase: String, Hashable, Sendable, CaseIterable {
  /// No broadcast has started.
  case idle
  /// The roles are starting.
  case starting
  /// Samples reach the extension, and its destination accepts none of them, yet or any more.
  case connecting
  /// The destination has accepted a sample.
  case live
  /// Samples do not reach the extension; ``BroadcastPause`` gives the reasons.
  case paused
  /// It has ended.
  case finished

  /// The phase's number in a ``StateWord``.
  var code: UInt64 {
    switch self {
    case .idle: 0
    case .starting: 1
    case .live: 2
    case .paused: 3
    case .finished: 4
    case .connecting: 5
    }
  }

  /// Whether the broadcast has started and not ended.
  public var isActive: Bool { self != .idle && self != .finished }
}

/// Why a broadcast is paused. Several reasons can apply at once; it resumes when none does.
public enum BroadcastPause: UInt8, Hashable, Sendable, CaseIterable, Comparable,
  CustomStringConvertible
{
  /// The host requested it.
  case requested = 1
  /// The capture, or the application that publishes the source, died or has not started yet.
  case captureLost = 2
  /// The source is changing, such as to another screen size.
  case transition = 4
  /// The source has nothing to capture, such as a screen that is off.
  case unavailable = 8

  public var description: String {
    switch self {
    case .requested: "requested"
    case .captureLost: "captureLost"
    case .transition: "transition"
    case .unavailable: "unavailable"
    }
  }

  /// The reason in words, for people.
  public var explanation: String {
    switch self {
    case .requested: "it was asked to pause"
    case .captureLost: "nothing publishes its stream"
    case .transition: PauseReason.transition.explanation
    case .unavailable: PauseReason.unavailable.explanation
    }
  }

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Identifies one broadcast of a group, from its start to its end.
public struct SessionID: Hashable, Sendable, CustomStringConvertible {
  /// 16 hexadecimal digits.
  public let text: String

  /// Creates a new random identifier.
  init() { text = String(UInt64.random(in: 1 << 60...UInt64.max), radix: 16) }

  /// - Returns: nil unless the text consists of 16 hexadecimal digits.
  public init?(_ text: String) {
    guard text.utf8.count == 16, UInt64(text, radix: 16) != nil, text.first != "+" else {
      return nil
    }
    self.text = text
  }

  public var description: String { text }
}

/// The 64-bit state of the broadcast notification, for observers that need no more: the phase in
/// bits 0–7, the reasons of a pause in bits 8–15, and the session's last 32 bits in bits 32–63.
public struct StateWord: Hashable, Sendable {
  /// The number.
  public let rawValue: UInt64

  /// The state of a notification, such as `NotifyCenter.state(of:)` returns.
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

  /// The phase; idle for an unknown number.
  public var phase: BroadcastPhase {
    BroadcastPhase.allCases.first { $0.code == rawValue & 0xff } ?? .idle
  }
  /// Why samples do not reach the extension.
  public var pauses: [BroadcastPause] {
    BroadcastPause.allCases.filter { rawValue >> 8 & UInt64($0.rawValue) != 0 }
  }
}
