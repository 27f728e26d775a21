#if Media
  import CXCB

  /// Properties of the root and of protected windows that tell of animations of a compositor, and
  /// which windows stand for the root. Only another value of them means anything: any client can
  /// write them, as often as it likes.
  struct WindowHints {
    private struct Hint: Hashable {
      let window: XWindow
      let atom: xcb_atom_t
    }

    private let root: XWindow
    private let ofWindows: Set<xcb_atom_t>
    private let ofDesktops: Set<xcb_atom_t>
    private let virtualRoots: xcb_atom_t
    /// When they were last looked at.
    private var values: [Hint: [UInt8]] = [:]
    private var changed: Set<Hint> = []

    init(root: XWindow, _ connection: XConnection) throws(ScreenError) {
      self.root = root
      ofWindows = Set(try connection.atoms(["WM_STATE", "_NET_WM_DESKTOP"]))
      ofDesktops = Set(
        try connection.atoms(
          ["_NET_CURRENT_DESKTOP", "_NET_DESKTOP_VIEWPORT", "_NET_SHOWING_DESKTOP"]))
      virtualRoots = try connection.atom("_NET_VIRTUAL_ROOTS")
    }

    var isCurrent: Bool { changed.isEmpty }
    var changedCount: Int { changed.count }

    mutating func note(_ atom: xcb_atom_t, of window: XWindow) {
      let isHint =
        window == root
        ? atom == virtualRoots || ofDesktops.contains(atom) : ofWindows.contains(atom)
      if isHint { changed.insert(Hint(window: window, atom: atom)) }
    }

    mutating func forget(_ window: XWindow) {
      for atom in ofWindows {
        let hint = Hint(window: window, atom: atom)
        values[hint] = nil
        changed.remove(hint)
      }
    }

    /// Looks at those that changed.
    mutating func read(
      _ connection: XConnection
    ) throws(ScreenError) -> (isAnimated: Bool, hasVirtualRoots: Bool) {
      var news = (isAnimated: false, hasVirtualRoots: false)
      while let hint = changed.popFirst() {
        let value = try hint.window.property(hint.atom, connection) ?? []
        if values.updateValue(value, forKey: hint) == value { continue }
        if hint.atom == virtualRoots {
          news.hasVirtualRoots = true
        } else {
          news.isAnimated = true
        }
      }
      return news
    }

    /// Forgets all windows, and looks at the root.
    /// - Returns: the windows that a window manager shows in place of the root. None is smaller
    ///   than that: any client can name windows, such as a protected one's frame.
    mutating func restart(_ connection: XConnection) throws(ScreenError) -> Set<XWindow> {
      values = [:]
      changed = []
      for atom in ofDesktops.union([virtualRoots]) {
        values[Hint(window: root, atom: atom)] = try root.property(atom, connection) ?? []
      }
      let named = values[Hint(window: root, atom: virtualRoots)] ?? []
      var found: Set<XWindow> = []
      guard let screen = try root.geometry(connection) else { return found }
      for window in XWindow.words(of: named).prefix(Self.maximumRootCount).map(XWindow.init) {
        guard let size = try window.geometry(connection) else { continue }
        if size.width >= screen.width, size.height >= screen.height { found.insert(window) }
      }
      return found
    }

    private static let maximumRootCount = 64
  }
#endif
