#if Media
  import CWebRTC
  import Upload

  /// A pipeline that ends in memory: what it encodes is given to a handler.
  ///
  /// Confined to one thread, but for the handler, which a thread of the pipeline's calls.
  final class Feed {
    let pipeline: Pipeline
    private let receiver: UnitReceiver

    /// - Parameters:
    ///   - pipeline: ends in appsink, and does not play yet.
    ///   - originNs: the moment of CLOCK_MONOTONIC at which its own time begins.
    init(
      _ pipeline: Pipeline, originNs: UInt64, _ handler: @escaping @Sendable (EncodedUnit) -> Void
    ) throws(DestinationError) {
      self.pipeline = pipeline
      receiver = UnitReceiver(handler)
      // SAFETY: this object keeps the receiver until `deinit` has stopped the pipeline.
      guard
        unsafe webrtc_feed_watch(
          pipeline.handle, originNs, handleUnit, Unmanaged.passUnretained(receiver).toOpaque())
      else {
        throw .elementFailed(element: "appsink", message: "the pipeline has none", detail: "")
      }
    }

    deinit { pipeline.stop() }

    /// Has the next picture be a key frame.
    func wantKeyFrame() {
      if let handle = unsafe pipeline.handle { unsafe webrtc_feed_want_key_frame(handle) }
    }
  }

  /// An encoded picture, or a packet of sound.
  ///
  /// SAFETY: it is only used during the call of the handler that it is given to, as long as its
  /// memory is valid.
  @safe struct EncodedUnit {
    private let description: webrtc_unit

    fileprivate init(_ description: webrtc_unit) { unsafe self.description = description }

    var isKeyFrame: Bool { unsafe description.isKeyFrame }
    /// Of CLOCK_MONOTONIC.
    var timeNs: UInt64 { unsafe description.timeNs }
    /// For CWebRTC.
    var memory: UnsafeMutableRawPointer? { unsafe description.unit }
  }

  /// What the C side points to.
  private final class UnitReceiver: Sendable {
    let receive: @Sendable (EncodedUnit) -> Void
    init(_ receive: @escaping @Sendable (EncodedUnit) -> Void) { self.receive = receive }
  }

  /// Called by CWebRTC on a thread of the pipeline's.
  /// SAFETY: `context` is the `UnitReceiver` that the feed keeps until its pipeline has stopped;
  /// the unit is valid during the call.
  private func handleUnit(
    _ context: UnsafeMutableRawPointer?, _ unit: UnsafePointer<webrtc_unit>?
  ) {
    guard let context = unsafe context, let unit = unsafe unit?.pointee else { return }
    unsafe Unmanaged<UnitReceiver>.fromOpaque(context).takeUnretainedValue().receive(
      EncodedUnit(unit))
  }
#endif
