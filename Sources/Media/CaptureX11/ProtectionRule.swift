#if Media
  import Capture

  /// The windows that no frame may show: those that a user names, and those that request it by the
  /// property `_FRAMEBUS_PROTECTED`; with each, its frame, menus, tooltips and dialogs.
  public struct ProtectionRule: Hashable, Sendable {
    /// Names of programs: either of the two that `xprop WM_CLASS` shows.
    public var programs: Set<String> = []
    /// Windows by their X id.
    public var windows: Set<UInt32> = []

    public init() {}

    /// The rule of several texts that were checked.
    public init(_ rules: [WindowRule]) { for rule in rules { add(rule.text) } }

    /// Parses a window's ID (`0x2a00007` or `44040199`), the name of a program, or `marked` for
    /// only the windows that have the property.
    public mutating func add(_ text: String) {
      if text == Self.markedAlone { return }
      if case .id(let id) = WindowID(text) {
        windows.insert(id)
      } else {
        programs.insert(text)
      }
    }

    public static let markedAlone = "marked"
    static let property = "_FRAMEBUS_PROTECTED"
  }
#endif
