#if Media
  import CXCB
  import Platform
  import Synchronization

  /// A connection to an X server, closed when its owner goes.
  ///
  /// The server may be anything: what it answers is checked, and nothing waits for it without end.
  /// libxcb itself waits, inside its calls, for the rest of a reply that has begun, and while
  /// connecting: ``cut()`` ends the one, ``connect(to:until:stop:)`` leaves the other behind.
  @safe final class XConnection: @unchecked Sendable {
    // because libxcb locks around every call, and the pointer never changes

    /// SAFETY: open until deinit; users keep this object alive across calls with it.
    @unsafe let pointer: OpaquePointer
    /// The display as the user named it, for messages.
    let display: String
    let setup: XSetup
    /// The screen that the display's name means, or the first one.
    let screen: XSetup.Screen
    let screenNumber: Int
    /// When the server is given up.
    private let deadline: Deadline
    /// Events that came before an answer.
    private let events = Mutex<[XEvent]>([])
    /// More are not kept.
    private static let maximumEventCount = 1 << 14

    /// - Parameters:
    ///   - name: nil for the display that `DISPLAY` names.
    ///   - deadline: when the server is given up.
    init(display name: String?, until deadline: Deadline) throws(ScreenError) {
      let display = name ?? environmentValue("DISPLAY") ?? ""
      if display.isEmpty { throw .noDisplayNamed }
      var preferred: Int32 = 0
      // SAFETY: the string is read during the call; the result is checked before any use.
      guard let pointer = unsafe xcb_connect(display, &preferred) else {
        throw .unreachable(display: display)
      }
      do throws(ScreenError) {
        setup = unsafe try Self.setup(pointer, display)
        if setup.screens.isEmpty { throw .malformed(request: "the connection") }
        screenNumber = setup.screens.indices.contains(Int(preferred)) ? Int(preferred) : 0
        screen = setup.screens[screenNumber]
      } catch {
        unsafe xcb_disconnect(pointer)
        throw error
      }
      unsafe self.pointer = pointer
      self.display = display
      self.deadline = deadline
      unsafe framebus_xcb_prefetch_extensions(pointer)
      try synchronize()
    }

    /// SAFETY: the pointer is one that xcb_connect gave.
    private static func setup(
      _ pointer: OpaquePointer, _ display: String
    ) throws(ScreenError) -> XSetup {
      switch unsafe xcb_connection_has_error(pointer) {
      case 0: break
      case XCB_CONN_CLOSED_PARSE_ERR: throw .badDisplayName(display)
      case XCB_CONN_CLOSED_INVALID_SCREEN: throw .noSuchScreen(display: display)
      default: throw .unreachable(display: display)
      }
      // SAFETY: libxcb keeps all that it received, 8 bytes and what they announce, until it
      // disconnects.
      let start = unsafe UnsafeRawPointer(xcb_get_setup(pointer))
      guard let start = unsafe start else { throw .unreachable(display: display) }
      let units = unsafe start.load(fromByteOffset: 6, as: UInt16.self)
      let bytes = unsafe Array(UnsafeRawBufferPointer(start: start, count: 8 + 4 * Int(units)))
      guard let setup = XSetup(bytes) else { throw .malformed(request: "the connection") }
      return setup
    }

    deinit { unsafe xcb_disconnect(pointer) }

    var isBroken: Bool { unsafe xcb_connection_has_error(pointer) != 0 }
    func flush() { _ = unsafe xcb_flush(pointer) }
    func makeID() -> UInt32 { unsafe xcb_generate_id(pointer) }

    /// Breaks the connection, on whatever thread: who waits for the server then sees that it has
    /// gone.
    func cut() { hangUp(unsafe xcb_get_file_descriptor(pointer)) }

    /// The number of an extension's first event, or nil if the server does not have it.
    func firstEvent(of extensionName: String) throws(ScreenError) -> UInt8? {
      let cookie = unsafe xcb_query_extension(
        pointer, UInt16(extensionName.utf8.count), extensionName)
      let reply: XReply<xcb_query_extension_reply_t> = try reply(
        to: "QueryExtension", cookie.sequence)
      return reply.value.present != 0 ? reply.value.first_event : nil
    }

    // MARK: Answers

    /// Waits for the answer to a request.
    /// - Parameter request: its name, for messages.
    @safe func reply<Value>(
      to request: String, _ sequence: UInt32
    ) throws(ScreenError) -> XReply<Value> {
      flush()
      while true {
        var reply: UnsafeMutableRawPointer?
        var error: UnsafeMutablePointer<xcb_generic_error_t>?
        // SAFETY: libxcb allocates either a reply or an error, or nothing where the connection
        // broke; each is freed once.
        if unsafe xcb_poll_for_reply(pointer, sequence, &reply, &error) != 0 {
          if let reply = unsafe reply { return unsafe try XReply(reply, to: request) }
          if let error = unsafe error {
            let code = unsafe error.pointee.error_code
            unsafe freeForeignMemory(error)
            throw .refused(request: request, code: code)
          }
          throw .serverGone(display: display)
        }
        keepEvents()
        try waitForServer()
      }
    }

    private func waitForServer() throws(ScreenError) {
      do {
        let number = unsafe xcb_get_file_descriptor(pointer)
        // It may also send other things without end.
        if try firstReadable(number, until: deadline) == nil || deadline.isPast { cut() }
      } catch { throw .system(error) }
    }

    /// Waits until the server has carried out all that it was asked.
    func synchronize() throws(ScreenError) {
      let cookie = unsafe xcb_get_input_focus(pointer)
      let _: XReply<xcb_get_input_focus_reply_t> = try reply(to: "GetInputFocus", cookie.sequence)
    }

    /// Waits until a request without an answer was carried out.
    /// - Returns: the number of the error that it came to; nil for none.
    func check(_ request: xcb_void_cookie_t) throws(ScreenError) -> UInt8? {
      // Then libxcb knows, and does not wait itself.
      try synchronize()
      if let error = unsafe xcb_request_check(pointer, request) {
        let code = unsafe error.pointee.error_code
        // SAFETY: an error that libxcb gives away is freed once, here.
        unsafe freeForeignMemory(error)
        return code
      }
      if isBroken { throw .serverGone(display: display) }
      return nil
    }

    // MARK: Other clients

    /// Has the server do nothing for any other client until ``ungrabServer()``. What they did
    /// before has been told when this returns.
    func grabServer() throws(ScreenError) {
      unsafe xcb_grab_server(pointer)
      try synchronize()
    }

    func ungrabServer() {
      unsafe xcb_ungrab_server(pointer)
      flush()
    }

    /// Whether somebody owns a selection (ICCCM section 2).
    func isOwned(selection: xcb_atom_t) throws(ScreenError) -> Bool {
      let cookie = unsafe xcb_get_selection_owner(pointer, selection)
      let reply: XReply<xcb_get_selection_owner_reply_t> = try reply(
        to: "GetSelectionOwner", cookie.sequence)
      return reply.value.owner != 0
    }

    // MARK: Events

    /// Waits until an event may have arrived.
    /// - Returns: false after the deadline, or if a stop was requested.
    func waitForEvents(until deadline: Deadline, _ stop: StopSignal) -> Bool {
      keepEvents()
      if events.withLock({ !$0.isEmpty }) { return true }
      let number = unsafe xcb_get_file_descriptor(pointer)
      // After a failed poll (no memory), the caller looks for events at its deadline.
      let ready = try? firstReadable(stop.descriptorNumber, number, until: deadline)
      return ready == 1
    }

    /// Takes all events that have arrived. Never blocks.
    /// - Parameter readsSocket: false for those alone that came before an answer that was read.
    func takeEvents(readsSocket: Bool = true) -> [XEvent] {
      if readsSocket, let event = unsafe xcb_poll_for_event(pointer) { unsafe keep(event) }
      // What else that reading brought: asking the socket again is a system call a frame.
      keepEvents()
      return events.withLock { events in
        defer { events = [] }
        return events
      }
    }

    /// Takes over what libxcb has, which keeps events without end.
    private func keepEvents() {
      while let event = unsafe xcb_poll_for_queued_event(pointer) { unsafe keep(event) }
    }

    /// SAFETY: an event that libxcb gave away, freed once, here.
    private func keep(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
      defer { unsafe freeForeignMemory(event) }
      // Errors of requests without an answer are of no interest.
      guard unsafe event.pointee.response_type != 0, let event = unsafe XEvent(event)
      else { return }
      events.withLock { events in
        if events.count >= Self.maximumEventCount { events = [.overflow] }
        events.append(event)
      }
    }
  }
#endif
