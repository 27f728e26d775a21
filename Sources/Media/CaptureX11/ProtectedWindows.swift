#if Media
  import CXCB
  import FrameBus

  /// The windows that no frame may show: those that a user names, and those that request it by the
  /// property `_FRAMEBUS_PROTECTED`.
  public struct ProtectionRule: Hashable, Sendable {
    /// Names of programs: either of the two that `xprop WM_CLASS` shows.
    public var programs: Set<String> = []
    /// Windows by their X id.
    public var windows: Set<UInt32> = []

    public init() {}

    /// Parses a window's ID (`0x2a00007`), the name of a program, or `marked` for only the windows
    /// that have the property.
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

  /// The areas of the windows that must not be seen.
  ///
  /// The server tells of every change that could move one, and what it tells of before it answers
  /// to a grab happened before that grab. So a grab is clean of them if nothing was told between
  /// ``refresh()`` and the answer (``isCurrent``), and otherwise has to be made again. What other
  /// clients do to windows that are not protected costs a look at those windows, and no frame.
  ///
  /// A compositor paints later than the server tells: while it animates a window that goes or
  /// moves, and in its overviews, it shows what this cannot know of.
  struct ProtectedWindows: ~Copyable {
    private let connection: XConnection
    /// Which all places are counted from.
    private let target: CaptureTarget
    private let rule: ProtectionRule
    private let mark: xcb_atom_t
    private let isNeeded: Bool
    /// All windows in the target but those in hidden ones, each with what it lies in.
    private var parents: [XWindow: XWindow] = [:]
    /// What a target that is a window lies in, and itself.
    private var around: Set<XWindow> = []
    private var hidden: Set<XWindow> = []
    /// The hidden windows and all that they lie in: who moves one of these may move them.
    private var placing: Set<XWindow> = []
    /// Windows to be looked at, with all that lies in them.
    private var stale: Set<XWindow> = []
    private var needsSearch: Bool
    private var needsBounds = false
    /// All of each window, also what others cover: what lies in front may be shaped or translucent.
    private(set) var areas: [PixelRect] = []

    /// The most windows that are searched. No server has as many in practice.
    private static let maximumWindowCount = 1 << 17
    /// Windows whose questions are under way at once.
    private static let batch = 128

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
    var isCurrent: Bool { !needsSearch && !needsBounds && stale.isEmpty }

    mutating func note(_ event: XEvent) {
      guard isNeeded else { return }
      if event.isOverflow { needsSearch = true }
      guard let window = event.window else { return }
      switch Int32(event.type) {
      case XCB_CREATE_NOTIFY:
        if let parent = event.parent, isInside(parent) { place(window, in: parent) }
      case XCB_REPARENT_NOTIFY:
        // What a target that is a window lies in may be another now.
        if target.isWindow { needsSearch = true }
        if let parent = event.parent { place(window, in: parent) }
      case XCB_PROPERTY_NOTIFY:
        guard event.atom == mark || event.atom == XCB_ATOM_WM_CLASS.rawValue else { return }
        if around.contains(window) { needsSearch = true }
        if parents[window] != nil { stale.insert(window) }
      case XCB_DESTROY_NOTIFY: forget(window)
      default: if placing.contains(window) { needsBounds = true }
      }
    }

    private func isInside(_ window: XWindow) -> Bool {
      window == target.window || parents[window] != nil
    }

    private mutating func place(_ window: XWindow, in parent: XWindow) {
      parents[window] = parent
      stale.insert(window)
      if placing.contains(window) { needsBounds = true }
    }

    private mutating func forget(_ window: XWindow) {
      parents[window] = nil
      stale.remove(window)
      if hidden.remove(window) != nil { needsBounds = true }
    }

    /// Whether events of a window are wanted here, so that nobody else may ask for none.
    func watches(_ window: XWindow) -> Bool { isInside(window) || around.contains(window) }

    /// Brings ``areas`` up to date.
    /// - Returns: whether they are others than before.
    mutating func refresh() throws(ScreenError) -> Bool {
      if isCurrent { return false }
      if needsSearch { try searchAll() }
      try search(stale)
      stale = []
      guard needsBounds else { return false }
      needsBounds = false
      let before = areas
      areas = try bounds()
      findPlacing()
      return areas != before
    }

    /// Asks for no more events, which would pile up in the server while nobody reads them. The next
    /// ``refresh()`` begins anew.
    mutating func rest() {
      guard isNeeded else { return }
      for window in [target.window] + parents.keys + around { window.watch(false, by: connection) }
      parents = [:]
      around = []
      needsSearch = true
      connection.flush()
    }

    private mutating func searchAll() throws(ScreenError) {
      let former = Set(parents.keys).union(around)
      parents = [:]
      around = []
      hidden = []
      needsSearch = false
      needsBounds = true
      // Watched before it is looked at, so that no change falls between.
      target.window.watch(by: connection)
      try searchOutwards()
      let family = try XWindow.family(target.window.askFamily(connection), connection)
      stale = Set(family?.children ?? [])
      try search(stale)
      stale = []
      for window in former where !watches(window) { window.watch(false, by: connection) }
    }

    /// A window that is captured alone is hidden as a whole if it, or what it lies in, is.
    private mutating func searchOutwards() throws(ScreenError) {
      guard target.isWindow else { return }
      try target.window.forEachAround(connection, on: target.screen) { window throws(ScreenError) in
        window.watch(by: connection)
        around.insert(window)
        if try hides(window) { hidden.insert(target.window) }
      }
    }

    /// Looks at windows, and at all that lies in them and is not known yet. Of many at once, as
    /// there may be ten thousand.
    private mutating func search(_ windows: Set<XWindow>) throws(ScreenError) {
      var rest = Array(windows)
      while !rest.isEmpty {
        let asked = rest.suffix(Self.batch).map { ask($0) }
        rest.removeLast(asked.count)
        for questions in asked {
          rest += try take(questions)
          guard parents.count <= Self.maximumWindowCount else {
            throw .tooManyWindows(display: connection.display)
          }
        }
      }
    }

    private struct Questions {
      let window: XWindow
      let mark: XWindow.Question
      let names: XWindow.Question?
      let family: XWindow.Question
    }

    private func ask(_ window: XWindow) -> Questions {
      // Watched before it is looked at, so that no change falls between.
      window.watch(by: connection)
      return Questions(
        window: window, mark: window.askProperty(mark, connection),
        names: rule.programs.isEmpty
          ? nil : window.askProperty(XCB_ATOM_WM_CLASS.rawValue, connection),
        family: window.askFamily(connection))
    }

    /// - Returns: the windows that were found in it.
    private mutating func take(_ questions: Questions) throws(ScreenError) -> [XWindow] {
      let window = questions.window
      // All are taken, so that no reply stays behind.
      let mark = try XWindow.property(questions.mark, connection)
      var names: [UInt8]?
      if let question = questions.names { names = try XWindow.property(question, connection) }
      guard let family = try XWindow.family(questions.family, connection),
        let parent = family.parent
      else {
        forget(window)
        return []
      }
      parents[window] = parent
      // What lies within a protected window is covered with it.
      if hides(window, mark: mark, names: names) {
        if hidden.insert(window).inserted { needsBounds = true }
        return []
      }
      if hidden.remove(window) != nil { needsBounds = true }
      let found = family.children.filter { parents[$0] == nil }
      for child in family.children { parents[child] = window }
      return found
    }

    /// Whether a window is one of those that must not be seen.
    func hides(_ window: XWindow) throws(ScreenError) -> Bool {
      guard isNeeded else { return false }
      let mark = try window.property(mark, connection)
      let names =
        rule.programs.isEmpty
        ? nil : try window.property(XCB_ATOM_WM_CLASS.rawValue, connection)
      return hides(window, mark: mark, names: names)
    }

    private func hides(_ window: XWindow, mark: [UInt8]?, names: [UInt8]?) -> Bool {
      if rule.windows.contains(window.id) { return true }
      if let mark, mark.contains(where: { $0 != 0 }) { return true }
      return XWindow.classNames(of: names ?? []).contains {
        rule.programs.contains(String(decoding: $0, as: UTF8.self))
      }
    }

    private func bounds() throws(ScreenError) -> [PixelRect] {
      var areas: [PixelRect] = []
      var rest = Array(hidden)
      while !rest.isEmpty {
        let asked = rest.suffix(Self.batch).map { $0.askBounds(on: target.window, connection) }
        rest.removeLast(asked.count)
        for question in asked {
          if let area = try XWindow.bounds(question, connection) { areas.append(area) }
        }
      }
      areas.sort { ($0.y, $0.x, $0.height, $0.width) < ($1.y, $1.x, $1.height, $1.width) }
      return areas
    }

    private mutating func findPlacing() {
      placing = []
      for window in hidden {
        var next: XWindow? = window
        while let current = next, placing.insert(current).inserted { next = parents[current] }
      }
    }
  }
#endif
