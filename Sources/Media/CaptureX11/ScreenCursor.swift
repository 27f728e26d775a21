#if Media
  import CXCB
  import FrameBus
  import Platform

  /// The mouse cursor, which no grab of the root window contains (XFIXES extension).
  struct ScreenCursor: ~Copyable {
    private let target: CaptureTarget
    private let screen: RootScreen
    private var width = 0
    private var height = 0
    private var hotX = 0
    private var hotY = 0
    /// Premultiplied ARGB, row by row.
    private var pixels: [UInt32] = []
    private var isStale = true
    /// The cursor's position in the newest published frame.
    private(set) var position = PointerPosition.elsewhere

    init(over target: CaptureTarget) {
      self.target = target
      screen = target.screen
    }

    /// Selects events about changes of the cursor's image, or no events.
    func watch(_ isWanted: Bool) {
      let mask = isWanted ? XCB_XFIXES_CURSOR_NOTIFY_MASK_DISPLAY_CURSOR.rawValue : 0
      // SAFETY: the connection is open as long as `screen` lives.
      unsafe xcb_xfixes_select_cursor_input(screen.connection.pointer, screen.root, mask)
      screen.connection.flush()
    }

    /// Marks the cursor's image as changed: it is fetched before the next drawing.
    mutating func markStale() { isStale = true }

    /// Queries the cursor's position. Returns true if it must be redrawn or has moved.
    mutating func moveIfNeeded() throws(ScreenError) -> Bool {
      let now = try target.window.pointerPosition(screen.connection) ?? .elsewhere
      if now == position, !isStale { return false }
      position = now
      return true
    }

    /// The rectangle of the target that the cursor covers in the newest drawing.
    private(set) var bounds = PixelRect(x: 0, y: 0, width: 0, height: 0)

    /// Fetches the cursor's image if it has changed.
    /// - Returns: whether it has changed.
    mutating func refresh() throws(ScreenError) -> Bool {
      guard isStale else { return false }
      let pointer = unsafe screen.connection.pointer
      let cookie = unsafe xcb_xfixes_get_cursor_image(pointer)
      let reply: XReply<xcb_xfixes_get_cursor_image_reply_t> = try screen.connection.reply(
        to: "XFIXES GetCursorImage", cookie.sequence)
      width = Int(reply.value.width)
      height = Int(reply.value.height)
      hotX = Int(reply.value.xhot)
      hotY = Int(reply.value.yhot)
      // SAFETY: the pixels lie in the reply, and are copied while it lives. Counted here: libxcb's
      // product of the sides is an `int`, which two of 65535 overflow.
      pixels = unsafe Array(
        try reply.list(
          xcb_xfixes_get_cursor_image_cursor_image(reply.pointer), count: width * height))
      isStale = false
      return true
    }

    /// Puts the cursor where it is now, for the next drawing.
    mutating func place() {
      bounds = PixelRect(
        x: position.x - hotX, y: position.y - hotY, width: position.isHere ? width : 0,
        height: position.isHere ? height : 0)
    }

    /// Draws the cursor over a grab of `area`, which has no gaps between its rows. Touches only the
    /// pixels under the cursor.
    func draw(into bytes: inout MutableRawSpan, area: PixelRect) {
      guard !bounds.isEmpty else { return }
      let left = bounds.x - area.x
      let top = bounds.y - area.y
      let stride = area.width * 4
      for row in max(0, -top)..<max(0, -top, min(height, area.height - top)) {
        for column in max(0, -left)..<max(0, -left, min(width, area.width - left)) {
          let source = pixels[row * width + column]
          if source == 0 { continue }
          let offset = (top + row) * stride + (left + column) * 4
          let under = bytes.loadPixel(at: offset)
          bytes.storeBytes(
            of: Self.blend(source, over: under), toByteOffset: offset, as: UInt32.self)
        }
      }
    }

    /// Premultiplied source over opaque background, channel by channel.
    static func blend(_ source: UInt32, over under: UInt32) -> UInt32 {
      let rest = 255 - source >> 24
      var result: UInt32 = 0
      for shift in [UInt32(0), 8, 16] {
        let channel = (source >> shift & 0xFF) + ((under >> shift & 0xFF) * rest + 127) / 255
        result |= min(channel, 255) << shift
      }
      return result
    }
  }

  /// The pointer's position, relative to the upper left corner of a window.
  struct PointerPosition: Equatable {
    var x: Int
    var y: Int
    var isHere: Bool

    static let elsewhere = PointerPosition(x: 0, y: 0, isHere: false)
  }

  extension XWindow {
    fileprivate func pointerPosition(
      _ connection: XConnection
    ) throws(ScreenError) -> PointerPosition? {
      let cookie = unsafe xcb_query_pointer(connection.pointer, id)
      return try Self.ifThere { () throws(ScreenError) in
        let answer: XReply<xcb_query_pointer_reply_t> = try connection.reply(
          to: "QueryPointer", cookie.sequence)
        let reply = answer.value
        return PointerPosition(
          x: Int(reply.win_x), y: Int(reply.win_y), isHere: reply.same_screen != 0)
      }
    }
  }

  extension MutableRawSpan {
    /// Four bytes as one little-endian pixel; traps outside the span.
    fileprivate func loadPixel(at offset: Int) -> UInt32 {
      // SAFETY: any bytes are a valid UInt32; the load checks the bounds.
      unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
    }
  }
#endif
