#if Media
  import CGStreamer
  import CGStreamerSystem
  import FrameBus

  /// What came off a slot sink's queue. A frame goes back to the pipeline when the item goes.
  @safe struct SinkItem: ~Copyable {
    enum Kind { case format, frame, end }

    let kind: Kind
    /// SAFETY: owns one reference to the frame's buffer, given back in deinit.
    @unsafe private var item: fb_sink_item

    /// Nil if the queue was empty.
    init?(_ item: fb_sink_item) {
      switch unsafe item.kind {
      case FB_SINK_FORMAT: kind = .format
      case FB_SINK_FRAME: kind = .frame
      case FB_SINK_END: kind = .end
      default: return nil
      }
      unsafe self.item = item
    }

    deinit {
      var item = unsafe item
      unsafe fb_sink_item_release(&item)
    }

    /// Where the frame's planes lie, counted from the start of its slot; or those to expect.
    var layout: fb_sink_layout { unsafe item.layout }
    /// The slot that only this item holds, to be published in place; nil: copy the frame.
    var slot: Int? { unsafe item.slot >= 0 ? Int(unsafe item.slot) : nil }
    var ptsNs: UInt64? { unsafe item.ptsNs == .max ? nil : item.ptsNs }
    var durationNs: UInt64? { unsafe item.durationNs == .max ? nil : item.durationNs }

    /// Copies the frame into a loan, in a layout that the publisher announced.
    func copy(to loan: inout FrameLoan, as layout: fb_sink_layout) -> Bool {
      var item = unsafe item
      var layout = layout
      var bytes = loan.bytes
      // SAFETY: both descriptions outlive the call; it stays within the count it is given.
      return unsafe bytes.withUnsafeMutableBytes {
        unsafe fb_sink_item_copy(&item, &layout, $0.baseAddress, $0.count)
      }
    }
  }
#endif
