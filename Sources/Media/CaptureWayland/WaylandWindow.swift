#if Media
  import CWayland

  /// A window of a compositor that lists them (ext-foreign-toplevel-list).
  public struct WaylandWindow: Hashable, Sendable {
    let number: UInt32
    /// As `wayland-window:ID` takes it. Untrusted text.
    public let id: String
    /// For people. Untrusted text.
    public let title: String
    /// The program's name for itself, such as `org.mozilla.firefox`. Untrusted text.
    public let program: String

    init(_ window: wayland_window) {
      number = window.number
      id = text(of: window.id)
      title = text(of: window.title)
      program = text(of: window.program)
    }

    /// Those of the compositor that `WAYLAND_DISPLAY` names; nil if it does not list them.
    public static func all() throws(WaylandError) -> [WaylandWindow]? {
      try Compositor(nil, stop: nil).windows
    }
  }
#endif
