#if Media
  import CXCB
  import Platform

  /// Lets the user click on a window: while this value lives, all clicks and keys come here.
  struct WindowPick: ~Copyable {
    private let connection: XConnection
    private let escape: Set<UInt8>

    private static let leftButton: UInt8 = 1
    private static let rightButton: UInt8 = 3
    private static let escapeSymbol: UInt32 = 0xFF1B
    private static let crosshair: UInt16 = 34
    private static let now = xcb_timestamp_t(XCB_CURRENT_TIME)
    /// How long to wait for a menu that is about to close, or for a key to be released.
    private static let grabLimit = Duration.seconds(2)
    private static let longestPause = Duration.milliseconds(160)

    init(_ connection: XConnection) throws(WindowChoiceError) {
      let escape: Set<UInt8>
      let isGrabbed: Bool
      do {
        escape = try Self.keys(for: Self.escapeSymbol, connection)
        isGrabbed = try Self.grabAll(connection)
      } catch { throw .screen(error) }
      if !isGrabbed { throw .pointerTaken(display: connection.display) }
      self.connection = connection
      self.escape = escape
    }

    deinit { Self.ungrab(connection) }

    /// Waits for a click.
    /// - Returns: the window of the root under the pointer; nil if there is none.
    func wait() throws(WindowChoiceError) -> XWindow? {
      // The button's release is waited for too, which would otherwise reach another program.
      var pressed: (button: UInt8, window: XWindow?)?
      while true {
        for event in connection.takeEvents() {
          switch Int32(event.type) {
          case XCB_KEY_PRESS where escape.contains(event.detail): throw .cancelled
          case XCB_BUTTON_PRESS where pressed == nil: pressed = (event.detail, event.window)
          case XCB_BUTTON_RELEASE where event.detail == pressed?.button:
            if event.detail == Self.leftButton { return pressed?.window }
            if event.detail == Self.rightButton { throw .cancelled }
            pressed = nil
          default: break
          }
        }
        if connection.isBroken { throw .screen(.serverGone(display: connection.display)) }
        do {
          _ = try firstReadable(
            unsafe xcb_get_file_descriptor(connection.pointer), until: .never)
        } catch { throw .screen(.system(error)) }
      }
    }

    /// - Returns: false if another client keeps the pointer or the keyboard.
    private static func grabAll(_ connection: XConnection) throws(ScreenError) -> Bool {
      let cursor = try cursor(connection)
      let limit = Deadline.after(grabLimit)
      // No event tells that another client has ungrabbed.
      var pause = Duration.milliseconds(10)
      while try !grab(connection, cursor) {
        if limit.isPast { return false }
        sleep(until: min(limit, .after(pause)))
        pause = min(pause * 2, longestPause)
      }
      return true
    }

    private static func grab(
      _ connection: XConnection, _ cursor: xcb_cursor_t
    ) throws(ScreenError) -> Bool {
      let async = UInt8(XCB_GRAB_MODE_ASYNC.rawValue)
      let buttons = XCB_EVENT_MASK_BUTTON_PRESS.rawValue | XCB_EVENT_MASK_BUTTON_RELEASE.rawValue
      // SAFETY: the connection is open as long as the caller has it.
      let pointer = unsafe xcb_grab_pointer(
        connection.pointer, 0, connection.screen.root, UInt16(buttons), async, async, 0, cursor, now
      )
      let keyboard = unsafe xcb_grab_keyboard(
        connection.pointer, 0, connection.screen.root, now, async, async)
      let pointerReply: XReply<xcb_grab_pointer_reply_t> = try connection.reply(
        to: "GrabPointer", pointer.sequence)
      let keyboardReply: XReply<xcb_grab_keyboard_reply_t> = try connection.reply(
        to: "GrabKeyboard", keyboard.sequence)
      let success = UInt8(XCB_GRAB_STATUS_SUCCESS.rawValue)
      if pointerReply.value.status == success, keyboardReply.value.status == success { return true }
      ungrab(connection)
      return false
    }

    private static func ungrab(_ connection: XConnection) {
      // SAFETY: the connection is open as long as the caller has it.
      unsafe xcb_ungrab_pointer(connection.pointer, now)
      unsafe xcb_ungrab_keyboard(connection.pointer, now)
      connection.flush()
    }

    /// A crosshair; the pointer as it is where the server has no font of cursors.
    private static func cursor(_ connection: XConnection) throws(ScreenError) -> xcb_cursor_t {
      let name = "cursor"
      let (font, cursor) = (connection.makeID(), connection.makeID())
      // SAFETY: the name is read during the call.
      unsafe xcb_open_font(connection.pointer, font, UInt16(name.utf8.count), name)
      let made = unsafe xcb_create_glyph_cursor_checked(
        connection.pointer, cursor, font, font, crosshair, crosshair + 1, 0, 0, 0, .max, .max, .max)
      return try connection.check(made) == nil ? cursor : 0
    }

    /// The keys that have a symbol on them.
    private static func keys(
      for symbol: UInt32, _ connection: XConnection
    ) throws(ScreenError) -> Set<UInt8> {
      let keycodes = connection.setup.keycodes
      let cookie = unsafe xcb_get_keyboard_mapping(
        connection.pointer, keycodes.lowerBound, UInt8(clamping: keycodes.count))
      let reply: XReply<xcb_get_keyboard_mapping_reply_t> = try connection.reply(
        to: "GetKeyboardMapping", cookie.sequence)
      let width = max(1, Int(reply.value.keysyms_per_keycode))
      var parser = ByteParser(reply.rest)
      var keys: Set<UInt8> = []
      var index = 0
      while let found = try? parser.integer(UInt32.self) {
        let key = Int(keycodes.lowerBound) + index / width
        if found == symbol, let key = UInt8(exactly: key) { keys.insert(key) }
        index += 1
      }
      return keys
    }
  }
#endif
