import FrameBus
import Platform

/// Reads a recording frame by frame.
public final class RecordingReader: Sendable {
  public let index: RecordingIndex
  private let file: ReadableFile

  public init(path: String) throws(RecordingReadError) {
    do throws(SystemError) { file = try ReadableFile(path: path) } catch { throw .system(error) }
    index = try RecordingIndex(of: file)
  }

  /// - Parameter number: `1...index.count`.
  public func frame(_ number: Int) throws(RecordingReadError) -> RecordedFrame {
    precondition((1...index.count).contains(number), "frame \(number) of \(index.count)")
    let offset = index.entries[number - 1].offset
    let block: [UInt8]
    do throws(SystemError) {
      block = try file.bytes(at: Int(offset), count: HeadBlock.blockBytes)
    } catch { throw .system(error) }
    guard
      let frame = RecordedFrame(
        block[...], of: index.head.id, at: offset, fileBytes: file.byteCount)
    else { throw .damaged(frame: number) }
    return frame
  }

  /// Reads a frame's bytes to the start of the span, which must have room for them.
  public func readBytes(
    of frame: RecordedFrame, into span: inout MutableRawSpan
  ) throws(RecordingReadError) {
    try read(0..<frame.byteCount, of: frame, into: &span)
  }

  /// Reads a range of a frame's bytes to the start of the span, which must have room for them.
  func read(
    _ range: Range<Int>, of frame: RecordedFrame, into span: inout MutableRawSpan
  ) throws(RecordingReadError) {
    let count: Int
    do throws(SystemError) {
      count = try file.read(
        range.count, into: &span, at: Int(frame.bodyOffset) + range.lowerBound)
    } catch { throw .system(error) }
    // The file contained the whole frame when it was opened.
    guard count == range.count else {
      let number = index.entries.count { $0.offset <= frame.offset }
      throw .damaged(frame: number)
    }
  }
}
