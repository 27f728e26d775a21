#if Media
  import CXCB
  import FrameBus

  /// What is never to be seen in a frame: windows that a user names, and those that say it of
  /// themselves by the property `_FRAMEBUS_PROTECTED`.
  public struct ProtectionRule: Hashable, Sendable {
    /// Names of programs, as `xprop WM_CLASS` shows them: either of the two.
    public var programs: Set<String> = []
    /// Windows by their X id.
    public var windows: Set<UInt32> = []

    public init() {}

    /// Reads a window's id (`0x2a00007`), the name of a program, or `marked` for no more than the
    /// windows that say it of themselves.
    public mutating func add(_ text: String) {
      if text == Self.markedAlone { return }
      if text.hasPrefix("0x"), let id = UInt32(text.dropFirst(2), radix: 16) {
        windows.insert(id)
      } else {
        programs.insert(text)
      }
    }

    public static let markedAlone = "marked"
    static let property = "_FRAMEBUS_PROTECTED"
  }

  /// Where the windows lie that must not be seen.
  ///
  /// The server tells of every change that could move one, and what it tells of before it answers
  /// to a grab happened before that grab. So a grab is clean of them if nothing was told between
  /// ``refresh()`` and the answer (``isCurrent``), and otherwise has to be made again.
  ///
  /// A compositor paints later than the server tells: while it animates a window that goes or
  /// moves, and in its overviews, it shows what this cannot know of.
  struct ProtectedWindows: ~Copyable {
    private let connection: XConnection
    /// Which all places are counted from.
    private let target: CaptureTarget
    private let rule: ProtectionRule
    private let mark: xcb_atom_t
    private var windows: Set<XWindow> = []
    private let isNeeded: Bool
    private var watched: Set<XWindow> = []
    private var needsSearch: Bool
    private var needsBounds = false
    /// All of each window, also what others cover: what lies in front may be shaped or translucent.
    private(set) var areas: [PixelRect] = []

    /// Programs' windows lie in the root, or in the frames of a window manager in it, which may be
    /// windows of a program themselves.
    private static let deepestLevel = 4

    /// - Parameter rule: nil if every window may be seen: then no event is asked for.
    init(on target: CaptureTarget, _ rule: ProtectionRule?) throws(ScreenError) {
      self.target = target
      connection = target.screen.connection
      self.rule = rule ?? ProtectionRule()
      isNeeded = rule != nil
      needsSearch = isNeeded
      mark = try connection.atom(ProtectionRule.property)
    }

    /// Whether ``areas`` is true, as far as the server has told.
    var isCurrent: Bool { !needsSearch && !needsBounds }

    mutating func note(_ event: XEvent) {
      guard isNeeded else { return }
      switch Int32(event.type) {
      case XCB_CREATE_NOTIFY, XCB_REPARENT_NOTIFY: needsSearch = true
      case XCB_PROPERTY_NOTIFY:
        if event.atom == mark || event.atom == XCB_ATOM_WM_CLASS.rawValue { needsSearch = true }
      case XCB_CONFIGURE_NOTIFY, XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY, XCB_GRAVITY_NOTIFY,
        XCB_DESTROY_NOTIFY:
        needsBounds = true
      default: break
      }
    }

    /// Whether events of a window are wanted here, so that nobody else may ask for none.
    func watches(_ window: XWindow) -> Bool { watched.contains(window) }

    /// Brings ``areas`` up to date.
    /// - Returns: whether they are others than before.
    mutating func refresh() throws(ScreenError) -> Bool {
      if isCurrent { return false }
      if needsSearch { try search() }
      needsSearch = false
      needsBounds = false
      let before = areas
      areas = []
      for window in windows {
        if let bounds = try window.bounds(on: target.window, connection) { areas.append(bounds) }
      }
      areas.sort { ($0.y, $0.x, $0.height, $0.width) < ($1.y, $1.x, $1.height, $1.width) }
      return areas != before
    }

    /// Asks for no more events, which would pile up in the server while nobody reads them. The next
    /// ``refresh()`` begins anew.
    mutating func rest() {
      for window in watched { window.watch(false, by: connection) }
      watched = []
      needsSearch = isNeeded
      connection.flush()
    }

    private mutating func search() throws(ScreenError) {
      windows = []
      try searchOutwards()
      var level = [target.window]
      for depth in 0...Self.deepestLevel {
        var next: [XWindow] = []
        for window in level {
          // Watched before it is looked at, so that no change falls between.
          watch(window)
          // What lies within a protected window is covered with it.
          if depth > 0, try hides(window) {
            windows.insert(window)
          } else {
            next += try window.children(connection) ?? []
          }
        }
        level = next
      }
      for id in rule.windows { try watchUpwards(XWindow(id)) }
    }

    /// A window that is captured alone is hidden as a whole if it, or what it lies in, is.
    private mutating func searchOutwards() throws(ScreenError) {
      var next: XWindow? = target.window
      while let current = next, current.id != target.screen.root {
        watch(current)
        if try hides(current) { windows.insert(target.window) }
        next = try current.parent(connection)
      }
    }

    private mutating func watch(_ window: XWindow) {
      window.watch(by: connection)
      watched.insert(window)
    }

    /// Whether a window is one of those that must not be seen.
    func hides(_ window: XWindow) throws(ScreenError) -> Bool {
      guard isNeeded else { return false }
      if rule.windows.contains(window.id) { return true }
      if let value = try window.property(mark, connection), value.contains(where: { $0 != 0 }) {
        return true
      }
      guard !rule.programs.isEmpty else { return false }
      let names = try window.classNames(connection) ?? []
      return names.contains { rule.programs.contains(String(decoding: $0, as: UTF8.self)) }
    }

    /// A window that is named may lie anywhere; it moves with all that it lies in.
    private mutating func watchUpwards(_ window: XWindow) throws(ScreenError) {
      var next: XWindow? = window
      while let current = next, current != target.window {
        watch(current)
        next = try current.parent(connection)
      }
      // What lies elsewhere is not in the picture, even where it covers the target.
      if next != nil { windows.insert(window) }
    }
  }
#endif
