#if Media
  import CXCB
  import Platform

  /// A connection to an X server, closed when its owner goes.
  @safe final class XConnection: @unchecked Sendable {
    // because libxcb locks around every call, and the pointer never changes

    /// SAFETY: open until deinit; users keep this object alive across calls with it.
    @unsafe let pointer: OpaquePointer
    /// The display as the user named it, for messages.
    let display: String
    private let preferredScreen: Int

    init(display name: String?) throws(ScreenError) {
      let display = name ?? environmentValue("DISPLAY") ?? ""
      if display.isEmpty { throw .noDisplayNamed }
      self.display = display
      var screen: Int32 = 0
      // SAFETY: the string is read during the call; the result is checked before any use.
      guard let pointer = unsafe xcb_connect(display, &screen) else {
        throw .unreachable(display: display)
      }
      unsafe self.pointer = pointer
      preferredScreen = Int(screen)
      switch unsafe xcb_connection_has_error(pointer) {
      case 0: break
      case XCB_CONN_CLOSED_PARSE_ERR: throw .badDisplayName(display)
      case XCB_CONN_CLOSED_INVALID_SCREEN: throw .noSuchScreen(display: display)
      default: throw .unreachable(display: display)
      }
    }

    deinit { unsafe xcb_disconnect(pointer) }

    var descriptorNumber: Int32 { unsafe xcb_get_file_descriptor(pointer) }
    var isBroken: Bool { unsafe xcb_connection_has_error(pointer) != 0 }
    func flush() { _ = unsafe xcb_flush(pointer) }
    func makeID() -> UInt32 { unsafe xcb_generate_id(pointer) }

    /// The screen that the display's name means, or the first one.
    var screen: xcb_screen_t {
      // SAFETY: the iterator walks the setup data that the connection owns.
      var screens = unsafe xcb_setup_roots_iterator(xcb_get_setup(pointer))
      for _ in 0..<preferredScreen where unsafe screens.rem > 1 {
        unsafe xcb_screen_next(&screens)
      }
      return unsafe screens.data.pointee
    }

    /// Bits that a pixel of this depth takes in an image, or nil if the depth does not exist.
    func bitsPerPixel(depth: UInt8) -> UInt8? {
      // SAFETY: as for `screen`.
      var formats = unsafe xcb_setup_pixmap_formats_iterator(xcb_get_setup(pointer))
      while unsafe formats.rem > 0 {
        let format = unsafe formats.data.pointee
        if format.depth == depth { return format.bits_per_pixel }
        unsafe xcb_format_next(&formats)
      }
      return nil
    }

    var isLittleEndian: Bool {
      unsafe xcb_get_setup(pointer).pointee.image_byte_order
        == UInt8(XCB_IMAGE_ORDER_LSB_FIRST.rawValue)
    }

    /// The masks of red, green and blue in a pixel of this visual.
    func colorMasks(of visual: xcb_visualid_t, on screen: xcb_screen_t) -> [UInt32] {
      // SAFETY: as for `screen`; the iterators stay inside the setup data.
      var target = unsafe xcb_setup_roots_iterator(xcb_get_setup(pointer))
      while unsafe target.rem > 0, unsafe target.data.pointee.root != screen.root {
        unsafe xcb_screen_next(&target)
      }
      guard unsafe target.rem > 0 else { return [] }
      var depths = unsafe xcb_screen_allowed_depths_iterator(target.data)
      while unsafe depths.rem > 0 {
        var visuals = unsafe xcb_depth_visuals_iterator(depths.data)
        while unsafe visuals.rem > 0 {
          let candidate = unsafe visuals.data.pointee
          if candidate.visual_id == visual {
            return [candidate.red_mask, candidate.green_mask, candidate.blue_mask]
          }
          unsafe xcb_visualtype_next(&visuals)
        }
        unsafe xcb_depth_next(&depths)
      }
      return []
    }

    /// The number of an extension's first event, or nil if the server does not have it.
    func firstEvent(of extensionName: String) throws(ScreenError) -> UInt8? {
      let cookie = unsafe xcb_query_extension(
        pointer, UInt16(extensionName.utf8.count), extensionName)
      let reply = try reply(to: "QueryExtension") {
        unsafe xcb_query_extension_reply($0, cookie, $1)
      }
      return reply.value.present != 0 ? reply.value.first_event : nil
    }

    /// Waits for the answer to a request, and frees it with the result.
    /// - Parameters:
    ///   - request: its name, for messages.
    ///   - receive: libxcb's function for the reply, called with the connection and a place for
    ///     an error.
    @safe func reply<Value>(
      to request: String,
      _ receive: (
        OpaquePointer, UnsafeMutablePointer<UnsafeMutablePointer<xcb_generic_error_t>?>
      ) -> UnsafeMutablePointer<Value>?
    ) throws(ScreenError) -> XReply<Value> {
      var error: UnsafeMutablePointer<xcb_generic_error_t>?
      // SAFETY: libxcb allocates either a reply or an error; each is freed once.
      if let reply = unsafe receive(pointer, &error) { return unsafe XReply(reply) }
      if let error = unsafe error {
        let code = unsafe error.pointee.error_code
        unsafe freeForeignMemory(error)
        throw .refused(request: request, code: code)
      }
      throw .serverGone(display: display)
    }

    /// Waits until a request without an answer was carried out.
    /// - Returns: the number of the error that it came to; nil for none.
    func check(_ request: xcb_void_cookie_t) throws(ScreenError) -> UInt8? {
      if let error = unsafe xcb_request_check(pointer, request) {
        let code = unsafe error.pointee.error_code
        // SAFETY: an error that libxcb gives away is freed once, here.
        unsafe freeForeignMemory(error)
        return code
      }
      if isBroken { throw .serverGone(display: display) }
      return nil
    }

    /// Takes all events that have arrived. Never blocks.
    /// - Parameter readsSocket: false for those alone that came before an answer that was read.
    func takeEvents(readsSocket: Bool = true) -> [XEvent] {
      var events: [XEvent] = []
      var next =
        unsafe readsSocket ? xcb_poll_for_event(pointer) : xcb_poll_for_queued_event(pointer)
      while let event = unsafe next {
        // SAFETY: an event that libxcb gives away is freed once, here.
        unsafe events.append(XEvent(event))
        unsafe freeForeignMemory(event)
        // What else that reading brought: asking the socket again is a system call a frame.
        unsafe next = xcb_poll_for_queued_event(pointer)
      }
      return events
    }
  }

  /// What concerns us of an event.
  struct XEvent {
    let type: UInt8
    /// Which property changed, where the event tells of one.
    let atom: xcb_atom_t?
    /// Which window was shown, hidden, moved or closed, where the event tells of that.
    let window: XWindow?

    /// SAFETY: the event is a whole one of libxcb's.
    @unsafe init(_ event: UnsafePointer<xcb_generic_event_t>) {
      type = unsafe event.pointee.response_type & 0x7F
      atom =
        Int32(type) == XCB_PROPERTY_NOTIFY
        ? unsafe event.withMemoryRebound(to: xcb_property_notify_event_t.self, capacity: 1) {
          unsafe $0.pointee.atom
        } : nil
      // All of them begin alike.
      window =
        Self.ofStructure.contains(Int32(type))
        ? unsafe event.withMemoryRebound(to: xcb_destroy_notify_event_t.self, capacity: 1) {
          unsafe XWindow($0.pointee.window)
        } : nil
    }

    private static let ofStructure: Set = [
      XCB_CONFIGURE_NOTIFY, XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY, XCB_GRAVITY_NOTIFY,
      XCB_REPARENT_NOTIFY, XCB_DESTROY_NOTIFY,
    ]
  }

  /// A reply that libxcb allocated, freed when it goes.
  @safe struct XReply<Value>: ~Copyable {
    /// SAFETY: points to a whole reply, owned by this value alone.
    @unsafe let pointer: UnsafeMutablePointer<Value>

    init(_ pointer: UnsafeMutablePointer<Value>) { unsafe self.pointer = pointer }

    var value: Value { unsafe pointer.pointee }

    deinit { unsafe freeForeignMemory(pointer) }
  }
#endif
