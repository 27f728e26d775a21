/// What a desktop's portal lets its user choose. The numbers are bits of the portal's interface.
public enum PortalPicture: UInt32, Hashable, Sendable, CaseIterable {
  /// A whole monitor.
  case monitor = 1
  /// One window.
  case window = 2
  /// A monitor that the desktop creates for the capture.
  case virtual = 4

  /// The word that follows `portal:`.
  public var text: String {
    switch self {
    case .monitor: "monitor"
    case .window: "window"
    case .virtual: "virtual"
    }
  }
}
