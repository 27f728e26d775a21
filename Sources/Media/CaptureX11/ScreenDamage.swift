#if Media
  import CXCB
  import FrameBus
  import Platform

  /// The changes of the target since the last query (DAMAGE extension).
  ///
  /// The server keeps the changed region and sends one event when it stops being empty; taking the
  /// region empties it. A change after that makes a new event, so none is lost.
  struct ScreenDamage: ~Copyable {
    private let connection: XConnection
    private let damage: xcb_damage_damage_t
    private let region: xcb_xfixes_region_t

    init(of target: CaptureTarget) {
      connection = target.screen.connection
      damage = connection.makeID()
      region = connection.makeID()
      // SAFETY: the connection is open; an error would come with the first reply.
      unsafe xcb_damage_create(
        connection.pointer, damage, target.window.id,
        UInt8(XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY.rawValue))
      unsafe xcb_xfixes_create_region(connection.pointer, region, 0, nil)
      connection.flush()
    }

    /// Requests the changed region and empties it. The server works in order: a grab that is sent
    /// after this contains every change in it.
    /// - Parameter number: of the question, for the caller.
    func take(_ number: Int) -> Pending {
      // SAFETY: the connection is open as long as self lives.
      unsafe xcb_damage_subtract(connection.pointer, damage, 0, region)
      return unsafe Pending(
        cookie: xcb_xfixes_fetch_region(connection.pointer, region), number: number)
    }

    struct Pending {
      fileprivate let cookie: xcb_xfixes_fetch_region_cookie_t
      let number: Int
    }

    /// The changed areas, in the target's pixels.
    func areas(of pending: Pending) throws(ScreenError) -> [PixelRect] {
      let reply: XReply<xcb_xfixes_fetch_region_reply_t> = try connection.reply(
        to: "XFIXES FetchRegion", pending.cookie.sequence)
      // SAFETY: the rectangles lie in the reply, which lives as long.
      let rectangles = unsafe try reply.list(
        xcb_xfixes_fetch_region_rectangles(reply.pointer),
        count: xcb_xfixes_fetch_region_rectangles_length(reply.pointer))
      return unsafe rectangles.map {
        PixelRect(x: Int($0.x), y: Int($0.y), width: Int($0.width), height: Int($0.height))
      }
    }
  }
#endif
