#if Media
  import CXCB
  import FrameBus
  import Platform

  /// The areas of the windows that must not be seen.
  ///
  /// The server tells of every change that could move one, and what it tells of before it answers
  /// to a grab happened before that grab. So a grab is clean of them if nothing was told between
  /// ``refresh()`` and the answer (``isCurrent``), and otherwise has to be made again. What other
  /// clients do to windows that are not protected costs a look at those windows, and no frame.
  ///
  /// What a window leaves behind stays black (``ProtectedTrail``). While a compositor may animate a
  /// window that is iconified or restored, or slide a whole desktop, whose ways only the compositor
  /// knows, there are no frames (``isUndecided``); so too at first, as such a thing may have begun
  /// already. Its overviews show what this cannot know of.
  struct ProtectedWindows: ~Copyable {
    private let connection: XConnection
    /// Which all places are counted from.
    private let target: CaptureTarget
    private var rule: ProtectionRule
    private let atoms: Atoms
    /// Events are asked for.
    private var isNeeded: Bool
    /// Windows are hidden, not only watched.
    private(set) var isOn: Bool
    private var tree: WindowTree
    /// The windows that the rule means.
    private var named: Set<XWindow> = []
    /// Those, and the windows that belong to them.
    private var members: Set<XWindow> = []
    /// The windows whose areas are black: members in the target and their frames, or the target.
    private var black: Set<XWindow> = []
    /// The black windows and all that they lie in: who moves one of these may move them.
    private var placing: Set<XWindow> = []
    /// Windows to be looked at, with all that lies in them.
    private var stale: Set<XWindow> = []
    private var needsSearch: Bool
    private var needsFamily = false
    private var needsBounds = false
    /// Of the black windows, all of each, also what others cover: what lies in front may be shaped
    /// or translucent.
    private var places: [XWindow: PixelRect] = [:]
    private var trail = ProtectedTrail()
    /// Of the answers about what was drawn, how many may contain drawing of a protected window
    /// where it no longer is: that of the time in which it moved, and of the next.
    private var unsettledAnswers = 0
    /// Where protected windows are shown beside a captured one, above or below it: only a new
    /// picture of that can hold pixels of theirs.
    private var beside: Set<XWindow> = []
    private var besidePlaces: [XWindow: PixelRect] = [:]
    private var besidePlacing: Set<XWindow> = []
    private var needsBeside = false
    /// Where windows came through since the last look, in each parent.
    private var passed: [XWindow: PixelRect] = [:]
    /// A member was iconified or restored.
    private var isAnimated = false
    private var undecidedUntilNs: UInt64 = 0
    /// In the target's pixels.
    private(set) var areas: [PixelRect] = []

    private struct Atoms {
      let mark: xcb_atom_t
      /// Of protected windows, and of the root: a compositor animates what they tell of.
      let animatedWindows: Set<xcb_atom_t>
      let animatedDesktops: Set<xcb_atom_t>
      let virtualRoots: xcb_atom_t
      let compositor: xcb_atom_t
      let relations: WindowRelations.Atoms
    }

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
      isOn = isNeeded
      needsSearch = isNeeded
      tree = WindowTree(root: XWindow(target.screen.root), idMask: connection.setup.idMask)
      let names = [
        ProtectionRule.property, "_NET_VIRTUAL_ROOTS", "_NET_WM_CM_S\(connection.screenNumber)",
        "WM_STATE", "_NET_WM_DESKTOP",
        "_NET_CURRENT_DESKTOP", "_NET_DESKTOP_VIEWPORT", "_NET_SHOWING_DESKTOP",
      ]
      let numbers = try connection.atoms(names)
      atoms = Atoms(
        mark: numbers[0], animatedWindows: Set(numbers[3...4]),
        animatedDesktops: Set(numbers[5...]), virtualRoots: numbers[1], compositor: numbers[2],
        relations: try WindowRelations.Atoms(connection))
    }

    /// Follows another rule, from the next ``refresh()`` on.
    /// - Parameter rule: nil if every window may be seen.
    mutating func follow(_ rule: ProtectionRule?) {
      self.rule = rule ?? ProtectionRule()
      isOn = rule != nil
      if isOn { isNeeded = true }
      needsSearch = isNeeded
    }

    /// Whether ``areas`` is true, as far as the server has told.
    var isCurrent: Bool {
      !needsSearch && !needsFamily && !needsBounds && !isAnimated && stale.isEmpty
    }

    /// Whether a window may be seen at places that nobody can know: no frame may be published.
    var isUndecided: Bool { undecidedUntilNs > monotonicNowNs() }

    /// Whether an area is black that need not be any more.
    var isOutdated: Bool { trail.isOutdated(nowNs: monotonicNowNs()) }

    // MARK: Events

    mutating func note(_ event: XEvent) {
      guard isNeeded else { return }
      if event.isOverflow { needsSearch = true }
      guard let window = event.window else { return }
      switch Int32(event.type) {
      case XCB_CREATE_NOTIFY:
        if let parent = event.parent, tree.contains(parent) { place(window, in: parent) }
      case XCB_REPARENT_NOTIFY:
        if !named.isEmpty { needsFamily = true }
        if let parent = event.parent { place(window, in: parent) }
      case XCB_PROPERTY_NOTIFY: if let atom = event.atom { note(atom, of: window) }
      case XCB_DESTROY_NOTIFY: forget(window)
      default:
        // Whether a menu is one may have been set since it was made.
        if event.type == XCB_MAP_NOTIFY, tree.relations[window] != nil { stale.insert(window) }
        if besidePlacing.contains(window) { needsBeside = true }
        // The server counts the move of a captured window as drawing in it.
        if placing.contains(window) || target.liesIn(window) { unsettledAnswers = 2 }
        guard placing.contains(window) else { return }
        needsBounds = true
        if let area = event.area, let parent = tree.parents[window], window != target.window {
          passed[parent] = passed[parent]?.spanning(area) ?? area
        }
      }
    }

    private mutating func note(_ atom: xcb_atom_t, of window: XWindow) {
      if atom == atoms.virtualRoots, window == tree.root { needsSearch = true }
      if atoms.animatedWindows.contains(atom), members.contains(window) { isAnimated = true }
      if atoms.animatedDesktops.contains(atom), window == tree.root, !members.isEmpty {
        isAnimated = true
      }
      if atom == atoms.mark || atom == XCB_ATOM_WM_CLASS.rawValue
        ? tree.parents[window] != nil
        : atoms.relations.contains(atom) && tree.relations[window] != nil
      {
        stale.insert(window)
      }
    }

    private mutating func place(_ window: XWindow, in parent: XWindow) {
      tree.parents[window] = parent
      stale.insert(window)
      if placing.contains(window) {
        needsBounds = true
        unsettledAnswers = 2
      }
    }

    private mutating func forget(_ window: XWindow) {
      tree.remove(window)
      stale.remove(window)
      named.remove(window)
      if members.contains(window) || black.contains(window) { needsFamily = true }
      if placing.contains(window) { unsettledAnswers = 2 }
    }

    /// Notes what was drawn until an answer of the server, all whose events before that were noted.
    mutating func noteDrawing(_ drawn: [PixelRect]) {
      if unsettledAnswers == 0 { return trail.subtract(drawn) }
      unsettledAnswers -= 1
      trail.renewRequest(nowNs: monotonicNowNs())
    }

    /// Whether events of a window are wanted here, so that nobody else may ask for none.
    func watches(_ window: XWindow) -> Bool { isNeeded && tree.contains(window) }

    /// Asks for no more events, which would pile up in the server while nobody reads them. The next
    /// ``refresh()`` begins anew.
    mutating func rest() {
      guard isNeeded else { return }
      for window in [tree.root] + tree.parents.keys { window.watch(false, by: connection) }
      tree = WindowTree(root: tree.root, idMask: tree.idMask)
      needsSearch = true
      connection.flush()
    }

    // MARK: Looking

    /// Brings ``areas`` up to date.
    /// - Parameter limit: how many windows to look at. If there are more, what was found is kept,
    ///   and ``isCurrent`` stays false.
    /// - Returns: whether the areas are others than before.
    mutating func refresh(upTo limit: Int = .max) throws(ScreenError) -> Bool {
      if isCurrent, !isOutdated { return false }
      if needsSearch {
        if limit < .max { return false }
        try searchAll()
      }
      try search(upTo: limit)
      // Relations are compared without asking the server, so in much less time.
      if !stale.isEmpty || needsFamily && tree.parents.count / 8 > limit { return false }
      if needsFamily { findFamily() }
      if needsBounds && black.count > limit { return false }
      if isAnimated { try awaitCompositor() }
      let nowNs = monotonicNowNs()
      if needsBounds { try findBounds(nowNs) }
      if limit == .max { _ = try requestDrawingIfDue() }
      trail.update(nowNs: nowNs)
      let before = areas
      areas = Set(places.values).union(trail.areas).sorted {
        ($0.y, $0.x, $0.height, $0.width) < ($1.y, $1.x, $1.height, $1.width)
      }
      return areas != before
    }

    /// A compositor shows the way between a window and its icon; without one there is none.
    private mutating func awaitCompositor() throws(ScreenError) {
      isAnimated = false
      guard try connection.isOwned(selection: atoms.compositor) else { return }
      undecidedUntilNs = monotonicNowNs() + ProtectedTrail.durationNs
    }

    private mutating func searchAll() throws(ScreenError) {
      let former = tree.parents.keys
      tree = WindowTree(root: tree.root, idMask: tree.idMask)
      named = []
      needsSearch = false
      needsFamily = true
      // Both may have begun before anything was told.
      isAnimated = true
      unsettledAnswers = 2
      // Watched before it is looked at, so that no change falls between.
      tree.root.watch(by: connection)
      let virtualRoots = try tree.root.property(atoms.virtualRoots, connection) ?? []
      tree.virtualRoots = Set(XWindow.words(of: virtualRoots).map(XWindow.init))
      let family = try XWindow.family(tree.root.askFamily(connection), connection)
      stale = Set(family?.children ?? [])
      for child in stale { tree.parents[child] = tree.root }
      try search(upTo: .max)
      for window in former where !tree.contains(window) { window.watch(false, by: connection) }
    }

    /// Looks at the stale windows, and at all that lies in them and is not known yet. Asks of many
    /// at once, as there may be ten thousand.
    private mutating func search(upTo limit: Int) throws(ScreenError) {
      var rest = Array(stale)
      stale = []
      defer { stale = Set(rest) }
      var left = limit
      while !rest.isEmpty, left > 0 {
        let asked = rest.suffix(min(Self.batch, left)).map { ask($0) }
        rest.removeLast(asked.count)
        left -= asked.count
        for questions in asked {
          rest += try take(questions)
          guard tree.parents.count <= Self.maximumWindowCount else {
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
      let relations: WindowRelations.Questions?
    }

    private func ask(_ window: XWindow) -> Questions {
      // Watched before it is looked at, so that no change falls between.
      window.watch(by: connection)
      return Questions(
        window: window, mark: window.askProperty(atoms.mark, connection),
        names: rule.programs.isEmpty
          ? nil : window.askProperty(XCB_ATOM_WM_CLASS.rawValue, connection),
        family: window.askFamily(connection),
        relations: tree.isTopLevel(window)
          ? WindowRelations.ask(window, atoms.relations, connection) : nil)
    }

    /// - Returns: the windows that were found in it.
    private mutating func take(_ questions: Questions) throws(ScreenError) -> [XWindow] {
      let window = questions.window
      // All are taken, so that no reply stays behind.
      let mark = try XWindow.property(questions.mark, connection)
      var names: [UInt8]?
      if let question = questions.names { names = try XWindow.property(question, connection) }
      let family = try XWindow.family(questions.family, connection)
      var relations: WindowRelations?
      if let asked = questions.relations {
        relations = try WindowRelations.take(asked, connection)
        // Another client may have changed it.
        if tree.relations[window]?.isOverrideRedirect == true {
          relations?.isOverrideRedirect = true
        }
      }
      guard let family, let parent = family.parent else {
        forget(window)
        return []
      }
      tree.parents[window] = parent
      if hides(window, mark: mark, names: names) {
        if named.insert(window).inserted { needsFamily = true }
      } else if named.remove(window) != nil {
        needsFamily = true
      }
      if tree.relations[window] != relations {
        tree.relations[window] = relations
        if !named.isEmpty { needsFamily = true }
      }
      let found = family.children.filter { tree.parents[$0] == nil }
      for child in family.children { tree.parents[child] = window }
      return found
    }

    /// Whether a window is one of those that must not be seen.
    func hides(_ window: XWindow) throws(ScreenError) -> Bool {
      guard isOn else { return false }
      if members.contains(window) { return true }
      let mark = try window.property(atoms.mark, connection)
      let names =
        rule.programs.isEmpty
        ? nil : try window.property(XCB_ATOM_WM_CLASS.rawValue, connection)
      return hides(window, mark: mark, names: names)
    }

    private func hides(_ window: XWindow, mark: [UInt8]?, names: [UInt8]?) -> Bool {
      if !isOn { return false }
      if rule.windows.contains(window.id) { return true }
      if let mark, mark.contains(where: { $0 != 0 }) { return true }
      // In each encoding that its writer may have meant.
      return XWindow.classNames(of: names ?? []).contains {
        !rule.programs.isDisjoint(with: WindowText($0).readings)
      }
    }

    // MARK: Places

    private mutating func findFamily() {
      needsFamily = false
      needsBounds = true
      let family = ProtectedFamily(of: named, in: tree)
      members = family.members
      // A window that is captured alone is black as a whole if it is protected, or lies in one.
      let isWhole =
        target.isWindow
        && (family.frames.contains(target.window)
          || !members.isDisjoint(with: tree.windows(around: target.window)))
      let all = members.union(family.frames)
      black = isWhole ? [target.window] : tree.windows(among: all, inside: target.window)
      placing = tree.windows(around: black, upTo: target.window)
      beside = isWhole || !target.isWindow ? [] : all.subtracting(black)
      besidePlacing =
        beside.isEmpty ? [] : tree.windows(around: beside.union([target.window]), upTo: tree.root)
      needsBeside = true
    }

    private mutating func findBounds(_ nowNs: UInt64) throws(ScreenError) {
      needsBounds = false
      let former = places
      places = try findPlaces(of: black)
      let isComposited =
        former == places && passed.isEmpty
        ? false : try connection.isOwned(selection: atoms.compositor)
      for (window, area) in former where places[window] != area {
        // It may show the way too, and paints all of the screen from windows' own pictures.
        if isComposited {
          trail.addPassed(area.spanning(places[window] ?? area), nowNs: nowNs)
        }
        if !isComposited || target.isWindow { trail.add(area, nowNs: nowNs) }
      }
      for (parent, area) in passed {
        guard let (x, y) = try parent.origin(on: target.window, connection) else { continue }
        let place = PixelRect(
          x: area.x + x, y: area.y + y, width: area.width, height: area.height)
        trail.addPassed(place, nowNs: nowNs)
        if !isComposited || target.isWindow { trail.add(place, nowNs: nowNs) }
      }
      passed = [:]
    }

    /// Follows where protected windows lie beside the target.
    mutating func refreshBeside() throws(ScreenError) {
      guard needsBeside else { return }
      needsBeside = false
      besidePlaces = try findPlaces(of: beside)
    }

    /// Notes that the target has a new picture. Where its program has not drawn yet, the server has
    /// filled that with what the screen showed, which may be protected windows.
    /// - Parameter size: of the picture.
    /// - Returns: whether there is such an area.
    mutating func noteNewPicture(
      _ size: (width: Int, height: Int)
    ) throws(ScreenError) -> Bool {
      let former = besidePlaces
      try refreshBeside()
      let whole = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
      let nowNs = monotonicNowNs()
      // They or the target may have moved between the two.
      for area in former.merging(besidePlaces, uniquingKeysWith: { $0.spanning($1) }).values {
        trail.addCopied(area.intersection(whole), nowNs: nowNs)
      }
      unsettledAnswers = 2
      return !trail.undrawn.isEmpty
    }

    /// Asks programs to draw what they have not drawn by themselves, if it is time to.
    /// - Returns: whether they were asked.
    mutating func requestDrawingIfDue() throws(ScreenError) -> Bool {
      guard unsettledAnswers == 0, trail.isRequestDue(nowNs: monotonicNowNs()) else {
        return false
      }
      try requestDrawing()
      return true
    }

    /// Where windows are shown, with their frames.
    private func findPlaces(
      of windows: Set<XWindow>
    ) throws(ScreenError) -> [XWindow: PixelRect] {
      var places: [XWindow: PixelRect] = [:]
      var rest = Array(windows)
      while !rest.isEmpty {
        let windows = rest.suffix(Self.batch)
        rest.removeLast(windows.count)
        let asked = windows.map { $0.askBounds(on: target.window, connection) }
        for (window, question) in zip(windows, asked) {
          guard let area = try XWindow.bounds(question, connection) else { continue }
          places[window] = tree.relations[window]?.framed(area) ?? area
        }
      }
      return places
    }

    /// Asks the programs whose windows lie in undrawn areas to draw them again, as xrefresh(1)
    /// does. The server itself draws the background of a window that has one.
    private mutating func requestDrawing() throws(ScreenError) {
      trail.noteRequest()
      guard let first = trail.undrawn.first else { return }
      let areas =
        trail.undrawn.count > Self.maximumRequestAreaCount
        ? [trail.undrawn.reduce(first) { $0.spanning($1) }] : trail.undrawn
      let all = Set(tree.parents.keys)
      let windows = tree.windows(among: all, inside: target.window).subtracting(black)
      var rest = Array(windows.prefix(Self.maximumRequestCount)) + [target.window]
      while !rest.isEmpty {
        let windows = rest.suffix(Self.batch)
        rest.removeLast(windows.count)
        let asked = windows.map { $0.askOrigin(on: target.window, connection) }
        for (window, question) in zip(windows, asked) {
          guard let (x, y) = try XWindow.origin(question, connection) else { continue }
          for area in areas {
            window.requestDrawing(
              PixelRect(x: area.x - x, y: area.y - y, width: area.width, height: area.height),
              by: connection)
          }
        }
      }
      connection.flush()
    }

    /// The most windows whose programs are asked to draw.
    private static let maximumRequestCount = 1000
    /// More areas are merged into one.
    private static let maximumRequestAreaCount = 16
  }
#endif
