#if Media
  import CWebRTC
  import Upload

  /// A pipeline that passes encoded data to a handler.
  ///
  /// Confined to one thread, except for the handler, which runs on a thread of the pipeline.
  final class Feed {
    let pipeline: Pipeline
    private let receiver: UnitReceiver

    /// - Parameters:
    ///   - pipeline: ends in appsink, and does not play yet.
    ///   - originNs: the CLOCK_MONOTONIC time at which the pipeline's own time begins.
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
        throw .elementFailed(element: "appsink", message: "the pipeline lacks it", detail: "")
      }
    }

    deinit { pipeline.stop() }

    /// Requests that the next picture be a key frame.
    func requestKeyFrame() {
      if let handle = unsafe pipeline.handle { unsafe webrtc_feed_want_key_frame(handle) }
    }
  }

  /// An encoded picture, or a packet of sound.
  ///
  /// SAFETY: it is used only during the handler's call, while its memory is valid.
  @safe struct EncodedUnit {
    private let description: webrtc_unit

    fileprivate init(_ description: webrtc_unit) { unsafe self.description = description }

    var isKeyFrame: Bool { unsafe description.isKeyFrame }
    /// Its time by CLOCK_MONOTONIC.
    var timeNs: UInt64 { unsafe description.timeNs }
    /// The unit itself, for CWebRTC.
    var memory: UnsafeMutableRawPointer? { unsafe description.unit }
    var byteCount: Int { unsafe description.byteCount }
    /// The unit with its format, a `GstSample`.
    var sample: UnsafeMutableRawPointer? { unsafe description.sample }
  }

  /// The context of the C callback.
  private final class UnitReceiver: Sendable {
    let receive: @Sendable (EncodedUnit) -> Void
    init(_ receive: @escaping @Sendable (EncodedUnit) -> Void) { self.receive = receive }
  }

  /// Called by CWebRTC on a thread of the pipeline.
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
