import FrameBus
import Platform

// Recordings: a stream's frames in a file as they are, and back out of it, as y4m or as a stream.
//
// The module refuses to compress, to mix streams in one file, and to trust a file: whatever a
// recording says is checked as if a stranger had written it. docs/design/recording.md has the
// format, byte by byte.

/// Blocks of a recording that say what they are: the beginning of the file, of each frame, and the
/// end. All their numbers are little-endian.
///
/// They name the file they belong to and the place they stand at, so that no bytes of a frame can
/// be taken for one, not even those of a recording that was published and recorded.
struct HeadBlock {
  /// What its checksum is of; that stands behind it.
  static let byteCount = 320
  /// A block of the file.
  static let blockBytes = 4096

  enum Kind: UInt64 {
    case file = 0x3145_4c49_4652_4246  // "FBRFILE1"
    case frame = 0x314d_4152_4652_4246  // "FBRFRAM1"
    case end = 0x3144_4e45_5f52_4246  // "FBR_END1"
  }

  /// Drawn anew for each recording.
  typealias FileID = SIMD2<UInt64>

  private(set) var bytes: [UInt8]

  init(_ kind: Kind, of file: FileID, at offset: UInt64) {
    bytes = Array(repeating: 0, count: Self.byteCount + 8)
    set(kind.rawValue, at: 0)
    set(file.x, at: 8)
    set(file.y, at: 16)
    set(offset, at: 24)
  }

  /// - Returns: nil if these are not such a block, whole, of that file, and from that place.
  /// - Parameter file: nil for any.
  init?(_ kind: Kind, of file: FileID? = nil, at offset: UInt64, in block: ArraySlice<UInt8>) {
    guard block.count >= Self.byteCount + 8 else { return nil }
    bytes = Array(block.prefix(Self.byteCount + 8))
    // The cheapest first: whoever searches a damaged file looks at each of its blocks.
    guard word(at: 0) == kind.rawValue, word(at: 24) == offset, file == nil || fileID == file,
      word(at: Self.byteCount) == ownChecksum
    else { return nil }
  }

  var fileID: FileID { FileID(word(at: 8), word(at: 16)) }

  /// The bytes with their checksum.
  var sealed: [UInt8] {
    var copy = self
    copy.set(ownChecksum, at: Self.byteCount)
    return copy.bytes
  }

  private var ownChecksum: UInt64 {
    UInt64(checksum(of: bytes.prefix(Self.byteCount)))
  }

  mutating func set(_ word: UInt64, at offset: Int) {
    bytes.set(littleEndian: word, at: offset)
  }

  mutating func set(_ part: [UInt8], at offset: Int) {
    bytes.replaceSubrange(offset..<offset + part.count, with: part)
  }

  func word(at offset: Int) -> UInt64 { bytes[...].word(at: offset) }
}

extension ArraySlice<UInt8> {
  /// Eight bytes of it as a number, counted from the array's beginning.
  func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: self[offset..<offset + 8])
  }
}

func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
  // SAFETY: bytes have no padding.
  unsafe Checksum.crc32c(bytes.span.bytes)
}

/// Bytes of a payload in whole blocks.
func paddedByteCount(_ byteCount: Int) -> UInt64 {
  let block = UInt64(HeadBlock.blockBytes)
  return (UInt64(byteCount) + block - 1) / block * block
}

/// The beginning of a recording.
struct FileHead: Hashable, Sendable {
  static let version: UInt64 = 1

  let id: HeadBlock.FileID
  let stream: StreamName
  /// When the recording began, on both clocks, so that monotonic times of its frames can be dated.
  let wallNs: UInt64
  let monotonicNs: UInt64

  var block: [UInt8] {
    var block = HeadBlock(.file, of: id, at: 0)
    block.set(Self.version | UInt64(HeadBlock.blockBytes) << 32, at: 32)
    block.set(wallNs, at: 40)
    block.set(monotonicNs, at: 48)
    block.set(Array(stream.text.utf8), at: 64)
    return block.sealed
  }
}

