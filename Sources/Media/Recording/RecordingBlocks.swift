import FrameBus
import Platform

// Recordings: a stream's frames in a file, unchanged, and read back as y4m or as a stream.
//
// The module refuses to compress, to mix streams in one file, and to trust a file: a recording
// is checked as untrusted input. docs/design/recording.md describes the format, byte by byte.

/// The tagged blocks of a recording: the beginning of the file, of each frame, and the end. All
/// numbers are little-endian.
///
/// Each block names its file and its offset, so that no bytes of a frame can be mistaken for one,
/// not even those of a recording that was itself published and recorded.
struct HeadBlock {
  /// The bytes that the checksum covers; it follows them.
  static let byteCount = 320
  /// The size of one block of the file.
  static let blockBytes = 4096

  enum Kind: UInt64 {
    case file = 0x3145_4c49_4652_4246  // "FBRFILE1"
    case frame = 0x314d_4152_4652_4246  // "FBRFRAM1"
    case end = 0x3144_4e45_5f52_4246  // "FBR_END1"
  }

  /// Random for each recording.
  typealias FileID = SIMD2<UInt64>

  private(set) var bytes: [UInt8]

  init(_ kind: Kind, of file: FileID, at offset: UInt64) {
    bytes = Array(repeating: 0, count: Self.byteCount + 8)
    set(kind.rawValue, at: 0)
    set(file.x, at: 8)
    set(file.y, at: 16)
    set(offset, at: 24)
  }

  /// - Returns: nil if the bytes are not a complete block of that kind, file and offset.
  /// - Parameter file: nil for any file.
  init?(_ kind: Kind, of file: FileID? = nil, at offset: UInt64, in block: ArraySlice<UInt8>) {
    guard block.count >= Self.byteCount + 8 else { return nil }
    bytes = Array(block.prefix(Self.byteCount + 8))
    // The cheapest checks first: a search of a damaged file examines each of its blocks.
    guard word(at: 0) == kind.rawValue, word(at: 24) == offset, file == nil || fileID == file,
      word(at: Self.byteCount) == ownChecksum
    else { return nil }
  }

  var fileID: FileID { FileID(word(at: 8), word(at: 16)) }

  /// The block's bytes followed by their checksum.
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
  /// Eight bytes as a number, at an offset from the array's start.
  func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: self[offset..<offset + 8])
  }
}

func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
  // SAFETY: bytes have no padding.
  unsafe Checksum.crc32c(bytes.span.bytes)
}

/// The size of a payload rounded up to whole blocks.
func paddedByteCount(_ byteCount: Int) -> UInt64 {
  let block = UInt64(HeadBlock.blockBytes)
  return (UInt64(byteCount) + block - 1) / block * block
}

/// The head of a recording.
struct FileHead: Hashable, Sendable {
  static let version: UInt64 = 1

  let id: HeadBlock.FileID
  let stream: StreamName
  /// When the recording began, on both clocks, to convert the frames' monotonic times to dates.
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

/// The head of one frame, which precedes its bytes.
public struct RecordedFrame: Hashable, Sendable {
  /// The file offset of the head; the frame's bytes begin one block later.
  let offset: UInt64
  /// The generation of the publisher.
  public let generation: UInt64
  /// Frames between the previous one and this one that the recorder did not receive.
  public let droppedBefore: UInt64
  package let record: FrameRecord

  public var sequence: SequenceNumber { record.sequence }
  public var metadata: FrameMetadata { record.metadata }
  public var format: FrameFormat { record.format }
  public var byteCount: Int { record.byteCount }

  var bodyOffset: UInt64 { offset + UInt64(HeadBlock.blockBytes) }
  /// The offset of the next frame.
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
  /// - Returns: nil unless a frame of that file begins there and is complete.
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

/// The last block of a finished recording: the position of its index.
struct FileEnd: Hashable, Sendable {
  let offset: UInt64
  let indexOffset: UInt64
  let entryCount: UInt64
  /// Frames that the recorder did not receive.
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

/// Why a recording cannot be played.
public enum RecordingReadError: Error, Hashable, Sendable, CustomStringConvertible {
  case notRecording
  case otherVersion(UInt64)
  /// A frame of the index is missing or incomplete: its number in the file, from 1.
  case damaged(frame: Int)
  case system(SystemError)

  public var description: String {
    switch self {
    case .notRecording:
      "this is not a FrameBus recording; make one with `framebus record STREAM FILE`"
    case .otherVersion(let version):
      "this recording has format version \(version), and this program reads version "
        + "\(FileHead.version); play it with the FrameBus version that made it"
    case .damaged(let frame):
      "frame \(frame) of the recording is damaged; play the rest with --from \(frame + 1)"
    case .system(let error): error.explained
    }
  }
}
