#if Media
  import Capture
  import CXCB
  import FrameBus
  import Platform

  /// The root window that is captured, its size, and its server's extensions.
  final class RootScreen: Sendable {
    let connection: XConnection
    /// For the stream's pools, which a thread of its own may attach: of two threads that wait for
    /// answers on one connection, one would read the other's and let it sleep.
    let poolConnection: XConnection?
    let root: xcb_window_t
    /// How pixels are transferred; not `automatic`.
    let backend: ScreenBackend
    let damageEvent: UInt8
    let cursorEvent: UInt8
    let resizeEvent: UInt8?
    let saverEvent: UInt8?
    private let saver: SaverPolicy

    /// The masks of red, green and blue in a 32-bit pixel.
    static let colorMasks: [UInt32] = [0xFF0000, 0xFF00, 0xFF]

    /// - Parameter deadline: when to stop waiting for the server.
    init(_ options: ScreenOptions, until deadline: Deadline) throws(ScreenError) {
      saver = options.whileSaver
      connection = try XConnection(display: options.display, until: deadline)
      let name = connection.display
      if !options.allowsWayland, try Self.isXwayland(connection) { throw .wayland(display: name) }
      let screen = connection.screen
      root = screen.root
      guard screen.rootDepth == 24 || screen.rootDepth == 32,
        connection.setup.bitsPerPixel[screen.rootDepth] == 32
      else { throw .unsupportedDepth(Int(screen.rootDepth), display: name) }
      let masks = screen.colorMasks[screen.rootVisual]
      guard connection.setup.isLittleEndian, masks == Self.colorMasks else {
        throw .unsupportedPixels(display: name)
      }
      backend = try Self.backend(for: options, connection)
      poolConnection =
        backend == .shm ? try XConnection(display: options.display, until: deadline) : nil
      guard let damage = try connection.firstEvent(of: "DAMAGE") else {
        throw .missingExtension("DAMAGE", display: name)
      }
      guard let fixes = try connection.firstEvent(of: "XFIXES") else {
        throw .missingExtension("XFIXES", display: name)
      }
      // No server has event numbers above 127, but a malformed answer may.
      damageEvent = damage &+ UInt8(XCB_DAMAGE_NOTIFY)
      cursorEvent = fixes &+ UInt8(XCB_XFIXES_CURSOR_NOTIFY)
      resizeEvent = try connection.firstEvent(of: "RANDR")
      saverEvent = try connection.firstEvent(of: "MIT-SCREEN-SAVER")
      try negotiate()
    }

    /// Ends every wait for the server. Can be called on any thread.
    func cut() {
      connection.cut()
      poolConnection?.cut()
    }

    /// Each extension answers requests only after its version was queried.
    private func negotiate() throws(ScreenError) {
      // SAFETY: the connection is open.
      let pointer = unsafe connection.pointer
      let damage = unsafe xcb_damage_query_version(pointer, 1, 1)
      let fixes = unsafe xcb_xfixes_query_version(pointer, 5, 0)
      let _: XReply<xcb_damage_query_version_reply_t> = try connection.reply(
        to: "DAMAGE QueryVersion", damage.sequence)
      let _: XReply<xcb_xfixes_query_version_reply_t> = try connection.reply(
        to: "XFIXES QueryVersion", fixes.sequence)
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

    /// Whether nobody sees the screen, because its saver is on. Blanking hides the picture on a
    /// monitor alone: a server that cannot turn one off (DPMS), such as Xvfb, has none.
    func isHiddenBySaver() throws(ScreenError) -> Bool {
      if saverEvent == nil || saver == .capture { return false }
      let cookie = unsafe xcb_screensaver_query_info(connection.pointer, root)
      let reply: XReply<xcb_screensaver_query_info_reply_t> = try connection.reply(
        to: "MIT-SCREEN-SAVER QueryInfo", cookie.sequence)
      guard reply.value.state == UInt8(XCB_SCREENSAVER_STATE_ON.rawValue) else { return false }
      let isBlank = reply.value.kind == UInt8(XCB_SCREENSAVER_KIND_BLANKED.rawValue)
      if !isBlank { return true }
      return try connection.firstEvent(of: "DPMS") != nil
    }

    /// Begins or ends keeping the saver off, where the policy says so. The server ends it too when
    /// the connection goes.
    func inhibitSaver(_ isWanted: Bool) {
      guard saver == .inhibit, saverEvent != nil else { return }
      // SAFETY: the connection is open as long as self lives.
      unsafe xcb_screensaver_suspend(connection.pointer, isWanted ? 1 : 0)
      connection.flush()
    }

    private static func backend(
      for options: ScreenOptions, _ connection: XConnection
    ) throws(ScreenError) -> ScreenBackend {
      // Subscribers map the pool, so pixels that they must not see may never be in it.
      let shared = options.protection == nil ? ScreenBackend.shm : .isolated
      switch options.backend {
      case .socket: return .socket
      case .shm, .isolated:
        try requireSharedMemory(connection)
        return options.backend == .isolated ? .isolated : shared
      case .automatic:
        do throws(ScreenError) {
          try requireSharedMemory(connection)
          // A server on another machine has the extension too.
          _ = try PrivateSegment(connection, byteCount: 4096)
          return shared
        } catch {
          switch error {
          case .missingExtension, .cannotShareMemory: return .socket
          default: throw error
          }
        }
      }
    }

    private static func requireSharedMemory(_ connection: XConnection) throws(ScreenError) {
      let missing = ScreenError.missingExtension("MIT-SHM", display: connection.display)
      guard try connection.firstEvent(of: "MIT-SHM") != nil else { throw missing }
      // SAFETY: the caller keeps the connection open.
      let pointer = unsafe connection.pointer
      let cookie = unsafe xcb_shm_query_version(pointer)
      let reply: XReply<xcb_shm_query_version_reply_t> = try connection.reply(
        to: "MIT-SHM QueryVersion", cookie.sequence)
      // Descriptors came with version 1.2.
      guard (reply.value.major_version, reply.value.minor_version) >= (1, 2) else { throw missing }
    }

    /// Xwayland names itself: by an extension since version 23.1, by its outputs before. Asked of
    /// the server, not of the environment: an ssh session into a Wayland desktop sees black too.
    static func isXwayland(_ connection: XConnection) throws(ScreenError) -> Bool {
      if try connection.firstEvent(of: "XWAYLAND") != nil { return true }
      guard try connection.firstEvent(of: "RANDR") != nil else { return false }
      let cookie = unsafe xcb_randr_get_screen_resources_current(
        connection.pointer, connection.screen.root)
      let resources: XReply<xcb_randr_get_screen_resources_current_reply_t> =
        try connection.reply(to: "RANDR GetScreenResources", cookie.sequence)
      // SAFETY: the outputs lie in the reply, which lives as long.
      let outputs = unsafe try resources.list(
        xcb_randr_get_screen_resources_current_outputs(resources.pointer),
        count: xcb_randr_get_screen_resources_current_outputs_length(resources.pointer))
      guard let first = unsafe outputs.first else { return false }
      return try name(ofOutput: first, connection).hasPrefix("XWAYLAND")
    }

    private static func name(
      ofOutput output: xcb_randr_output_t, _ connection: XConnection
    ) throws(ScreenError) -> String {
      let cookie = unsafe xcb_randr_get_output_info(
        connection.pointer, output, xcb_timestamp_t(XCB_CURRENT_TIME))
      let info: XReply<xcb_randr_get_output_info_reply_t> = try connection.reply(
        to: "RANDR GetOutputInfo", cookie.sequence)
      // SAFETY: the name lies in the reply, which lives as long.
      let bytes = unsafe try info.list(
        xcb_randr_get_output_info_name(info.pointer),
        count: xcb_randr_get_output_info_name_length(info.pointer))
      return unsafe String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
