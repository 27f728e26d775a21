#if Media
  import CXCB
  import FrameBus
  import Platform

  /// A window of somebody else's, which may go at any time: what is asked of one that is gone is
  /// answered with nil.
  struct XWindow: Hashable {
    let id: xcb_window_t

    init(_ id: xcb_window_t) { self.id = id }

    /// Asks the server to tell of changes of the window, its children and its properties, or of
    /// none. Always of all three: a client has one wish for each window, and several here watch.
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

    /// Its children, the lowest first.
    func children(_ connection: XConnection) throws(ScreenError) -> [XWindow]? {
      try family(connection)?.children
    }

    /// The window that it lies in; nil for the root too.
    func parent(_ connection: XConnection) throws(ScreenError) -> XWindow? {
      try family(connection)?.parent
    }

    private func family(
      _ connection: XConnection
    ) throws(ScreenError) -> (parent: XWindow?, children: [XWindow])? {
      let cookie = unsafe xcb_query_tree(connection.pointer, id)
      return try ifThere { () throws(ScreenError) in
        let reply = try connection.reply(to: "QueryTree") {
          unsafe xcb_query_tree_reply($0, cookie, $1)
        }
        // SAFETY: the children lie in the reply, as many as libxcb counts.
        let children = unsafe UnsafeBufferPointer(
          start: xcb_query_tree_children(reply.pointer),
          count: Int(xcb_query_tree_children_length(reply.pointer)))
        let parent = reply.value.parent
        return unsafe (parent == 0 ? nil : XWindow(parent), children.map(XWindow.init))
      }
    }

    /// The bytes of a property; none if it has no such property. No more than 1024 are asked for.
    func property(
      _ atom: xcb_atom_t, _ connection: XConnection
    ) throws(ScreenError) -> [UInt8]? {
      let cookie = unsafe xcb_get_property(
        connection.pointer, 0, id, atom, XCB_GET_PROPERTY_TYPE_ANY.rawValue, 0, 256)
      return try ifThere { () throws(ScreenError) in
        let reply = try connection.reply(to: "GetProperty") {
          unsafe xcb_get_property_reply($0, cookie, $1)
        }
        // SAFETY: the value lies in the reply, as long as libxcb says.
        return unsafe Array(
          UnsafeRawBufferPointer(
            start: xcb_get_property_value(reply.pointer),
            count: Int(xcb_get_property_value_length(reply.pointer))))
      }
    }

    /// The two names of the program it belongs to, its own and that of its kind (WM_CLASS, ICCCM
    /// section 4.1.2.5).
    func classNames(_ connection: XConnection) throws(ScreenError) -> [ArraySlice<UInt8>]? {
      try property(XCB_ATOM_WM_CLASS.rawValue, connection)
        .map { Array($0.split(separator: 0).prefix(2)) }
    }

    /// Its place in its parent, its size and its border.
    func geometry(
      _ connection: XConnection
    ) throws(ScreenError) -> xcb_get_geometry_reply_t? {
      let cookie = unsafe xcb_get_geometry(connection.pointer, id)
      return try ifThere { () throws(ScreenError) in
        try connection.reply(to: "GetGeometry") {
          unsafe xcb_get_geometry_reply($0, cookie, $1)
        }.value
      }
    }

    /// How it looks.
    struct Looks {
      /// How its pixels are made of colours. Nil if it has none: it only takes input.
      let visual: xcb_visualid_t?
    }

    /// - Returns: nil if the window is gone.
    func looks(_ connection: XConnection) throws(ScreenError) -> Looks? {
      let cookie = unsafe xcb_get_window_attributes(connection.pointer, id)
      let attributes = try ifThere { () throws(ScreenError) in
        try connection.reply(to: "GetWindowAttributes") {
          unsafe xcb_get_window_attributes_reply($0, cookie, $1)
        }.value
      }
      guard let attributes else { return nil }
      let takesInputAlone = attributes._class == UInt16(XCB_WINDOW_CLASS_INPUT_ONLY.rawValue)
      return Looks(visual: takesInputAlone ? nil : attributes.visual)
    }

    /// Where it lies on another window with its border, all of it, also what others cover. Nil if
    /// it is not shown.
    func bounds(
      on target: XWindow, _ connection: XConnection
    ) throws(ScreenError) -> PixelRect? {
      let pointer = unsafe connection.pointer
      let attributes = unsafe xcb_get_window_attributes(pointer, id)
      let place = unsafe xcb_translate_coordinates(pointer, id, target.id, 0, 0)
      // All are taken, so that no reply stays behind.
      let state = try ifThere { () throws(ScreenError) in
        try connection.reply(to: "GetWindowAttributes") {
          unsafe xcb_get_window_attributes_reply($0, attributes, $1)
        }.value.map_state
      }
      let size = try geometry(connection)
      let origin = try ifThere { () throws(ScreenError) in
        try connection.reply(to: "TranslateCoordinates") {
          unsafe xcb_translate_coordinates_reply($0, place, $1)
        }.value
      }
      guard let state, let size, let origin, state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue)
      else { return nil }
      let border = Int(size.border_width)
      return PixelRect(
        x: Int(origin.dst_x) - border, y: Int(origin.dst_y) - border,
        width: Int(size.width) + 2 * border, height: Int(size.height) + 2 * border)
    }

    /// - Returns: nil if the window is gone.
    func ifThere<Value>(
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
    func atom(_ name: String) throws(ScreenError) -> xcb_atom_t {
      let cookie = unsafe xcb_intern_atom(pointer, 0, UInt16(name.utf8.count), name)
      return try reply(to: "InternAtom") { unsafe xcb_intern_atom_reply($0, cookie, $1) }.value.atom
    }
  }
#endif
