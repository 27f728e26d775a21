import FrameBus
import Platform

/// Frames on their way to standard output, as y4m or as their bare bytes.
package struct PictureOutput: Sendable {
  private let isRaw: Bool
  private var writer: Y4MWriter?
  private var format: FrameFormat?
  private var orientation = Orientation.up
  private var count = 0

  package init(isRaw: Bool) { self.isRaw = isRaw }

  /// Writes one frame, after the stream's header if it is the first; upright, but for bare bytes.
  package mutating func write(
    _ format: FrameFormat, _ orientation: Orientation, _ bytes: RawSpan
  ) throws(PlayError) {
    count += 1
    if isRaw {
      // SAFETY: copied within the call.
      return try write(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
    }
    if format != self.format || orientation != self.orientation {
      try begin(format, orientation)
    }
    guard let writer else { return }
    try write(writer.frame(bytes))
  }

  private mutating func begin(
    _ format: FrameFormat, _ orientation: Orientation
  ) throws(PlayError) {
    let header = writer?.header
    do throws(Y4MWriterError) {
      writer = try Y4MWriter(format, orientation: orientation)
    } catch { throw .notShowable(error) }
    // A y4m stream has one header, and so one upright size and one layout.
    if let before = self.format, header != writer?.header {
      throw .formatChanged(from: before, to: format, frame: count)
    }
    self.format = format
    self.orientation = orientation
    if header == nil, let writer { try write(writer.header) }
  }

  private func write(_ bytes: [UInt8]) throws(PlayError) {
    do throws(SystemError) { try writeFully(bytes, to: 1) } catch {
      throw .system(error)
    }
  }
}

/// When frames are due, by their PTS.
package struct PlaybackClock: Sendable {
  /// A longer pause than this, or a step back, is a cut, not a time to wait.
  private static let longestPauseNs: Int64 = 10_000_000_000

  private var before: (ptsNs: Int64, dueNs: UInt64)?

  package init() {}

  /// - Returns: the moment at which the frame with this PTS is due; the first is due at once.
  package mutating func due(ptsNs: Int64, nowNs: UInt64) -> Deadline {
    var dueNs = nowNs
    if let before {
      let pause = ptsNs.subtractingReportingOverflow(before.ptsNs)
      if !pause.overflow, (0...Self.longestPauseNs).contains(pause.partialValue) {
        dueNs = before.dueNs &+ UInt64(pause.partialValue)
      }
    }
    before = (ptsNs, dueNs)
    return Deadline(monotonicNs: dueNs)
  }
}

/// Why playing ended early.
package enum PlayError: Error, Hashable, Sendable, CustomStringConvertible {
  case notShowable(Y4MWriterError)
  case formatChanged(from: FrameFormat, to: FrameFormat, frame: Int)
  case reading(RecordingReadError)
  case publishing(String)
  case system(SystemError)

  package var description: String {
    switch self {
    case .notShowable(let error): "\(error)"
    case .formatChanged(let from, let to, let frame):
      "frame \(frame) is \(to.width)×\(to.height) \(to.fourcc) after \(from.width)×\(from.height) "
        + "\(from.fourcc), and y4m has one size and layout; play a recording on with --from"
    case .reading(let error): "\(error)"
    case .publishing(let why): why
    case .system(let error): "\(error)"
    }
  }
}

extension PictureOutput {
  /// Writes a frame of a recording.
  package mutating func write(
    _ frame: RecordedFrame, of reader: RecordingReader
  ) throws(PlayError) {
    var bytes = [UInt8](repeating: 0, count: frame.byteCount)
    do throws(RecordingReadError) {
      var elements = bytes.mutableSpan
      // SAFETY: bytes have no value that is not allowed, and no padding.
      var span = unsafe elements.mutableBytes
      try reader.readBytes(of: frame, into: &span)
    } catch { throw .reading(error) }
    try write(frame.format, frame.metadata.orientation, unsafe bytes.span.bytes)
  }
}
