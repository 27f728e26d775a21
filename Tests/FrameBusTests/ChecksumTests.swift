import CChecksum
import Platform
import TestSupport
import Testing

@testable import FrameBus

@Suite struct ChecksumTests {
  /// RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
  @Test func publishedVectorsComeOut() {
    let vectors: [([UInt8], UInt32)] = [
      (Array(repeating: 0, count: 32), 0x8a91_36aa),
      (Array(repeating: 0xff, count: 32), 0x62a8_ab43),
      (Array(0..<32), 0x46dd_794e),
      ((0..<32).reversed(), 0x113f_db5c),
      (Array("123456789".utf8), 0xe306_9283),
      ([], 0),
      (
        [
          0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0,
          0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
        ], 0xd996_3a56
      ),
    ]
    for (bytes, expected) in vectors {
      #expect(byInstruction(bytes[...]) == expected)
      #expect(byTable(bytes[...]) == expected)
    }
  }

  /// Lengths around a word and around the three lanes that are taken at once, at any address.
  @Test func theInstructionTheTablesAndSingleBitsAgree() {
    let seed = TestSeed(for: "theInstructionTheTablesAndSingleBitsAgree")
    var generator = seed.generator
    let bytes = (0..<40_000).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
    let lengths = Array(0...40) + [4095, 12_287, 12_288, 12_289, 12_300, 24_576, 36_870]
    for length in lengths {
      for offset in 0..<8 {
        let part = bytes[offset..<(offset + length)]
        let whole = byInstruction(part)
        #expect(whole == byTable(part), "\(seed)")
        #expect(whole == bitByBit(part), "\(seed)")
        let split = part.startIndex + length / 3
        let head = byInstruction(part[..<split])
        #expect(byInstruction(part[split...], after: head) == whole, "\(seed)")
      }
    }
  }

  private func byInstruction(_ bytes: ArraySlice<UInt8>, after before: UInt32 = 0) -> UInt32 {
    // SAFETY: the bytes outlive the span.
    unsafe bytes.withUnsafeBytes { unsafe Checksum.crc32c($0.bytes, after: before) }
  }

  private func byTable(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    // SAFETY: reads the buffer within the call.
    unsafe bytes.withUnsafeBytes { unsafe fb_crc32c_by_table(0, $0.baseAddress, $0.count) }
  }

  private func bitByBit(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var state: UInt32 = .max
    for byte in bytes {
      state ^= UInt32(byte)
      for _ in 0..<8 { state = state >> 1 ^ (state & 1 == 1 ? 0x82f6_3b78 : 0) }
    }
    return ~state
  }

  @Test func framesCarryTheirChecksumAndAreReceived() throws {
    let world = try World()
    var publisher = try world.publisher { $0.checksums = true }
    var subscriber = try world.subscriber(.keepLatest(2)) { $0.verifiesChecksums = true }
    for expected in UInt64(1)...20 {
      try publishNumbered(&publisher)
      guard let lease = try subscriber.poll() else {
        Issue.record("no frame \(expected)")
        return
      }
      #expect(number(of: lease) == expected)
      #expect(lease.checksum == Checksum.crc32c(lease.bytes))
      #expect(lease.metadata.flags == [])
    }
  }

  @Test func framesWithoutAChecksumAreReceivedAsTheyAre() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber { $0.verifiesChecksums = true }
    try publishNumbered(&publisher)
    #expect(try subscriber.poll()?.checksum == .some(nil))
  }

  /// A source's other writer that writes after the frame was published, as an X server might.
  @Test func aFrameChangedAfterItWasPublishedIsDroppedAndTheNextOneReceived() throws {
    let world = try World()
    let lateWriter = LateWriter()
    var publisher = try world.publisher {
      $0.checksums = true
      $0.ringDepth = 3
      $0.poolWillSeal = { try lateWriter.map($0) }
    }
    var careful = try world.subscriber(.keepLatest(3)) { $0.verifiesChecksums = true }
    var copying = try world.subscriber(.keepLatest(3)) { $0.verifiesChecksums = true }
    var trusting = try world.subscriber(.keepLatest(3))
    var loan = try publisher.loan()
    let offset = loan.offsetInPool
    loan.metadata.damage = .none
    loan.publish()
    lateWriter.write(0xee, at: offset + 1000)
    try publishNumbered(&publisher)
    guard let lease = try careful.poll() else {
      Issue.record("no frame")
      return
    }
    #expect(lease.sequence.rawValue == 2)
    #expect(lease.droppedBefore == 1)
    #expect(careful.droppedCount(by: .corrupt) == 1)
    var buffer = [UInt8](repeating: 0, count: 4096)
    var span = buffer.mutableSpan
    // SAFETY: any bits are a byte.
    var bytes = unsafe span.mutableBytes
    #expect(try copying.copyNext(into: &bytes)?.sequence.rawValue == 2)
    #expect(copying.droppedCount(by: .corrupt) == 1)
    #expect(try careful.poll() == nil)
    #expect(try trusting.poll()?.sequence.rawValue == 1)
  }
}

/// Keeps a writable mapping of a pool from before it was sealed.
private final class LateWriter: Sendable {
  private let mapping = Channel<SendableMapping>()

  private final class SendableMapping: Sendable {
    let mapping: Mapping
    init(_ mapping: consuming Mapping) { self.mapping = mapping }
  }

  func map(_ pool: PoolDescriptor) throws {
    let descriptor = try Descriptor.duplicating(pool.descriptorNumber)
    guard let file = MemoryFile(received: descriptor, byteCount: pool.byteCount) else {
      throw HarnessError("the pool is not a memory file")
    }
    mapping.send(SendableMapping(try Mapping(file, .readAndWrite)))
  }

  func write(_ byte: UInt8, at offset: Int) {
    guard let mapping = try? mapping.receive() else { return }
    // SAFETY: the caller's offset lies in a slot of the pool.
    unsafe mapping.mapping.base.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
  }
}
