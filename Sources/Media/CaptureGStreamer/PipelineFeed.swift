#if Media
  import CGStreamer
  import Platform

  /// Encoded pictures that a pipeline decodes: they are pushed into its element `feed`, an appsrc.
  public protocol PipelineFeed: AnyObject {
    /// Readable when there may be a picture.
    var descriptorNumber: Int32 { get }
    /// Pushes the next picture, if there is one.
    /// - Returns: how many pictures were lost.
    func push(into input: borrowing PipelineInput) throws(OriginError) -> UInt64
  }

  /// The element `feed` of a pipeline.
  public struct PipelineInput: ~Copyable {
    private let pipeline: CapturePipeline
    /// Pictures that wait for the decoder. More would only be older when they are shown.
    private static let queueLimit: UInt32 = 4

    init(_ pipeline: CapturePipeline) { self.pipeline = pipeline }

    /// Copies a picture.
    /// - Parameter ptsNs: when it was taken, on the monotonic clock.
    /// - Returns: false if it was given up, because the decoder is behind.
    public borrowing func push(_ bytes: RawSpan, ptsNs: Int64) -> Bool {
      let element = unsafe pipeline.element
      // SAFETY: the bytes are copied during the call.
      return unsafe bytes.withUnsafeBytes { bytes in
        unsafe fb_pipeline_push(
          element, bytes.baseAddress, bytes.count, UInt64(max(0, ptsNs)), Self.queueLimit)
      }
    }
  }

  /// Where a pipeline's pictures come from, if that can be unplugged and come back.
  public protocol PictureOrigin {
    /// Opens it for one run of the pipeline.
    mutating func open() throws(OriginError) -> OpenOrigin
    /// Whether it is there, as far as can be said without opening it.
    var isPresent: Bool { get }
  }

  /// An origin's part of a pipeline.
  public struct OpenOrigin {
    /// Elements, in the syntax of `gst-launch-1.0`.
    let elements: String
    /// Properties of these elements, as (element, property, value).
    let texts: [(String, String, String)]
    let feed: (any PipelineFeed)?

    public init(
      elements: String, texts: [(String, String, String)] = [], feed: (any PipelineFeed)? = nil
    ) {
      self.elements = elements
      self.texts = texts
      self.feed = feed
    }
  }

  /// Why pictures do not come.
  public enum OriginError: Error, CustomStringConvertible {
    /// It may come back.
    case absent(String)
    case failed(String)

    public var description: String {
      switch self {
      case .absent(let why), .failed(let why): why
      }
    }
  }
#endif
