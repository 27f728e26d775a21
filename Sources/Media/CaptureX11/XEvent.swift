#if Media
  import CXCB
  import FrameBus

  /// What concerns us of an event.
  struct XEvent {
    let type: UInt8
    /// Which property changed, where the event tells of one.
    private(set) var atom: xcb_atom_t?
    /// The window that was made, shown, hidden, moved or closed, or whose property changed.
    private(set) var window: XWindow?
    /// What the window lies in from now on, where the event tells of that.
    private(set) var parent: XWindow?
    /// Of the window from now on, where the event tells of that.
    private(set) var outline: XWindow.Outline?
    /// What the window covers of its parent from now on, where the event tells of that.
    private(set) var area: PixelRect?
    /// The number of the key or button that was pressed or released.
    private(set) var detail: UInt8 = 0
    /// More came than are kept: anything may have changed.
    private(set) var isOverflow = false

    /// Stands for events that were not kept.
    static var overflow: XEvent {
      var event = XEvent(type: 0)
      event.isOverflow = true
      return event
    }

    private init(type: UInt8) { self.type = type }

    /// SAFETY: the event is a whole one of libxcb's.
    /// - Returns: nil for what another client sent, which proves nothing (SendEvent).
    @unsafe init?(_ event: UnsafePointer<xcb_generic_event_t>) {
      guard unsafe event.pointee.response_type & 0x80 == 0 else { return nil }
      self.init(type: unsafe event.pointee.response_type)
      // SAFETY: an event has 32 bytes, and its type says what they are.
      func word(_ index: Int) -> UInt32 {
        unsafe UnsafeRawPointer(event).load(fromByteOffset: index * 4, as: UInt32.self)
      }
      switch Int32(type) {
      case XCB_KEY_PRESS, XCB_BUTTON_PRESS, XCB_BUTTON_RELEASE:
        detail = unsafe event.pointee.pad0
        // What lies under the pointer in the window that gets the event.
        window = word(4) == 0 ? nil : XWindow(word(4))
      case XCB_PROPERTY_NOTIFY:
        window = XWindow(word(1))
        atom = word(2)
      case XCB_CREATE_NOTIFY:
        parent = XWindow(word(1))
        window = XWindow(word(2))
      case XCB_REPARENT_NOTIFY:
        window = XWindow(word(2))
        parent = XWindow(word(3))
      case XCB_CONFIGURE_NOTIFY:
        window = XWindow(word(2))
        let outline = XWindow.Outline(
          width: Int(word(5) & 0xFFFF), height: Int(word(5) >> 16), border: Int(word(6) & 0xFFFF))
        self.outline = outline
        area = PixelRect(
          x: Int(Int16(truncatingIfNeeded: word(4))),
          y: Int(Int16(truncatingIfNeeded: word(4) >> 16)),
          width: outline.width + 2 * outline.border, height: outline.height + 2 * outline.border)
      case XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY, XCB_GRAVITY_NOTIFY, XCB_DESTROY_NOTIFY:
        window = XWindow(word(2))
      default: break
      }
    }
  }
#endif
