#if Media
  import CGStreamer
  import CGStreamerSystem
  import Capture

  /// Starts GStreamer, once. It scans all plugins if its registry is outdated, which takes seconds.
  public func startGStreamer() throws(PipelineError) {
    guard let message = unsafe fb_gstreamer_start() else { return }
    defer { unsafe g_free(message) }
    throw .cannotStart(reason: unsafe String(cString: message))
  }

  /// Trusts the certificates of a PEM file instead of the system's, from now on.
  public func trustCertificates(in path: String) throws(PipelineError) {
    // SAFETY: the text is read during the call.
    guard let message = unsafe fb_network_trust(path) else { return }
    defer { unsafe g_free(message) }
    throw .badCertificates(reason: unsafe String(cString: message))
  }

  /// From now on GStreamer reads in this process no address but those of a stream's own kind. What
  /// a server sends can name others: a playlist could name a file, and so publish it. To be called
  /// by a program that runs a ``NetworkSource``, if nothing else in it needs GStreamer's sources.
  public func restrictAddresses(to address: SourceAddress) throws(PipelineError) {
    try startGStreamer()
    let element = NetworkElements.element(reading: address.scheme)
    // SAFETY: the text is read during the call.
    unsafe fb_network_keep_only(element)
  }

  /// A pipeline that ends in one or several of our sinks. Its threads end with the last reference.
  @safe final class CapturePipeline: @unchecked Sendable {
    // because GStreamer locks internally in every function called here

    /// SAFETY: lives until deinit, which alone frees it.
    @unsafe let element: UnsafeMutablePointer<GstElement>
    /// The pipeline's name in messages.
    let name: String

    /// - Parameters:
    ///   - description: in the syntax of `gst-launch-1.0`.
    ///   - texts: properties to set, as (element, property, value).
    init(
      _ description: String, texts: [(String, String, String)] = [], name: String
    ) throws(PipelineError) {
      try startGStreamer()
      var failure = unsafe fb_pipeline_failure()
      // SAFETY: the strings are read during the calls; what comes back is checked.
      guard let element = unsafe fb_pipeline_new(description, &failure) else {
        defer { unsafe fb_pipeline_failure_clear(&failure) }
        throw unsafe PipelineError(failure, in: name, framesOut: 0)
      }
      for (part, property, value) in texts {
        _ = unsafe fb_pipeline_set_text(element, part, property, value)
      }
      unsafe self.element = element
      self.name = name
    }

    deinit { unsafe fb_pipeline_free(element) }

    /// Uses the monotonic clock, and decoders without delay.
    func prepareForNetwork() { unsafe fb_network_prepare(element) }

    /// Links the RTP tracks of the element `source` to `decoder` and `hearing`.
    func linkTracks() { unsafe fb_network_link_tracks(element) }

    func play() throws(PipelineError) {
      if unsafe fb_pipeline_play(element) { return }
      try throwFailure(framesOut: 0)
      throw .failed(name: name, element: "the pipeline", reason: "it does not start")
    }

    /// Starts it without waiting. Failures are reported as later ones are.
    func playApart() throws(PipelineError) {
      if unsafe fb_pipeline_play_apart(element) { return }
      throw .failed(name: name, element: "the pipeline", reason: "no thread can be started")
    }

    /// Reports a failure, as its elements do.
    func fail() { unsafe fb_network_fail(element) }

    /// Ends its threads; threads that wait in a sink end once that sink is flushed. Idempotent.
    func stop() { unsafe fb_pipeline_stop(element) }

    /// Throws the failure that the pipeline has reported, if any.
    func throwFailure(framesOut: UInt64) throws(PipelineError) {
      var failure = unsafe fb_pipeline_take_failure(element)
      defer { unsafe fb_pipeline_failure_clear(&failure) }
      if unsafe failure.isFailure {
        throw unsafe PipelineError(failure, in: name, framesOut: framesOut)
      }
    }

    /// Readable when `throwFailure` may throw.
    var descriptorNumber: Int32 { unsafe fb_pipeline_descriptor(element) }

    /// Whether its threads have ended, with or without a message.
    var isIdle: Bool { unsafe fb_pipeline_is_idle(element) }

    /// Whether one of its elements captures a screen or a window, as far as GStreamer says.
    var capturesScreen: Bool { unsafe fb_pipeline_captures_screen(element) }

    /// The duration in the file's header; nil if unknown.
    var durationNs: UInt64? {
      let durationNs = unsafe fb_pipeline_duration_ns(element)
      return durationNs == .max ? nil : durationNs
    }

    /// Whether any element is linked to the part with that name.
    func isConnected(_ part: String) -> Bool { unsafe fb_pipeline_is_connected(element, part) }
  }
#endif
