import FrameBus
import Platform

/// Publishes uncompressed video from standard input or a file. Each frame is read straight into
/// its slot. Loses nothing: it waits for its first subscriber, and then for the slowest one.
public struct Y4MSource: FrameSource {
  private let path: String?
  private let rateOverride: FrameRate?
  private let content: StreamContent

  /// - Parameters:
  ///   - path: nil for standard input.
  ///   - rate: replaces the rate in the stream's header.
  ///   - content: what the pictures show.
  public init(path: String?, rate: FrameRate? = nil, content: StreamContent = .other) {
    self.path = path
    rateOverride = rate
    self.content = content
  }

  /// Publishes the pictures until their end.
  public mutating func run(in session: CaptureSession) throws(Y4MError) {
    var stream: Y4MStream
    do {
      if let path {
        stream = Y4MStream(try ByteReader(path: path), name: path, stop: session.stop)
      } else {
        stream = Y4MStream(
          try ByteReader(standardInput: ()), name: "standard input", stop: session.stop)
      }
    } catch { throw .system(error) }
    guard let header = try stream.readHeader() else { return }
    let format: FrameFormat
    let publisher: Publisher
    do {
      format = try FrameFormat(
        kind: .video, fourcc: header.fourcc, width: header.width, height: header.height,
        planes: header.planes, byteCount: header.frameBytes,
        frameRate: rateOverride ?? header.rate, colorSpace: .unspecified)
    } catch { throw .publishing(.format(error)) }
    var options = PublisherOptions()
    options.streamChanged = session.streamChanged
    options.content = content
    options.allowsLossless = true
    // A file waits for as long as its slowest subscriber makes progress.
    options.losslessStallBudget = nil
    do {
      publisher = try Publisher(
        session.stream, in: session.group, format: format, options: options)
    } catch { throw .publishing(.publisher(error)) }
    try session.drive(publisher) { (publisher) throws(Y4MError) in
      guard session.waitForSubscriber(of: publisher) else { return }
      try Self.publish(&stream, with: &publisher, in: session)
    }
  }

  private static func publish(
    _ stream: inout Y4MStream, with publisher: inout Publisher, in session: CaptureSession
  ) throws(Y4MError) {
    let format = publisher.format
    let rate = format.frameRate
    var index: UInt64 = 0
    while !session.isOver {
      var loan: FrameLoan
      do {
        loan = try publisher.loan(waitingUntil: session.deadline, stop: session.stop)
      } catch {
        if session.isOver { return }
        throw .publishing(.loan(error))
      }
      guard try stream.readFrame(into: &loan, byteCount: format.byteCount) else { return }
      let start = Self.startNs(ofFrame: index, at: rate)
      loan.metadata.ptsNs = Int64(start)
      loan.metadata.durationNs = Self.startNs(ofFrame: index + 1, at: rate) - start
      loan.metadata.capturedAtNs = monotonicNowNs()
      _ = loan.publish(byteCount: format.byteCount)
      index += 1
      session.countFrame()
      session.noteSubscribers(publisher.subscriberCount)
    }
  }

  /// When a frame is due. Exact at any rate: rounded once per frame, without accumulation. Times
  /// beyond the greatest PTS, as with a rate of one frame in many years, become the greatest PTS.
  static func startNs(ofFrame index: UInt64, at rate: FrameRate) -> UInt64 {
    let end = UInt64(Int64.max)
    let tick = 1_000_000_000 * UInt64(rate.denominator)
    let product = index.multipliedFullWidth(by: tick)
    guard product.high < UInt64(rate.numerator) else { return end }
    return min(end, UInt64(rate.numerator).dividingFullWidth(product).quotient)
  }
}

/// Why a y4m stream could not be published.
public enum Y4MError: Error, CustomStringConvertible {
  /// The first line is malformed.
  case header(Y4MHeaderError)
  /// There are no bytes.
  case empty(name: String)
  /// A line is longer than any of a y4m stream.
  case lineTooLong(name: String)
  /// What begins a frame does not begin this one.
  case badFrame(name: String, frame: UInt64)
  /// The bytes end within this frame.
  case truncated(name: String, frame: UInt64)
  /// A system call failed.
  case system(SystemError)
  /// The stream cannot be published.
  case publishing(PublishingError)

  public var description: String {
    switch self {
    case .header(let error): "\(error)"
    case .empty(let name): "\(name) is empty: pipe a YUV4MPEG2 stream into it"
    case .lineTooLong(let name):
      "\(name) is not a YUV4MPEG2 stream: a line is longer than \(Y4MHeader.maximumLineBytes) bytes"
    case .badFrame(let name, let frame):
      "\(name): frame \(frame) does not begin with 'FRAME': the stream is damaged, "
        + "or its header gives a wrong size"
    case .truncated(let name, let frame):
      "\(name) ends within frame \(frame): the stream is cut off; earlier frames are published"
    case .system(let error): error.explained
    case .publishing(let error): "\(error)"
    }
  }
}
