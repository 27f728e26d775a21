#if Media
  import CGStreamer
  import Platform
  import Upload

  /// Receives what enters the last element of a pipeline: on a thread of GStreamer, one unit at a
  /// time. An error ends the pipeline.
  protocol TapReceiver: AnyObject, Sendable {
    func take(_ unit: TappedUnit) throws(SystemError)
    /// No further unit follows.
    func endPart() throws(SystemError)
  }

  /// A part of a transport stream, or an encoded picture or packet of sound.
  ///
  /// SAFETY: it is used only during the receiver's call, while its memory is valid.
  @safe struct TappedUnit {
    private let unit: upload_unit

    fileprivate init(_ unit: upload_unit) { unsafe self.unit = unit }

    var ptsNs: UInt64 { unsafe unit.ptsNs }
    var dtsNs: UInt64 { unsafe unit.dtsNs }
    var durationNs: UInt64 { unsafe unit.durationNs }
    var isSound: Bool { unsafe unit.isSound }
    /// Whether it can be decoded without those before it: true for sound.
    var isKey: Bool { unsafe unit.isSound || unit.isKey }
    var beginsSegment: Bool { unsafe unit.beginsSegment }
    /// 0 for sound.
    var width: Int { Int(unsafe unit.width) }
    var height: Int { Int(unsafe unit.height) }
    /// Nil if it is not known, or varies.
    var picturesPerSecond: Double? {
      unsafe unit.picturesPerSecond > 0 ? unit.picturesPerSecond : nil
    }
    /// A copy of its bytes.
    var bytes: [UInt8] { unsafe Array(memory) }
    /// What a decoder needs beside the units; empty without it.
    var format: [UInt8] {
      unsafe Array(UnsafeRawBufferPointer(start: unit.format, count: unit.formatByteCount))
    }

    private var memory: UnsafeRawBufferPointer {
      unsafe UnsafeRawBufferPointer(start: unit.bytes, count: unit.byteCount)
    }

    func withBytes(_ body: (RawSpan) throws(SystemError) -> Void) throws(SystemError) {
      try unsafe body(memory.bytes)
    }
  }

  extension Pipeline {
    enum TapPoint {
      /// A transport stream, cut at the first picture of each interval.
      case stream
      /// Encoded pictures and sound.
      case units
    }

    /// Passes the output to `receiver`, and makes the first picture of each interval a key frame.
    /// Before `play`.
    /// - Parameter encoder: nil for sound alone, and if pictures are encoded elsewhere.
    func tap(
      _ point: TapPoint, keysEvery intervalNs: UInt64, encoder: String?,
      for receiver: any TapReceiver
    ) throws(DestinationError) {
      var callbacks = unsafe upload_unit_receiver(
        handler: takeUnit, context: Unmanaged.passRetained(Tap(receiver)).toOpaque(),
        release: releaseTap)
      // SAFETY: the pipeline exists until `stop`; the arguments live during the call.
      let isTapped =
        switch point {
        case .stream: unsafe upload_pipeline_cut(handle, encoder, intervalNs, &callbacks)
        case .units: unsafe upload_pipeline_tap(handle, encoder, intervalNs, &callbacks)
        }
      if isTapped { return }
      unsafe callbacks.release(callbacks.context)
      throw .elementFailed(element: "pipeline", message: "it has no output", detail: "")
    }
  }

  /// The context of the C callbacks.
  private final class Tap: Sendable {
    let receiver: any TapReceiver
    init(_ receiver: any TapReceiver) { self.receiver = receiver }
  }

  /// Called by CGStreamer on a thread of GStreamer.
  /// SAFETY: `context` is the `Tap` that `tap` retained; the unit is valid during the call.
  private func takeUnit(
    _ context: UnsafeMutableRawPointer?, _ unit: UnsafePointer<upload_unit>?
  ) -> Int32 {
    guard let context = unsafe context else { return 0 }
    let receiver = unsafe Unmanaged<Tap>.fromOpaque(context).takeUnretainedValue().receiver
    do throws(SystemError) {
      if let unit = unsafe unit?.pointee {
        try unsafe receiver.take(TappedUnit(unit))
      } else {
        try receiver.endPart()
      }
      return 0
    } catch {
      return error.code
    }
  }

  /// SAFETY: `context` is the object that `tap` retained for exactly this call.
  private func releaseTap(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<Tap>.fromOpaque(context).release()
  }
#endif
