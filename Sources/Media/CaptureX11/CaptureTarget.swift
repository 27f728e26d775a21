#if Media
  import CXCB
  import FrameBus

  /// What is captured: all that a screen shows, or one window alone, whatever covers it.
  final class CaptureTarget {
    let screen: RootScreen
    let window: XWindow
    let connection: XConnection
    private var picture: WindowPicture?
    /// The window and all that it lies in: it is seen as long as they are.
    private var chain: Set<XWindow> = []
    /// Goes with the window, which its id does not: another window may have that later.
    private let token: xcb_damage_damage_t

    enum Presence: Hashable, Sendable {
      case shown
      /// Nobody sees it: the window is hidden, or the screen is off or locked.
      case hidden
      /// The window was closed.
      case gone
    }

    /// - Parameter id: of the window; nil for the whole screen.
    init(_ id: UInt32?, on screen: RootScreen) throws(ScreenError) {
      self.screen = screen
      connection = screen.connection
      window = XWindow(id ?? screen.root)
      token = connection.makeID()
      guard isWindow else { return }
      // SAFETY: the connection is open as long as `screen` lives.
      let made = unsafe try connection.check(
        xcb_damage_create_checked(
          connection.pointer, token, window.id, UInt8(XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY.rawValue)))
      try check()
      // It had gone before it could be looked at.
      if made != nil { throw .noSuchWindow(window.id, display: connection.display) }
      // SAFETY: the connection is open as long as `screen` lives. The server undoes it at its end.
      unsafe xcb_composite_redirect_window(
        connection.pointer, window.id, UInt8(XCB_COMPOSITE_REDIRECT_AUTOMATIC.rawValue))
    }

    var isWindow: Bool { window.id != screen.root }

    private func check() throws(ScreenError) {
      let display = connection.display
      guard try connection.firstEvent(of: "Composite") != nil else {
        throw .missingExtension("Composite", display: display)
      }
      let version = unsafe xcb_composite_query_version(connection.pointer, 0, 4)
      let _: XReply<xcb_composite_query_version_reply_t> = try connection.reply(
        to: "Composite QueryVersion", version.sequence)
      guard let appearance = try window.appearance(connection) else {
        throw .noSuchWindow(window.id, display: display)
      }
      guard let visual = appearance.visual else {
        throw .windowWithoutPicture(window.id, display: display)
      }
      guard connection.screen.colorMasks[visual] == RootScreen.colorMasks
      else { throw .unsupportedPixels(display: display) }
    }

    // MARK: Where it is

    /// The size of what a grab names; nil if it is gone.
    func size() throws(ScreenError) -> (width: Int, height: Int)? {
      if let outline = picture?.outline { return (outline.width, outline.height) }
      return try window.geometry(connection).map { (Int($0.width), Int($0.height)) }
    }

    /// What a grab names, and where in it the target begins.
    var drawable: xcb_drawable_t { picture?.pixmap ?? window.id }
    var border: Int { picture?.outline.border ?? 0 }

    /// Asks to be told when the window is shown, hidden, closed or gets another size.
    /// - Parameter protection: what it watches is watched on.
    private func watchWindow(besides protection: borrowing ProtectedWindows) throws(ScreenError) {
      let former = chain
      chain = []
      try window.forEachAround(connection, on: screen) { window throws(ScreenError) in
        window.watch(by: connection)
        chain.insert(window)
      }
      for window in former where !chain.contains(window) && !protection.watches(window) {
        window.watch(false, by: connection)
      }
    }

    /// Whether it is still the window that it was. Waits until the server has answered.
    private func isSame() throws(ScreenError) -> Bool {
      // SAFETY: the connection is open as long as `screen` lives.
      try connection.check(
        unsafe xcb_damage_subtract_checked(connection.pointer, token, 0, 0)) == nil
    }

    /// Whether it moves when a window does; not of the screen.
    func liesIn(_ window: XWindow) -> Bool { chain.contains(window) }

    /// Asks to be told nothing, until the next ``look(besides:)``.
    func rest() {
      for window in chain { window.watch(false, by: connection) }
      chain = []
    }

    /// Whether an event may mean another size or presence.
    func concerns(_ event: XEvent) -> Bool {
      if event.isOverflow { return true }
      if event.type == screen.resizeEvent { return !isWindow }
      if event.type == screen.saverEvent { return true }
      guard let changed = event.window, chain.contains(changed) else { return false }
      switch Int32(event.type) {
      case XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY, XCB_REPARENT_NOTIFY, XCB_DESTROY_NOTIFY: return true
      // Where it lies does not matter: others may move it without rest.
      case XCB_CONFIGURE_NOTIFY: return changed == window && event.outline != picture?.outline
      default: return false
      }
    }

    /// Whether an event means that the window is shown, or something that it lies in.
    func isShown(by event: XEvent) -> Bool {
      Int32(event.type) == XCB_MAP_NOTIFY && event.window.map(chain.contains) == true
    }

    /// Looks what there is to grab.
    /// - Parameter protection: what it watches is watched on.
    func check(besides protection: borrowing ProtectedWindows) throws(ScreenError) -> Presence {
      if try screen.isHiddenBySaver() { return .hidden }
      guard isWindow else { return .shown }
      // Watched before it is looked at, so that no change falls between.
      try watchWindow(besides: protection)
      // The server makes a new one whenever the window is shown or gets another size.
      picture = nil
      picture = try WindowPicture(of: window, connection)
      // Asked last: then it was the same before.
      guard try isSame() else { return .gone }
      return picture == nil ? .hidden : .shown
    }
  }

  /// A window's own picture, which the server keeps apart from the screen's (COMPOSITE extension).
  final class WindowPicture {
    let pixmap: xcb_pixmap_t
    let outline: XWindow.Outline
    private let connection: XConnection

    /// - Returns: nil while the window is not shown: it then has none. Nil also if its size or
    ///   border changed meanwhile, of which an event is on the way: where in the picture the window
    ///   begins is then not known.
    init?(of window: XWindow, _ connection: XConnection) throws(ScreenError) {
      let pixmap = connection.makeID()
      // SAFETY: the connection is open; the error, if any, is freed by `check`.
      let cookie = unsafe xcb_composite_name_window_pixmap_checked(
        connection.pointer, window.id, pixmap)
      guard try connection.check(cookie) == nil else { return nil }
      let size = try XWindow(pixmap).geometry(connection)
      // Asked for after the picture got its name: others change the border whenever they like.
      let now = try window.geometry(connection)
      guard let size, let now,
        Int(size.width) == Int(now.width) + 2 * Int(now.border_width),
        Int(size.height) == Int(now.height) + 2 * Int(now.border_width),
        // No grab can name what lies further to the right or below.
        size.width <= Int16.max, size.height <= Int16.max
      else {
        // SAFETY: the connection is open, and nobody else has the name.
        unsafe xcb_free_pixmap(connection.pointer, pixmap)
        return nil
      }
      self.pixmap = pixmap
      outline = XWindow.Outline(
        width: Int(now.width), height: Int(now.height), border: Int(now.border_width))
      self.connection = connection
    }

    /// SAFETY: the connection is open as long as this object lives.
    deinit { unsafe xcb_free_pixmap(connection.pointer, pixmap) }
  }
#endif
