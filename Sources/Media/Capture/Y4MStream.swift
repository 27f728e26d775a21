import FrameBus
import Platform

/// Takes a y4m stream apart: header line, then frames. Reads no byte further than it must.
struct Y4MStream: ~Copyable {
  private let reader: ByteReader
  private let name: String
  private let stop: StopSignal
  private var framesRead: UInt64 = 0
  /// Bytes that were read ahead while looking for the end of a line.
  private var pending: [UInt8] = []

  init(_ reader: consuming ByteReader, name: String, stop: StopSignal) {
    self.reader = reader
    self.name = name
    self.stop = stop
  }

  /// - Returns: nil when the run was stopped before a line arrived.
  mutating func readHeader() throws(Y4MError) -> Y4MHeader? {
    let line: [UInt8]?
    // What ends before its first line does is no y4m stream at all.
    do { line = try readLine() } catch .truncated { throw .header(.notY4M) }
    guard let line else {
      if stop.isRaised { return nil }
      throw .empty(name: name)
    }
    do { return try Y4MHeader(line) } catch { throw .header(error) }
  }

  /// Reads the next frame into a loan. False: the stream ended well, or the run was stopped.
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

  /// One read into the loan's bytes; what was read ahead comes first.
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
      // Little is read ahead, so that little of a frame takes the way over `pending`.
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
