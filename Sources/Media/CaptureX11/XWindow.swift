#if Media
  import CXCB
  import FrameBus
  import Platform

  /// A window of another client, which may be destroyed at any time: requests to a window that is
  /// gone return nil.
  struct XWindow: Hashable {
    let id: xcb_window_t

    init(_ id: xcb_window_t) { self.id = id }

    /// Selects events about changes of the window, its children and its properties, or none.
    /// Always all three: a client has one event mask per window, which several objects share.
    func watch(_ isWanted: Bool = true, by connection: XConnection) {
      let all = [
        XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY, XCB_EVENT_MASK_STRUCTURE_NOTIFY,
        XCB_EVENT_MASK_PROPERTY_CHANGE,
      ]
      var mask = isWanted ? all.reduce(0) { $0 | $1.rawValue } : 0
      // SAFETY: one value for the one bit of the mask, read during the call. That the window may
      // be gone comes as an error among the events, which nobody asks for.
      _ = unsafe xcb_change_window_attributes(
        connection.pointer, id, XCB_CW_EVENT_MASK.rawValue, &mask)
    }

    /// Requests that the server draws the background of an area, if the window has one, and that
    /// its program draws the rest.
    func requestDrawing(_ area: PixelRect, by connection: XConnection) {
      let area = area.intersection(Self.largest)
      // A side of 0 would mean all that follows.
      if area.isEmpty { return }
      _ = unsafe xcb_clear_area(
        connection.pointer, 1, id, Int16(area.x), Int16(area.y), UInt16(area.width),
        UInt16(area.height))
    }

    private static let largest = PixelRect(
      x: 0, y: 0, width: Int(Int16.max), height: Int(Int16.max))

    // MARK: Questions, which are sent before their answers are waited for

    /// Windows whose questions are under way at once.
    static let batch = 128

    /// What the window lies in, and what in it.
    func askFamily(_ connection: XConnection) -> Question {
      Question(unsafe xcb_query_tree(connection.pointer, id).sequence)
    }

    /// - Parameter longest: the bytes that are asked for.
    func askProperty(
      _ atom: xcb_atom_t, longest: Int = 1024, _ connection: XConnection
    ) -> Question {
      Question(
        unsafe xcb_get_property(
          connection.pointer, 0, id, atom, XCB_GET_PROPERTY_TYPE_ANY.rawValue, 0,
          UInt32(longest / 4)
        ).sequence)
    }

    /// A request that was sent, whose answer has to be taken once.
    struct Question {
      let sequence: UInt32
      init(_ sequence: UInt32) { self.sequence = sequence }
    }

    struct Family {
      /// Nil of the root.
      let parent: XWindow?
      /// The lowest first.
      let children: [XWindow]
    }

    static func family(
      _ question: Question, _ connection: XConnection
    ) throws(ScreenError) -> Family? {
      try ifThere { () throws(ScreenError) in
        let reply: XReply<xcb_query_tree_reply_t> = try connection.reply(
          to: "QueryTree", question.sequence)
        // SAFETY: the children lie in the reply, and are copied while it lives.
        let children = unsafe try reply.list(
          xcb_query_tree_children(reply.pointer),
          count: xcb_query_tree_children_length(reply.pointer))
        let parent = reply.value.parent
        return unsafe Family(
          parent: parent == 0 ? nil : XWindow(parent), children: children.map(XWindow.init))
      }
    }

    /// The bytes of a property; none if it has no such property.
    static func property(
      _ question: Question, _ connection: XConnection
    ) throws(ScreenError) -> [UInt8]? {
      try ifThere { () throws(ScreenError) in
        let reply: XReply<xcb_get_property_reply_t> = try connection.reply(
          to: "GetProperty", question.sequence)
        // SAFETY: the value lies in the reply, and is copied while it lives. Counted here, because
        // libxcb counts with whatever format the server names.
        let start = unsafe xcb_get_property_value(reply.pointer)
        let count = Int(reply.value.value_len) * Int(reply.value.format / 8)
        return unsafe Array(
          try reply.list(start?.assumingMemoryBound(to: UInt8.self), count: count))
      }
    }

    /// The numbers of a property, whatever format its writer named.
    static func words(of value: [UInt8]) -> [UInt32] {
      stride(from: 0, to: value.count - 3, by: 4).map { start in
        // SAFETY: any four bytes are a number, which the server has in this machine's order.
        unsafe value.withUnsafeBytes {
          unsafe $0.loadUnaligned(fromByteOffset: start, as: UInt32.self)
        }
      }
    }

    /// The two names of the program it belongs to, its own and that of its kind (WM_CLASS, ICCCM
    /// section 4.1.2.5).
    static func classNames(of value: [UInt8]) -> [ArraySlice<UInt8>] {
      Array(value.split(separator: 0).prefix(2))
    }

    // MARK: Questions with their answers

    /// The window that it lies in; nil for the root too.
    func parent(_ connection: XConnection) throws(ScreenError) -> XWindow? {
      try Self.family(askFamily(connection), connection)?.parent
    }

    func property(
      _ atom: xcb_atom_t, _ connection: XConnection
    ) throws(ScreenError) -> [UInt8]? {
      try Self.property(askProperty(atom, connection), connection)
    }

    func classNames(_ connection: XConnection) throws(ScreenError) -> [ArraySlice<UInt8>]? {
      try property(XCB_ATOM_WM_CLASS.rawValue, connection).map(Self.classNames)
    }

    /// The windows that it lies in, the innermost first, without the root.
    /// - Parameter found: called with it and with each of them, before the next one is asked for.
    func forEachAround(
      _ connection: XConnection, on screen: RootScreen,
      _ found: (XWindow) throws(ScreenError) -> Void
    ) throws(ScreenError) {
      var next: XWindow? = self
      // While others move it from one into another, it may seem to have no end.
      for _ in 0..<Self.deepestNesting {
        guard let current = next, current.id != screen.root else { return }
        try found(current)
        next = try current.parent(connection)
      }
      throw .tooManyWindows(display: connection.display)
    }

    private static let deepestNesting = 10_000

    /// Its place in its parent, its size and its border.
    func geometry(
      _ connection: XConnection
    ) throws(ScreenError) -> xcb_get_geometry_reply_t? {
      try Self.geometry(askGeometry(connection), connection)
    }

    func askGeometry(_ connection: XConnection) -> Question {
      Question(unsafe xcb_get_geometry(connection.pointer, id).sequence)
    }

    static func geometry(
      _ question: Question, _ connection: XConnection
    ) throws(ScreenError) -> xcb_get_geometry_reply_t? {
      try ifThere { () throws(ScreenError) in
        let reply: XReply<xcb_get_geometry_reply_t> = try connection.reply(
          to: "GetGeometry", question.sequence)
        return reply.value
      }
    }

    func askAttributes(_ connection: XConnection) -> Question {
      Question(unsafe xcb_get_window_attributes(connection.pointer, id).sequence)
    }

    static func attributes(
      _ question: Question, _ connection: XConnection
    ) throws(ScreenError) -> xcb_get_window_attributes_reply_t? {
      try ifThere { () throws(ScreenError) in
        let reply: XReply<xcb_get_window_attributes_reply_t> = try connection.reply(
          to: "GetWindowAttributes", question.sequence)
        return reply.value
      }
    }

    /// The size of a window without its border, and how wide that is.
    struct Outline: Hashable {
      var width: Int
      var height: Int
      var border: Int
    }

    /// How it looks.
    struct Appearance {
      /// How its pixels are made of colours. Nil if it has none: it only takes input.
      let visual: xcb_visualid_t?
    }

    /// - Returns: nil if the window is gone.
    func appearance(_ connection: XConnection) throws(ScreenError) -> Appearance? {
      guard let attributes = try Self.attributes(askAttributes(connection), connection)
      else { return nil }
      let takesInputAlone = attributes._class == UInt16(XCB_WINDOW_CLASS_INPUT_ONLY.rawValue)
      return Appearance(visual: takesInputAlone ? nil : attributes.visual)
    }

    /// What says where a window lies on another one.
    struct BoundsQuestion {
      fileprivate let attributes: Question
      fileprivate let size: Question
      fileprivate let place: Question
    }

    func askBounds(on target: XWindow, _ connection: XConnection) -> BoundsQuestion {
      BoundsQuestion(
        attributes: askAttributes(connection), size: askGeometry(connection),
        place: askOrigin(on: target, connection))
    }

    func askOrigin(on target: XWindow, _ connection: XConnection) -> Question {
      Question(
        unsafe xcb_translate_coordinates(connection.pointer, id, target.id, 0, 0).sequence)
    }

    /// Where it begins, without its border, on the window of the question; nil if it is gone.
    static func origin(
      _ question: Question, _ connection: XConnection
    ) throws(ScreenError) -> (x: Int, y: Int)? {
      try ifThere { () throws(ScreenError) in
        let reply: XReply<xcb_translate_coordinates_reply_t> = try connection.reply(
          to: "TranslateCoordinates", question.sequence)
        return (Int(reply.value.dst_x), Int(reply.value.dst_y))
      }
    }

    /// Where it begins, without its border, on another window; nil if it is gone.
    func origin(
      on target: XWindow, _ connection: XConnection
    ) throws(ScreenError) -> (x: Int, y: Int)? {
      try Self.origin(askOrigin(on: target, connection), connection)
    }

    /// Where it lies on another window with its border, all of it, also what others cover. Nil if
    /// it is not shown.
    static func bounds(
      _ question: BoundsQuestion, _ connection: XConnection
    ) throws(ScreenError) -> PixelRect? {
      // All are taken, so that no reply stays behind.
      let origin = try origin(question.place, connection)
      let state = try attributes(question.attributes, connection)?.map_state
      let size = try geometry(question.size, connection)
      guard let state, let size, let origin, state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue)
      else { return nil }
      let border = Int(size.border_width)
      return PixelRect(
        x: origin.x - border, y: origin.y - border,
        width: Int(size.width) + 2 * border, height: Int(size.height) + 2 * border)
    }

    /// Where its inside lies on the window of the question; nil if nothing can be drawn in it.
    static func interior(
      _ question: BoundsQuestion, _ connection: XConnection
    ) throws(ScreenError) -> PixelRect? {
      // All are taken, so that no reply stays behind.
      let origin = try origin(question.place, connection)
      let attributes = try attributes(question.attributes, connection)
      let size = try geometry(question.size, connection)
      guard let attributes, let size, let origin,
        attributes._class == UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue),
        attributes.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue)
      else { return nil }
      return PixelRect(
        x: origin.x, y: origin.y, width: Int(size.width), height: Int(size.height))
    }

    /// - Returns: nil if the window is gone.
    static func ifThere<Value>(
      _ ask: () throws(ScreenError) -> Value
    ) throws(ScreenError) -> Value? {
      do { return try ask() } catch {
        if case .refused(_, let code) = error, code == Self.badWindow || code == Self.badDrawable {
          return nil
        }
        throw error
      }
    }

    private static let badWindow: UInt8 = 3
    private static let badDrawable: UInt8 = 9
  }

  extension XConnection {
    /// The number that the server has for a name.
    func atom(_ name: String) throws(ScreenError) -> xcb_atom_t { try atoms([name])[0] }

    /// The numbers that the server has for names.
    func atoms(_ names: [String]) throws(ScreenError) -> [xcb_atom_t] {
      let cookies = names.map { unsafe xcb_intern_atom(pointer, 0, UInt16($0.utf8.count), $0) }
      var atoms: [xcb_atom_t] = []
      for cookie in cookies {
        let reply: XReply<xcb_intern_atom_reply_t> = try reply(to: "InternAtom", cookie.sequence)
        atoms.append(reply.value.atom)
      }
      return atoms
    }
  }
#endif
