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
  /// protected window that is iconified or restored, or slide a desktop with one, there are no
  /// frames of the screen (``isUndecided``): only the compositor knows where it shows the window.
  /// So too at the beginning, because an animation may have begun before. Overviews are not
  /// detected.
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
    /// Windows that were menus once. Another client may change that.
    private var menus: Set<XWindow> = []
    /// Windows to be looked at, with all that lies in them.
    private var stale: Set<XWindow> = []
    private var needsSearch: Bool
    private var needsFamily = false
    private var needsBounds = false
    /// Of the black windows, all of each, also what others cover: what lies in front may be shaped
    /// or translucent.
    private var places: [XWindow: PixelRect] = [:]
    private var trail = ProtectedTrail()
    /// How often the server was asked what was drawn.
    private var questionCount = 0
    private var answeredQuestion = 0
    /// Earlier answers may contain what a protected window drew at a former place.
    private var firstSettledQuestion = 0
    /// Where protected windows are shown beside a captured one, above or below it: only a new
    /// picture of that can hold pixels of theirs.
    private var beside: Set<XWindow> = []
    private var besidePlaces: [XWindow: PixelRect] = [:]
    private var besidePlacing: Set<XWindow> = []
    private var needsBeside = false
    /// The windows among `placing` that moved, appeared or went since their places were asked for.
    private var moved: Set<XWindow> = []
    /// Some of `moved` lie in another window now, or are gone. Their frames may stay for a moment.
    private var isLeaving = false
    /// What `moved` covered meanwhile, in each parent.
    private var passed: [XWindow: PixelRect] = [:]
    /// What other windows covered meanwhile, in each parent, if they may have moved with pixels
    /// that a protected window left in them.
    private var carried: [XWindow: PixelRect] = [:]
    private var hints: WindowHints
    /// No frame was due since events are asked for.
    private var isBeginning = true
    private var undecidedUntilNs: UInt64 = 0
    /// In the target's pixels.
    private(set) var areas: [PixelRect] = []

    private struct Atoms {
      let mark: xcb_atom_t
      let compositor: xcb_atom_t
      let relations: WindowRelations.Atoms

      init(_ connection: XConnection) throws(ScreenError) {
        mark = try connection.atom(ProtectionRule.property)
        compositor = try connection.atom("_NET_WM_CM_S\(connection.screenNumber)")
        relations = try WindowRelations.Atoms(connection)
      }
    }

    /// The most windows that are searched. No server has as many in practice.
    private static let maximumWindowCount = 1 << 17

    /// - Parameter rule: nil if every window may be seen: then no event is asked for.
    init(on target: CaptureTarget, _ rule: ProtectionRule?) throws(ScreenError) {
      let connection = target.screen.connection
      let root = XWindow(target.screen.root)
      let atoms = try Atoms(connection)
      let hints = try WindowHints(root: root, connection)
      self.atoms = atoms
      self.hints = hints
      self.target = target
      self.connection = connection
      self.rule = rule ?? ProtectionRule()
      isNeeded = rule != nil
      isOn = isNeeded
      needsSearch = isNeeded
      tree = WindowTree(root: root, idMask: connection.setup.idMask)
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
      !needsSearch && !needsFamily && !needsBounds && hints.isCurrent && stale.isEmpty
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
        if placing.contains(window) || target.liesIn(window) { distrustAnswers() }
        guard placing.contains(window) else { return noteCarrying(event) }
        needsBounds = true
        moved.insert(window)
        if let area = event.area, let parent = tree.parents[window], window != target.window {
          passed[parent] = passed[parent]?.spanning(area) ?? area
        }
      }
    }

    /// The server copies a window's pixels when it moves or is resized.
    private mutating func noteCarrying(_ event: XEvent) {
      let isAnyLeft = !trail.undrawn.isEmpty || !moved.isEmpty || needsFamily
      guard isAnyLeft, let window = event.window, let area = event.area,
        let parent = tree.parents[window], tree.windows(around: parent).contains(target.window)
      else { return }
      carried[parent] = carried[parent]?.spanning(area) ?? area
      needsBounds = true
      // The server counts the copy as drawing.
      distrustAnswers()
    }

    private mutating func note(_ atom: xcb_atom_t, of window: XWindow) {
      if window == tree.root || members.contains(window) { hints.note(atom, of: window) }
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
        isLeaving = true
        moved.insert(window)
        distrustAnswers()
      }
    }

    private mutating func forget(_ window: XWindow) {
      tree.remove(window)
      stale.remove(window)
      named.remove(window)
      menus.remove(window)
      hints.forget(window)
      if members.contains(window) || black.contains(window) { needsFamily = true }
      if placing.contains(window) {
        isLeaving = true
        moved.insert(window)
        distrustAnswers()
      }
    }

    /// The next question is the first whose answer has only what is drawn from now on, if another
    /// one is asked before it.
    private mutating func distrustAnswers() { firstSettledQuestion = questionCount + 2 }

    /// - Returns: the number of the next question to the server about what was drawn.
    mutating func nextQuestion() -> Int {
      questionCount += 1
      return questionCount
    }

    /// Notes the answer to such a question, after all events before it.
    mutating func noteDrawing(_ drawn: [PixelRect], of question: Int) {
      answeredQuestion = max(answeredQuestion, question)
      if question >= firstSettledQuestion { trail.subtract(drawn) }
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
      isBeginning = true
      connection.flush()
    }

    // MARK: Looking

    /// Brings ``areas`` up to date.
    /// - Parameter limit: how many windows to look at. If there are more, what was found is kept,
    ///   and ``isCurrent`` stays false.
    /// - Returns: whether the areas are others than before.
    mutating func refresh(upTo limit: Int = .max) throws(ScreenError) -> Bool {
      if isCurrent, !isOutdated { return false }
      if hints.changedCount > limit { return false }
      let news = try hints.read(connection)
      if news.hasVirtualRoots { needsSearch = true }
      if needsSearch {
        if limit < .max { return false }
        try searchAll()
      }
      try search(upTo: limit)
      // Relations are compared without asking the server, so in much less time.
      if !stale.isEmpty || needsFamily && tree.parents.count / 64 > limit { return false }
      if needsFamily { findFamily() }
      let nowNs = monotonicNowNs()
      if needsBounds, try !findBounds(nowNs, upTo: limit) { return false }
      if news.isAnimated || isBeginning { try awaitCompositor() }
      isBeginning = false
      if limit == .max { _ = try requestDrawingIfDue() }
      trail.update(nowNs: nowNs)
      let before = areas
      areas = Set(places.values).union(trail.areas).sorted {
        ($0.y, $0.x, $0.height, $0.width) < ($1.y, $1.x, $1.height, $1.width)
      }
      return areas != before
    }

    /// Without a compositor there are no animations, and none in the picture of a window.
    private mutating func awaitCompositor() throws(ScreenError) {
      guard !target.isWindow, !members.isEmpty,
        try connection.isOwned(selection: atoms.compositor)
      else { return }
      undecidedUntilNs = monotonicNowNs() + ProtectedTrail.durationNs
    }

    private mutating func searchAll() throws(ScreenError) {
      let former = tree.parents.keys
      tree = WindowTree(root: tree.root, idMask: tree.idMask)
      named = []
      needsSearch = false
      needsFamily = true
      distrustAnswers()
      // Watched before it is looked at, so that no change falls between.
      tree.root.watch(by: connection)
      tree.virtualRoots = try hints.restart(connection)
      let family = try XWindow.family(tree.root.askFamily(connection), connection)
      stale = Set(family?.children ?? [])
      for child in stale { tree.parents[child] = tree.root }
      try search(upTo: .max)
      for window in former where !tree.contains(window) { window.watch(false, by: connection) }
      menus.formIntersection(tree.parents.keys)
    }

    /// Looks at the stale windows, and at all that lies in them and is not known yet. Asks of many
    /// at once, as there may be ten thousand.
    private mutating func search(upTo limit: Int) throws(ScreenError) {
      var rest = Array(stale)
      stale = []
      defer { stale = Set(rest) }
      var left = limit
      while !rest.isEmpty, left > 0 {
        let asked = rest.suffix(min(XWindow.batch, left)).map { ask($0) }
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
        if relations?.isOverrideRedirect == true { menus.insert(window) }
        if menus.contains(window) { relations?.isOverrideRedirect = true }
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
      // Others may be black now.
      moved = [tree.root]
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

    /// - Returns: false if there are more windows to ask for than the limit.
    private mutating func findBounds(
      _ nowNs: UInt64, upTo limit: Int
    ) throws(ScreenError) -> Bool {
      let isAll = moved.contains(tree.root) || moved.contains(target.window)
      let asked = isAll ? black : tree.windows(among: black, insideAny: moved)
      guard asked.count + passed.count + carried.count <= limit else { return false }
      needsBounds = false
      moved = []
      let former = places
      if isAll { places = [:] }
      for window in asked { places[window] = nil }
      places.merge(try target.places(of: asked, in: tree)) { $1 }
      if former == places, passed.isEmpty, carried.isEmpty { return true }
      let isComposited = try connection.isOwned(selection: atoms.compositor)
      defer { isLeaving = false }
      if !isComposited || target.isWindow {
        for area in try target.areas(carried) { trail.addCopied(area, nowNs: nowNs) }
      }
      carried = [:]
      for (window, area) in former where places[window] != area {
        // One that is only not protected any more is shown there as others are.
        if !isLeaving, !black.contains(window) { continue }
        leave(area, isComposited, nowNs)
        // It may show the way too.
        if isComposited, let now = places[window] {
          trail.addPassed(area.spanning(now), nowNs: nowNs)
        }
      }
      for area in try target.areas(passed) { leave(area, isComposited, nowNs) }
      passed = [:]
      return true
    }

    /// A compositor draws the screen from the pictures of the windows, in which nothing of others
    /// remains.
    private mutating func leave(_ area: PixelRect, _ isComposited: Bool, _ nowNs: UInt64) {
      if isComposited, !target.isWindow {
        trail.addPassed(area, nowNs: nowNs)
      } else {
        trail.add(area, nowNs: nowNs)
      }
    }

    /// Follows the size of the picture.
    mutating func follow(_ size: (width: Int, height: Int)) {
      trail.bounds = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
    }

    /// Follows where protected windows lie beside the target.
    mutating func refreshBeside() throws(ScreenError) {
      guard needsBeside else { return }
      needsBeside = false
      besidePlaces = try target.places(of: beside, in: tree)
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
      follow(size)
      let nowNs = monotonicNowNs()
      // They or the target may have moved between the two.
      for area in former.merging(besidePlaces, uniquingKeysWith: { $0.spanning($1) }).values {
        trail.addCopied(area, nowNs: nowNs)
      }
      distrustAnswers()
      return !trail.undrawn.isEmpty
    }

    /// Asks programs to draw what they have not drawn by themselves, if it is time to.
    /// - Returns: whether they were asked.
    mutating func requestDrawingIfDue() throws(ScreenError) -> Bool {
      let nowNs = monotonicNowNs()
      guard trail.isRequestDue(nowNs: nowNs), answeredQuestion + 1 >= firstSettledQuestion
      else { return false }
      trail.noteRequest(nowNs: nowNs)
      let windows = tree.windows(among: Set(tree.parents.keys), inside: target.window)
      return try target.requestDrawing(
        of: windows.subtracting(black).union([target.window]), in: trail.undrawn)
    }

  }
#endif
