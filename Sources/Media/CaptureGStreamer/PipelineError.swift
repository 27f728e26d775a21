#if Media
  import CGStreamer
  import Capture
  import Platform

  /// Why a pipeline could not be captured, and what to do.
  public enum PipelineError: Error, CustomStringConvertible {
    case cannotStart(reason: String)
    case missingElement(String)
    case badCertificates(reason: String)
    case badDescription(reason: String)
    case unreadable(SystemError)
    case notMedia(name: String)
    case noVideo(name: String)
    case missingDecoder(what: String, name: String)
    case damaged(name: String, element: String, reason: String)
    case endedSilently(name: String)
    case cutOff(name: String, endNs: UInt64, durationNs: UInt64)
    case failed(name: String, element: String, reason: String)
    /// A file, a device or a server could not be used.
    case resource(ReportedFailure)
    case unsupportedFormat(String)
    case origin(OriginError)
    case network(NetworkFault)
    case system(SystemError)
    case publishing(PublishingError)

    public var description: String {
      switch self {
      case .cannotStart(let reason):
        "GStreamer does not start: \(reason); check it with `gst-inspect-1.0 --version`"
      case .missingElement(let element):
        "GStreamer has no element “\(element)”: install "
          + "`\(Self.package(of: element))` and check with `gst-inspect-1.0 \(element)`"
      case .badCertificates(let reason):
        "--ca: no certificates can be read: \(reason); name a PEM file"
      case .badDescription(let reason):
        "GStreamer does not understand the pipeline: \(reason); try it with "
          + "`gst-launch-1.0 PIPELINE ! fakesink`"
      case .unreadable(let error): "cannot read the file: \(error)"
      case .notMedia(let name):
        "\(name) is not a video: GStreamer does not know this file type; check with `file \(name)`"
      case .noVideo(let name):
        "\(name) has no video track; check with `gst-discoverer-1.0 \(name)`"
      case .missingDecoder(let what, let name):
        "no installed GStreamer element decodes \(what) in \(name): install gstreamer1.0-libav "
          + "or gstreamer1.0-plugins-bad"
      case .damaged(let name, let element, let reason):
        "\(name) is damaged or cut off: \(element) reports “\(reason)”; "
          + "earlier frames are published"
      case .endedSilently(let name):
        "\(name) is damaged or cut off: GStreamer stopped reading it without an error; "
          + "earlier frames are published"
      case .cutOff(let name, let endNs, let durationNs):
        "\(name) is cut off: its video ends at \(endNs / 1_000_000) ms of "
          + "\(durationNs / 1_000_000); earlier frames are published"
      case .failed(let name, let element, let reason):
        Self.text(name, element, reason)
      case .resource(let failure): Self.text(failure.name, failure.element, failure.reason)
      case .unsupportedFormat(let what): what
      case .origin(let error): "\(error)"
      case .network(let fault): "\(fault)"
      case .system(let error): "\(error)"
      case .publishing(let error): "\(error)"
      }
    }

    private static func text(_ name: String, _ element: String, _ reason: String) -> String {
      "\(name): \(element) failed: \(reason); run with GST_DEBUG=3 to see more"
    }

    /// The Debian package of an element; a guess for elements that are not listed here.
    private static func package(of element: String) -> String {
      switch element {
      case "filesrc", "fakesink", "capsfilter", "queue", "identity", "typefind":
        "libgstreamer1.0-0"
      case "decodebin", "videoconvert", "videoscale", "videotestsrc": "gstreamer1.0-plugins-base"
      case "pulsesrc": "gstreamer1.0-pulseaudio"
      case let name where name.hasPrefix("avdec"): "gstreamer1.0-libav"
      default: "gstreamer1.0-plugins-good gstreamer1.0-plugins-bad"
      }
    }
  }

  /// What GStreamer says of a file, a device or a server that cannot be used.
  public struct ReportedFailure: Sendable {
    let name: String
    let element: String
    let reason: String
    let details: String
    /// A `GstResourceError`.
    let code: Int
  }

  extension PipelineError {
    /// Whether another run of the pipeline may succeed.
    var mayPass: Bool {
      switch self {
      case .origin(.absent), .failed, .resource, .damaged, .endedSilently, .network: true
      default: false
      }
    }

    /// Classifies a failure that GStreamer reported. Frees nothing.
    /// - Parameter name: the file or pipeline, as the user named it.
    init(_ failure: fb_pipeline_failure, in name: String, framesOut: UInt64) {
      // SAFETY: the strings live until the failure is cleared, after this.
      func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String? {
        unsafe pointer.map { unsafe String(cString: $0) }
      }
      let reason = unsafe text(failure.message) ?? "unknown reason"
      let element = unsafe text(failure.factory) ?? text(failure.element) ?? "GStreamer"
      let domain = unsafe text(failure.domain) ?? ""
      let details = unsafe text(failure.details) ?? ""
      if let missing = unsafe text(failure.missing) {
        self = .missingDecoder(what: missing, name: name)
        return
      }
      // Every track was decoded, and none can be linked to a video element.
      if framesOut == 0, details.contains("not-linked") {
        self = .noVideo(name: name)
        return
      }
      switch (domain, unsafe failure.code) {
      case ("gst_parse_error", 1): self = .missingElement(Self.quoted(in: reason) ?? reason)
      case ("gst_parse_error", _): self = .badDescription(reason: reason)
      case ("gst-stream-error-quark", 4): self = .notMedia(name: name)  // type not found
      case ("gst-stream-error-quark", 5): self = .noVideo(name: name)  // wrong type
      case ("gst-stream-error-quark", 6): self = .missingDecoder(what: "the video", name: name)
      case ("gst-stream-error-quark", 7), ("gst-stream-error-quark", 9):  // decode, demux
        self = .damaged(name: name, element: element, reason: reason)
      case ("gst-resource-error-quark", let code):
        self = .resource(
          ReportedFailure(
            name: name, element: element, reason: reason, details: details, code: Int(code)))
      default:
        self =
          framesOut > 0 && domain == "gst-stream-error-quark"
          ? .damaged(name: name, element: element, reason: reason)
          : .failed(name: name, element: element, reason: reason)
      }
    }

    /// The first word in quotes, such as the element's name in `no element "avdec_x"`.
    private static func quoted(in text: String) -> String? {
      let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
      return parts.count >= 3 ? String(parts[1]) : nil
    }
  }
#endif
