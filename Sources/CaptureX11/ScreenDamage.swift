#if Media
  import CXCB
  import FrameBus
  import Platform

  /// What changed on the screen since it was last asked (DAMAGE extension).
  ///
  /// The server keeps the changed region and sends one event when it stops being empty; taking the
  /// region empties it. A change after that makes a new event, so none is lost.
  struct ScreenDamage: ~Copyable {
    private let connection: XConnection
    private let damage: xcb_damage_damage_t
    private let region: xcb_xfixes_region_t

    init(of screen: RootScreen) {
      connection = screen.connection
      damage = connection.makeID()
      region = connection.makeID()
      // SAFETY: the connection is open; an error would come with the first reply.
      unsafe xcb_damage_create(
        connection.pointer, damage, screen.root,
        UInt8(XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY.rawValue))
      unsafe xcb_xfixes_create_region(connection.pointer, region, 0, nil)
      connection.flush()
    }

    /// Asks for the changed region and empties it. Send the grab after this and before reading
    /// the answer: the server works in order, so the picture contains every change in it.
    func take() -> Pending {
      // SAFETY: the connection is open as long as self lives.
      unsafe xcb_damage_subtract(connection.pointer, damage, 0, region)
      return unsafe Pending(cookie: xcb_xfixes_fetch_region(connection.pointer, region))
    }

    struct Pending { let cookie: xcb_xfixes_fetch_region_cookie_t }

    /// The changed rectangles, in the screen's pixels.
    func rectangles(of pending: Pending) throws(ScreenError) -> [PixelRect] {
      let reply = try connection.reply(to: "XFIXES FetchRegion") {
        unsafe xcb_xfixes_fetch_region_reply($0, pending.cookie, $1)
      }
      // SAFETY: the rectangles lie in the reply, as many as libxcb counts.
      let rectangles = unsafe UnsafeBufferPointer(
        start: xcb_xfixes_fetch_region_rectangles(reply.pointer),
        count: Int(xcb_xfixes_fetch_region_rectangles_length(reply.pointer)))
      return unsafe rectangles.map {
        PixelRect(x: Int($0.x), y: Int($0.y), width: Int($0.width), height: Int($0.height))
      }
    }
  }

  extension DamageRegion {
    /// The rectangles' parts inside `area`, relative to its corner, at most 4: more than those
    /// become one that spans them all.
    static func changes(_ rectangles: [PixelRect], in area: PixelRect) -> [PixelRect] {
      let inside = rectangles.compactMap { rect -> PixelRect? in
        let left = max(rect.x, area.x)
        let top = max(rect.y, area.y)
        let right = min(rect.x + rect.width, area.x + area.width)
        let bottom = min(rect.y + rect.height, area.y + area.height)
        guard left < right, top < bottom else { return nil }
        return PixelRect(
          x: left - area.x, y: top - area.y, width: right - left, height: bottom - top)
      }
      guard inside.count > 4 else { return inside }
      return [inside.dropFirst().reduce(inside[0], spanning)]
    }

    private static func spanning(_ first: PixelRect, _ second: PixelRect) -> PixelRect {
      let left = min(first.x, second.x)
      let top = min(first.y, second.y)
      let right = max(first.x + first.width, second.x + second.width)
      let bottom = max(first.y + first.height, second.y + second.height)
      return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }
  }
#endif
