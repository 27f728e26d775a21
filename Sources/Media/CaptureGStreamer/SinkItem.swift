#if Media
  import CGStreamer
  import CGStreamerSystem
  import FrameBus

  /// An item from a slot sink's queue. Its frame returns to the pipeline with the item's end.
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

    /// The frame's planes, as offsets from the start of its slot; or those to expect.
    var layout: fb_sink_layout { unsafe item.layout }
    /// The slot to publish in place, which only this item holds; nil if the frame must be copied.
    var slot: Int? { unsafe item.slot >= 0 ? Int(unsafe item.slot) : nil }
    var ptsNs: UInt64? { unsafe item.ptsNs == .max ? nil : item.ptsNs }
    var durationNs: UInt64? { unsafe item.durationNs == .max ? nil : item.durationNs }

    /// Copies the frame into a loan, in the layout that the publisher announced.
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
