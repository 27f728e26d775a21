#if Media
  import CXCB
  import FrameBus
  import Platform

  /// The root window that is captured, its size, and what its server can do.
  final class RootScreen: Sendable {
    let connection: XConnection
    let root: xcb_window_t
    let damageEvent: UInt8
    let cursorEvent: UInt8
    let resizeEvent: UInt8?
    let saverEvent: UInt8?

    /// Of red, green and blue in a pixel of 32 bits.
    static let colorMasks: [UInt32] = [0xFF0000, 0xFF00, 0xFF]

    /// - Parameter needsSharedMemory: whether the server must have MIT-SHM with descriptors.
    init(
      display: String?, allowsWayland: Bool, needsSharedMemory: Bool
    ) throws(ScreenError) {
      connection = try XConnection(display: display)
      let name = connection.display
      if !allowsWayland, try Self.isXwayland(connection) { throw .wayland(display: name) }
      let screen = connection.screen
      root = screen.root
      guard screen.root_depth == 24 || screen.root_depth == 32,
        connection.bitsPerPixel(depth: screen.root_depth) == 32
      else { throw .unsupportedDepth(Int(screen.root_depth), display: name) }
      let masks = connection.colorMasks(of: screen.root_visual, on: screen)
      guard connection.isLittleEndian, masks == Self.colorMasks else {
        throw .unsupportedPixels(display: name)
      }
      if needsSharedMemory { try Self.requireSharedMemory(connection) }
      guard let damage = try connection.firstEvent(of: "DAMAGE") else {
        throw .missingExtension("DAMAGE", display: name)
      }
      guard let fixes = try connection.firstEvent(of: "XFIXES") else {
        throw .missingExtension("XFIXES", display: name)
      }
      damageEvent = damage + UInt8(XCB_DAMAGE_NOTIFY)
      cursorEvent = fixes + UInt8(XCB_XFIXES_CURSOR_NOTIFY)
      resizeEvent = try connection.firstEvent(of: "RANDR")
      saverEvent = try connection.firstEvent(of: "MIT-SCREEN-SAVER")
      try negotiate()
    }

    /// Each extension answers requests only after it was asked for its version.
    private func negotiate() throws(ScreenError) {
      // SAFETY: the connection is open.
      let pointer = unsafe connection.pointer
      let damage = unsafe xcb_damage_query_version(pointer, 1, 1)
      let fixes = unsafe xcb_xfixes_query_version(pointer, 5, 0)
      _ = try connection.reply(to: "DAMAGE QueryVersion") {
        unsafe xcb_damage_query_version_reply($0, damage, $1)
      }
      _ = try connection.reply(to: "XFIXES QueryVersion") {
        unsafe xcb_xfixes_query_version_reply($0, fixes, $1)
      }
      if resizeEvent != nil {
        _ = unsafe xcb_randr_select_input(
          pointer, root, UInt16(XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE.rawValue))
      }
      if saverEvent != nil {
        unsafe xcb_screensaver_select_input(
          pointer, root, XCB_SCREENSAVER_EVENT_NOTIFY_MASK.rawValue)
      }
      connection.flush()
    }

    /// Whether the screen saver is on: the screen is off, or locked by it.
    func isSaverOn() throws(ScreenError) -> Bool {
      if saverEvent == nil { return false }
      let cookie = unsafe xcb_screensaver_query_info(connection.pointer, root)
      let reply = try connection.reply(to: "MIT-SCREEN-SAVER QueryInfo") {
        unsafe xcb_screensaver_query_info_reply($0, cookie, $1)
      }
      return reply.value.state == UInt8(XCB_SCREENSAVER_STATE_ON.rawValue)
    }

    private static func requireSharedMemory(_ connection: XConnection) throws(ScreenError) {
      let missing = ScreenError.missingExtension("MIT-SHM", display: connection.display)
      guard try connection.firstEvent(of: "MIT-SHM") != nil else { throw missing }
      // SAFETY: the caller keeps the connection open.
      let pointer = unsafe connection.pointer
      let cookie = unsafe xcb_shm_query_version(pointer)
      let reply = try connection.reply(to: "MIT-SHM QueryVersion") {
        unsafe xcb_shm_query_version_reply($0, cookie, $1)
      }
      // Descriptors came with version 1.2.
      guard (reply.value.major_version, reply.value.minor_version) >= (1, 2) else { throw missing }
    }

    /// Xwayland names itself: by an extension since version 23.1, by its outputs before. Asked of
    /// the server, not of the environment: an ssh session into a Wayland desktop sees black too.
    private static func isXwayland(_ connection: XConnection) throws(ScreenError) -> Bool {
      if try connection.firstEvent(of: "XWAYLAND") != nil { return true }
      guard try connection.firstEvent(of: "RANDR") != nil else { return false }
      let cookie = unsafe xcb_randr_get_screen_resources_current(
        connection.pointer, connection.screen.root)
      let resources = try connection.reply(to: "RANDR GetScreenResources") {
        unsafe xcb_randr_get_screen_resources_current_reply($0, cookie, $1)
      }
      // SAFETY: the outputs lie in the reply that `resources` owns, as many as libxcb says.
      let outputs = unsafe UnsafeBufferPointer(
        start: xcb_randr_get_screen_resources_current_outputs(resources.pointer),
        count: Int(xcb_randr_get_screen_resources_current_outputs_length(resources.pointer)))
      guard let first = unsafe outputs.first else { return false }
      return try name(ofOutput: first, connection).hasPrefix("XWAYLAND")
    }

    private static func name(
      ofOutput output: xcb_randr_output_t, _ connection: XConnection
    ) throws(ScreenError) -> String {
      let cookie = unsafe xcb_randr_get_output_info(
        connection.pointer, output, xcb_timestamp_t(XCB_CURRENT_TIME))
      let info = try connection.reply(to: "RANDR GetOutputInfo") {
        unsafe xcb_randr_get_output_info_reply($0, cookie, $1)
      }
      // SAFETY: the name lies in the reply that `info` owns, as long as libxcb says.
      let bytes = unsafe UnsafeBufferPointer(
        start: xcb_randr_get_output_info_name(info.pointer),
        count: Int(xcb_randr_get_output_info_name_length(info.pointer)))
      return unsafe String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
