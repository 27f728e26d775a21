#if Media
  import CXCB
  import FrameBus

  /// The properties of a top-level window that name related windows: its menus, tooltips and
  /// dialogs belong to it. Any program can write them: each value adds windows, but rewriting one
  /// can also remove those that only it tied (docs/SECURITY.md).
  struct WindowRelations: Hashable {
    /// The window manager leaves it alone, as it does menus and tooltips.
    var isOverrideRedirect = false
    /// WM_TRANSIENT_FOR (ICCCM section 4.1.2.6): the window that it is a dialog or menu of; the
    /// root, or 0, if it is one of its whole group.
    var owner: XWindow?
    /// WM_CLIENT_LEADER, and the group's leader in WM_HINTS.
    var leaders: Set<XWindow> = []
    /// The window that stands for it while it is iconified (WM_HINTS).
    var icon: XWindow?
    /// _NET_WM_PID.
    var processID: UInt32?
    /// _NET_FRAME_EXTENTS: the widths of its frame's left, right, top and bottom.
    var frame = [0, 0, 0, 0]

    /// A property of windows that are related. If one of them is protected, so is each window that
    /// follows the tie (``ties(of:isKnown:)``).
    enum Tie: Hashable {
      case window(XWindow)
      case leader(XWindow)
      /// All windows of one connection, whose IDs begin with the same bits.
      case client(UInt32)
      case process(UInt32)
    }

    /// The ties that a protected window passes its protection on through.
    func passing(from window: XWindow, of client: UInt32) -> [Tie] {
      var ties = [Tie.window(window), .client(client)] + leaders.map(Tie.leader)
      if let processID { ties.append(.process(processID)) }
      return ties
    }

    /// The ties of which each makes the window protected.
    /// - Parameter owners: the window's owner and what that lies in, if these windows exist.
    func followed(by window: XWindow, of client: UInt32, owners: [XWindow]) -> [Tie] {
      // A protected leader protects all windows of its group.
      var ties = leaders.filter { $0 != window }.map(Tie.window)
      ties += owners.map(Tie.window)
      if let owner { ties.append(.leader(owner)) }
      // A dialog without an owner belongs to any window of its program. So does a menu with one:
      // another client may have named it.
      if isOverrideRedirect || owner != nil && owners.isEmpty {
        ties += leaders.map(Tie.leader) + [.client(client)]
        if let processID { ties.append(.process(processID)) }
      }
      return ties
    }

    /// Extends the window's rectangle by its frame.
    func framed(_ area: PixelRect) -> PixelRect {
      PixelRect(
        x: area.x - frame[0], y: area.y - frame[2], width: area.width + frame[0] + frame[1],
        height: area.height + frame[2] + frame[3])
    }
  }

  // MARK: Reading them

  extension WindowRelations {
    /// The server's numbers for the properties.
    struct Atoms {
      fileprivate let properties: [xcb_atom_t]

      init(_ connection: XConnection) throws(ScreenError) {
        let names = ["WM_CLIENT_LEADER", "_NET_WM_PID", "_NET_FRAME_EXTENTS"]
        properties =
          [XCB_ATOM_WM_TRANSIENT_FOR.rawValue, XCB_ATOM_WM_HINTS.rawValue]
          + (try connection.atoms(names))
      }

      func contains(_ atom: xcb_atom_t) -> Bool { properties.contains(atom) }
    }

    /// Requests that were sent, whose answers have to be taken once.
    struct Questions {
      fileprivate let attributes: XWindow.Question
      fileprivate let properties: [XWindow.Question]
    }

    static func ask(_ window: XWindow, _ atoms: Atoms, _ connection: XConnection) -> Questions {
      Questions(
        attributes: window.askAttributes(connection),
        properties: atoms.properties.map { window.askProperty($0, connection) })
    }

    /// - Returns: nil if the window is gone.
    static func take(
      _ questions: Questions, _ connection: XConnection
    ) throws(ScreenError) -> WindowRelations? {
      let attributes = try XWindow.attributes(questions.attributes, connection)
      // All are taken, so that no reply stays behind.
      var values: [[UInt32]] = []
      for question in questions.properties {
        values.append(XWindow.words(of: try XWindow.property(question, connection) ?? []))
      }
      guard let attributes else { return nil }
      var relations = WindowRelations(values)
      relations.isOverrideRedirect = attributes.override_redirect != 0
      return relations
    }

    /// - Parameter values: of the properties in the order of ``Atoms``, empty where one is missing.
    private init(_ values: [[UInt32]]) {
      owner = values[0].first.map(XWindow.init)
      let hints = values[1]
      leaders = Set(
        [hints.hint(Self.groupFlag, at: 8), values[2].first].compactMap(\.self)
          .filter { $0 != 0 }.map(XWindow.init))
      icon = hints.hint(Self.iconFlag, at: 4).map(XWindow.init)
      processID = values[3].first
      // No frame is wider than the largest screen.
      if values[4].count == 4 { frame = values[4].map { Int(min($0, UInt32(Int16.max))) } }
    }

    /// WM_HINTS: which of its nine numbers are set (ICCCM section 4.1.2.4).
    private static let iconFlag: UInt32 = 1 << 2
    private static let groupFlag: UInt32 = 1 << 6
  }

  extension [UInt32] {
    /// A number of WM_HINTS, if it is set.
    fileprivate func hint(_ flag: UInt32, at index: Int) -> UInt32? {
      count > index && self[0] & flag != 0 ? self[index] : nil
    }
  }
#endif