extension FileHead {
  init(_ bytes: ArraySlice<UInt8>) throws(RecordingReadError) {
    guard let block = HeadBlock(.file, at: 0, in: bytes) else { throw .notRecording }
    let version = block.word(at: 32) & 0xffff_ffff
    guard version == Self.version, block.word(at: 32) >> 32 == UInt64(HeadBlock.blockBytes) else {
      throw .otherVersion(version)
    }
    id = block.fileID
    wallNs = block.word(at: 40)
    monotonicNs = block.word(at: 48)
    let name = block.bytes[64..<64 + StreamName.maximumBytes].prefix { $0 != 0 }
    do { stream = try StreamName(String(decoding: name, as: UTF8.self)) } catch {
      throw .notRecording
    }
  }
}

/// The beginning of one frame, before its bytes.
public struct RecordedFrame: Hashable, Sendable {
  /// Where in the file its head stands; its bytes begin a block later.
  let offset: UInt64
  /// Which publisher it came from.
  public let generation: UInt64
  /// Frames between the one before and this one that the recorder never saw.
  public let droppedBefore: UInt64
  package let record: FrameRecord

  public var sequence: SequenceNumber { record.sequence }
  public var metadata: FrameMetadata { record.metadata }
  public var format: FrameFormat { record.format }
  public var byteCount: Int { record.byteCount }

  var bodyOffset: UInt64 { offset + UInt64(HeadBlock.blockBytes) }
  /// Where the next one begins.
  var end: UInt64 { bodyOffset + paddedByteCount(byteCount) }

  func block(of file: HeadBlock.FileID) -> [UInt8] {
    var block = HeadBlock(.frame, of: file, at: offset)
    block.set(UInt64(byteCount), at: 32)
    block.set(generation, at: 40)
    block.set(droppedBefore, at: 48)
    block.set(record.bytes, at: 64)
    return block.sealed
  }
}

extension RecordedFrame {
  /// - Returns: nil if no frame of that file, whole within its size, begins there.
  init?(_ bytes: ArraySlice<UInt8>, of file: HeadBlock.FileID, at offset: UInt64, fileBytes: Int) {
    guard let block = HeadBlock(.frame, of: file, at: offset, in: bytes),
      let record = FrameRecord(block.bytes[64..<64 + FrameRecord.recordBytes]),
      block.word(at: 32) == UInt64(record.byteCount)
    else { return nil }
    self.offset = offset
    self.record = record
    generation = block.word(at: 40)
    droppedBefore = block.word(at: 48)
    guard end <= UInt64(fileBytes) else { return nil }
  }
}

/// The end of a recording that was finished: where its index stands.
struct FileEnd: Hashable, Sendable {
  let offset: UInt64
  let indexOffset: UInt64
  let entryCount: UInt64
  /// Frames that the recorder never saw.
  let dropped: UInt64
  let indexChecksum: UInt32

  func block(of file: HeadBlock.FileID) -> [UInt8] {
    var block = HeadBlock(.end, of: file, at: offset)
    block.set(indexOffset, at: 32)
    block.set(entryCount, at: 40)
    block.set(dropped, at: 48)
    block.set(UInt64(indexChecksum), at: 56)
    return block.sealed
  }
}

extension FileEnd {
  init?(_ bytes: ArraySlice<UInt8>, of file: HeadBlock.FileID, at offset: UInt64) {
    guard let block = HeadBlock(.end, of: file, at: offset, in: bytes) else { return nil }
    self.offset = offset
    indexOffset = block.word(at: 32)
    entryCount = block.word(at: 40)
    dropped = block.word(at: 48)
    indexChecksum = UInt32(truncatingIfNeeded: block.word(at: 56))
  }
}

/// Why a file cannot be played.
public enum RecordingReadError: Error, Hashable, Sendable, CustomStringConvertible {
  case notRecording
  case otherVersion(UInt64)
  /// A frame that the index names is not there, or not whole: its place in the file, from 1.
  case damaged(frame: Int)
  case system(SystemError)

  public var description: String {
    switch self {
    case .notRecording:
      "this is no recording of FrameBus; make one with `framebus record STREAM FILE`"
    case .otherVersion(let version):
      "this recording has version \(version) of the format, and this program reads "
        + "\(FileHead.version); play it with the FrameBus that made it"
    case .damaged(let frame):
      "frame \(frame) of the recording is damaged; play what is behind it with --from \(frame + 1)"
    case .system(let error): error.explained
    }
  }
}
