import FrameBus
import Platform

/// Writes frames to standard output, as y4m or as raw bytes.
package struct PictureOutput: Sendable {
  /// The most bytes of a recorded frame that are in memory at a time.
  private static let pieceBytes = 1 << 20

  private let isRaw: Bool
  private var writer: Y4MWriter?
  /// The frame that was written last.
  private var picture: [UInt8] = []
  private var format: FrameFormat?
  private var orientation = Orientation.up
  private var count = 0

  package init(isRaw: Bool) { self.isRaw = isRaw }

  /// Writes one frame, preceded by the stream's header if it is the first. y4m frames are upright.
  package mutating func write(
    _ format: FrameFormat, _ orientation: Orientation, _ bytes: RawSpan
  ) throws(PlayError) {
    if isRaw { return try write(bytes) }
    try begin(format, orientation)
    try writePicture(bytes)
  }

  private mutating func writePicture(_ bytes: RawSpan) throws(PlayError) {
    guard let writer else { return }
    if let count = writer.unchangedByteCount {
      try write(Y4MWriter.marker)
      return try write(bytes.extracting(0..<count))
    }
    writer.write(bytes, into: &picture)
    try write(picture)
  }

  /// Counts a frame, and writes the stream's header before the first. Called before the frame's
  /// bytes are read, so that a frame that is too large takes no memory.
  private mutating func begin(
    _ format: FrameFormat, _ orientation: Orientation
  ) throws(PlayError) {
    count += 1
    if format == self.format, orientation == self.orientation { return }
    let header = writer?.header
    do throws(Y4MWriterError) {
      writer = try Y4MWriter(format, orientation: orientation)
    } catch { throw .notShowable(error) }
    // A y4m stream has one header, and so one size and one layout.
    if let before = self.format, header != writer?.header {
      throw .formatChanged(from: before, to: format, frame: count)
    }
    self.format = format
    self.orientation = orientation
    if header == nil, let writer { try write(writer.header) }
  }

  // SAFETY: bytes have no padding.
  private func write(_ bytes: [UInt8]) throws(PlayError) { try write(unsafe bytes.span.bytes) }

  private func write(_ bytes: RawSpan) throws(PlayError) {
    do throws(SystemError) { try writeFully(bytes, to: 1) } catch {
      throw .system(error)
    }
  }
}

/// Computes when frames are due, from their PTS.
package struct PlaybackClock: Sendable {
  /// A longer pause, or a step back, is a cut: the next frame is due at once.
  private static let longestPauseNs: Int64 = 10_000_000_000

  private var before: (ptsNs: Int64, dueNs: UInt64)?

  package init() {}

  /// - Returns: when the frame with this PTS is due; the first is due at once.
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

/// Why playback ended early.
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
    guard isRaw else {
      try begin(frame.format, frame.metadata.orientation)
      let picture = try bytes(0..<min(frame.byteCount, frame.format.byteCount), of: frame, reader)
      // SAFETY: bytes have no padding.
      return try writePicture(unsafe picture.span.bytes)
    }
    for start in stride(from: 0, to: frame.byteCount, by: Self.pieceBytes) {
      let piece = start..<min(start + Self.pieceBytes, frame.byteCount)
      try write(try bytes(piece, of: frame, reader))
    }
  }

  private func bytes(
    _ range: Range<Int>, of frame: RecordedFrame, _ reader: RecordingReader
  ) throws(PlayError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    do throws(RecordingReadError) {
      var elements = bytes.mutableSpan
      // SAFETY: bytes accept every value and have no padding.
      var span = unsafe elements.mutableBytes
      try reader.read(range, of: frame, into: &span)
    } catch { throw .reading(error) }
    return bytes
  }
}
