#if Media
  import CXCB
  import FrameBus

  /// Which application is in front, as the window manager says it of a screen (EWMH:
  /// `_NET_ACTIVE_WINDOW`). Of a window alone, it is the one that it belongs to.
  struct ScreenFocus {
    private let target: CaptureTarget
    private let connection: XConnection
    private let activeWindow: xcb_atom_t
    /// Where toolkits write the name of the desktop entry, the best first.
    private let entries: [xcb_atom_t]
    /// Properties that decide what is told: of the screen, or of the window in front.
    private let deciding: Set<xcb_atom_t>
    /// The window in front, whose properties may change while it is. Not the target, which is
    /// watched anyhow.
    private var followed: XWindow?
    private(set) var isStale = true
    private var reported: ApplicationID?

    init(on target: CaptureTarget) throws(ScreenError) {
      self.target = target
      connection = target.screen.connection
      activeWindow = try connection.atom("_NET_ACTIVE_WINDOW")
      entries = [
        try connection.atom("_GTK_APPLICATION_ID"),
        try connection.atom("_KDE_NET_WM_DESKTOP_FILE"),
      ]
      let mark = try connection.atom(ProtectionRule.property)
      deciding = Set(
        entries + [
          activeWindow, mark, XCB_ATOM_WM_CLASS.rawValue, XCB_ATOM_WM_TRANSIENT_FOR.rawValue,
        ])
    }

    /// Asks to be told of changes. What there is now is looked at too.
    mutating func watch() {
      isStale = true
      if !target.isWindow { target.window.watch(by: connection) }
    }

    /// Asks to be told nothing, while nobody reads it.
    mutating func rest() {
      if !target.isWindow { target.window.watch(false, by: connection) }
      followed?.watch(false, by: connection)
      followed = nil
    }

    /// Another window may be protected now.
    mutating func markStale() { isStale = true }

    mutating func note(_ event: XEvent) {
      if event.isOverflow { isStale = true }
      if let atom = event.atom, deciding.contains(atom) { isStale = true }
    }

    /// Looks again if there was a change.
    /// - Parameters:
    ///   - protection: of what it hides, the name is not told either.
    ///   - notify: called if another application is in front than before.
    mutating func refresh(
      except protection: borrowing ProtectedWindows, _ notify: (ApplicationID?) -> Void
    ) throws(ScreenError) {
      guard isStale else { return }
      isStale = false
      var application: ApplicationID?
      let window = try frontWindow()
      // Watched before it is looked at, so that no change falls between.
      follow(window, besides: protection)
      if let window, try !protection.hides(window) {
        application = try self.application(of: window)
      }
      guard application != reported else { return }
      reported = application
      notify(application)
    }

    /// Selects events of the window in front, and no longer of the previous one, unless that window
    /// is watched for its protection too: a client has one event mask per window.
    private mutating func follow(_ window: XWindow?, besides protection: borrowing ProtectedWindows)
    {
      let next = window == target.window ? nil : window
      if let followed, followed != next, !protection.watches(followed) {
        followed.watch(false, by: connection)
      }
      followed = next
      next?.watch(by: connection)
    }

    private func frontWindow() throws(ScreenError) -> XWindow? {
      if target.isWindow { return target.window }
      let value = try target.window.property(activeWindow, connection) ?? []
      guard value.count == 4, let id = XWindow.words(of: value).first, id != 0 else { return nil }
      return XWindow(id)
    }

    /// What the window says of itself, if it says anything that can be shown.
    private func application(of window: XWindow) throws(ScreenError) -> ApplicationID? {
      for atom in entries {
        if let name = try window.property(atom, connection).flatMap(ApplicationID.init(bytes:)) {
          return name
        }
      }
      // The second is the name of its kind, which stays the same however it was started.
      return try window.classNames(connection)?.compactMap(ApplicationID.init(bytes:)).last
    }
  }
#endif
