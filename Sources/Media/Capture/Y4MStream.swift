import FrameBus
import Platform

/// Splits a y4m stream into its header line and frames. Reads no further than necessary.
struct Y4MStream: ~Copyable {
  private let reader: ByteReader
  private let name: String
  private let stop: StopSignal
  private var framesRead: UInt64 = 0
  /// Bytes that were read ahead in search of the end of a line.
  private var pending: [UInt8] = []

  init(_ reader: consuming ByteReader, name: String, stop: StopSignal) {
    self.reader = reader
    self.name = name
    self.stop = stop
  }

  /// - Returns: nil if the run was stopped before a line arrived.
  mutating func readHeader() throws(Y4MError) -> Y4MHeader? {
    let line: [UInt8]?
    // Input that ends before its first line ends is not a y4m stream.
    do { line = try readLine() } catch .truncated { throw .header(.notY4M) }
    guard let line else {
      if stop.isRaised { return nil }
      throw .empty(name: name)
    }
    do { return try Y4MHeader(line) } catch { throw .header(error) }
  }

  /// Reads the next frame into a loan. Returns false if the stream ended or the run was stopped.
  mutating func readFrame(into loan: inout FrameLoan, byteCount: Int) throws(Y4MError) -> Bool {
    guard let line = try readLine() else { return false }
    guard line.starts(with: Array("FRAME".utf8)), line.count == 5 || line[5] == 0x20 else {
      throw .badFrame(name: name, frame: framesRead + 1)
    }
    var filled = 0
    while filled < byteCount {
      let count = try fill(&loan, from: filled, upTo: byteCount)
      if count == 0 {
        if stop.isRaised { return false }
        throw .truncated(name: name, frame: framesRead + 1)
      }
      filled += count
    }
    framesRead += 1
    return true
  }

  /// Reads once into the loan's bytes, or copies bytes that were read ahead.
  private mutating func fill(
    _ loan: inout FrameLoan, from start: Int, upTo end: Int
  ) throws(Y4MError) -> Int {
    let taken = min(pending.count, end - start)
    var bytes = loan.bytes
    if taken > 0 {
      for index in 0..<taken {
        bytes.storeBytes(of: pending[index], toByteOffset: start + index, as: UInt8.self)
      }
      pending.removeFirst(taken)
      return taken
    }
    do throws(SystemError) {
      return try reader.read(into: &bytes, start..<end, stop: stop)
    } catch { throw .system(error) }
  }

  /// A line without its newline; nil at the end of the stream.
  private mutating func readLine() throws(Y4MError) -> [UInt8]? {
    while true {
      if let end = pending.firstIndex(of: 0x0A) {
        let line = Array(pending[..<end])
        pending.removeFirst(end + 1)
        return line
      }
      guard pending.count < Y4MHeader.maximumLineBytes else { throw .lineTooLong(name: name) }
      // Reads ahead little, so that few bytes of a frame are copied through `pending`.
      let piece: [UInt8]
      do {
        piece = try reader.read(
          atMost: framesRead == 0 && pending.isEmpty ? 128 : 6, stop: stop)
      } catch { throw .system(error) }
      if piece.isEmpty {
        if pending.isEmpty || stop.isRaised { return nil }
        throw .truncated(name: name, frame: framesRead + 1)
      }
      pending += piece
    }
  }
}
