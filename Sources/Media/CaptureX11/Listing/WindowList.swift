#if Media
  import CXCB
  import FrameBus
  import Platform

  /// A window that a user can capture. Its texts are what the window says.
  public struct ListedWindow: Hashable, Sendable {
    public let id: UInt32
    /// At most 1024 bytes; empty if it has none.
    public let title: String
    /// The names of its program, as `xprop WM_CLASS` shows them: its own, and that of its kind.
    public let programs: [String]
    /// The process that it names; nil for none, and of another machine.
    public let processID: Int32?
    /// The name that the kernel has for that process.
    public let process: String?
    /// Without its frame, on the screen.
    public let area: PixelRect
    /// False if it is minimised, or on another desktop.
    public let isShown: Bool
    /// Whether it is the active window; without a window manager, the highest one.
    public internal(set) var isFront = false
  }

  /// Finds the windows of a display that people call windows, not those that these consist of.
  struct WindowList {
    private let connection: XConnection
    private let root: XWindow
    private let atoms: Atoms

    private struct Atoms {
      let checked, active, stacked, listed, state, title, process: xcb_atom_t
    }

    init(_ connection: XConnection) throws(ScreenError) {
      self.connection = connection
      root = XWindow(connection.screen.root)
      atoms = Atoms(
        checked: try connection.atom("_NET_SUPPORTING_WM_CHECK"),
        active: try connection.atom("_NET_ACTIVE_WINDOW"),
        stacked: try connection.atom("_NET_CLIENT_LIST_STACKING"),
        listed: try connection.atom("_NET_CLIENT_LIST"),
        state: try connection.atom("WM_STATE"),
        title: try connection.atom("_NET_WM_NAME"),
        process: try connection.atom("_NET_WM_PID"))
    }

    /// More are not listed.
    private static let maximumCount = 4096
    /// Windows whose questions are under way at once.
    private static let batch = 64
    /// More are not searched below one window of the root.
    private static let maximumSearch = 1000

    func all() throws(ScreenError) -> [ListedWindow] {
      var windows: [ListedWindow]
      let active: UInt32?
      if let managed = try managedWindows() {
        windows = try describe(managed)
        active = try words(root, atoms.active).first
      } else {
        windows = try describe(topWindows())
        active = windows.first?.id
      }
      guard let front = windows.firstIndex(where: { $0.id == active }) else { return windows }
      windows[front].isFront = true
      windows.insert(windows.remove(at: front), at: 0)
      return windows
    }

    /// - Returns: nil if the window is gone.
    func window(_ window: XWindow) throws(ScreenError) -> ListedWindow? {
      let listed = try all().first { $0.id == window.id }
      if let listed { return listed }
      return try describe([window]).first
    }

    /// The window of a program that lies in a window of the root: of a frame, what it frames.
    func client(in top: XWindow) throws(ScreenError) -> XWindow {
      var level = [top]
      var searched = 0
      while !level.isEmpty, searched < Self.maximumSearch {
        level = Array(level.prefix(Self.maximumSearch - searched))
        searched += level.count
        let asked = level.map { window in
          (
            state: window.askProperty(atoms.state, connection),
            family: window.askFamily(connection)
          )
        }
        var next: [XWindow] = []
        var found: XWindow?
        // All are taken, so that no reply stays behind.
        for (window, questions) in zip(level, asked) {
          let state = try XWindow.property(questions.state, connection)
          if found == nil, state?.isEmpty == false { found = window }
          next += try XWindow.family(questions.family, connection)?.children ?? []
        }
        if let found { return found }
        level = next
      }
      return top
    }

    // MARK: Which there are

    /// Those that the window manager lists, the highest first; nil without one that lists them
    /// (EWMH, section 3).
    private func managedWindows() throws(ScreenError) -> [XWindow]? {
      guard let manager = try words(root, atoms.checked).first,
        try words(XWindow(manager), atoms.checked).first == manager
      else { return nil }
      var ids = try words(root, atoms.stacked)
      if ids.isEmpty { ids = try words(root, atoms.listed) }
      return ids.reversed().map(XWindow.init)
    }

    /// Those that are shown on the root, but no menus and the like, the highest first.
    private func topWindows() throws(ScreenError) -> [XWindow] {
      let family = try XWindow.family(root.askFamily(connection), connection)
      var windows: [XWindow] = []
      for top in (family?.children ?? []).reversed().prefix(Self.maximumCount) {
        guard try isOpenToView(top) else { continue }
        let client = try client(in: top)
        if try isOpenToView(client) { windows.append(client) }
      }
      return windows
    }

    private func isOpenToView(_ window: XWindow) throws(ScreenError) -> Bool {
      let reply = try XWindow.attributes(window.askAttributes(connection), connection)
      guard let reply else { return false }
      return reply.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue)
        && reply._class == UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue)
        && reply.override_redirect == 0
    }

    /// The numbers of a property that lists windows.
    private func words(_ window: XWindow, _ atom: xcb_atom_t) throws(ScreenError) -> [UInt32] {
      let question = window.askProperty(atom, longest: 4 * Self.maximumCount, connection)
      return Self.words(try XWindow.property(question, connection) ?? [])
    }

    private static func words(_ bytes: [UInt8]) -> [UInt32] {
      var parser = ByteParser(bytes)
      var words: [UInt32] = []
      while let word = try? parser.integer(UInt32.self) { words.append(word) }
      return words
    }

    // MARK: What they say

    private struct Questions {
      let window: XWindow
      let title, oldTitle, programs, process, machine: XWindow.Question
      let attributes, size, place: XWindow.Question
    }

    private func describe(_ windows: [XWindow]) throws(ScreenError) -> [ListedWindow] {
      var listed: [ListedWindow] = []
      var rest = windows.prefix(Self.maximumCount)
      while !rest.isEmpty {
        let asked = rest.prefix(Self.batch).map(ask)
        rest = rest.dropFirst(asked.count)
        for questions in asked {
          if let window = try take(questions) { listed.append(window) }
        }
      }
      return listed
    }

    private func ask(_ window: XWindow) -> Questions {
      Questions(
        window: window, title: window.askProperty(atoms.title, connection),
        oldTitle: window.askProperty(XCB_ATOM_WM_NAME.rawValue, connection),
        programs: window.askProperty(XCB_ATOM_WM_CLASS.rawValue, connection),
        process: window.askProperty(atoms.process, connection),
        machine: window.askProperty(XCB_ATOM_WM_CLIENT_MACHINE.rawValue, connection),
        attributes: window.askAttributes(connection), size: window.askGeometry(connection),
        place: window.askOrigin(on: root, connection))
    }

    /// - Returns: nil if the window is gone, or shows nothing.
    private func take(_ questions: Questions) throws(ScreenError) -> ListedWindow? {
      // All are taken, so that no reply stays behind.
      let title = try XWindow.property(questions.title, connection)
      let oldTitle = try XWindow.property(questions.oldTitle, connection)
      let programs = try XWindow.property(questions.programs, connection)
      let process = try XWindow.property(questions.process, connection)
      let machine = try XWindow.property(questions.machine, connection)
      let attributes = try XWindow.attributes(questions.attributes, connection)
      let size = try XWindow.geometry(questions.size, connection)
      let place = try XWindow.origin(questions.place, connection)
      guard let attributes, let size, let place,
        attributes._class == UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue)
      else { return nil }
      let pid = Self.processID(process ?? [], on: machine ?? [])
      return ListedWindow(
        id: questions.window.id,
        title: WindowText.utf8(title ?? []) ?? Self.text(oldTitle ?? []) ?? "",
        programs: XWindow.classNames(of: programs ?? []).compactMap { Self.text(Array($0)) },
        processID: pid, process: pid.flatMap(Self.processName),
        area: PixelRect(
          x: place.x, y: place.y, width: Int(size.width), height: Int(size.height)),
        isShown: attributes.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue))
    }

    static func text(_ bytes: [UInt8]) -> String? { WindowText(bytes).readings.first }

    /// The process that a window of this machine names (EWMH: `_NET_WM_PID`).
    private static func processID(_ value: [UInt8], on machine: [UInt8]) -> Int32? {
      guard value.count == 4, let pid = words(value).first.flatMap(Int32.init(exactly:)), pid > 0
      else { return nil }
      let here = kernelText("/proc/sys/kernel/hostname").prefix { $0 != "\n" }
      return machine.isEmpty || text(machine) == String(here) ? pid : nil
    }

    private static func processName(_ pid: Int32) -> String? {
      let name = kernelText("/proc/\(pid)/comm").prefix { $0 != "\n" }
      return name.isEmpty ? nil : String(name)
    }
  }
#endif
