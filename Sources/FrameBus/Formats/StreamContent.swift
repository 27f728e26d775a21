/// What the pictures of a stream show, as its publisher states it.
public enum StreamContent: UInt32, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// Neither a screen nor a window, such as a file, a test pattern or sound.
  case other = 0
  /// A whole screen.
  case screen = 1
  /// One window.
  case window = 2

  /// Whether subscribers see what a user sees: ``ScreenCapturedState`` covers these streams.
  public var isOnScreen: Bool { self != .other }

  public var description: String {
    switch self {
    case .other: "other"
    case .screen: "screen"
    case .window: "window"
    }
  }
}
