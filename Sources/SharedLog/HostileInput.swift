import CLogLayout
import Platform

/// What a reader makes of hostile bytes, for the fuzzer: a header followed by a record. Their
/// checksums are set to the right values first, so that the fuzzer reaches the code behind them.
package struct HostileInput {
  package let isHeader: Bool
  package let record: LogRecord?

  package init(_ bytes: [UInt8]) {
    let headerBytes = Int(LG_HEADER_BYTES)
    var header = Array(bytes.prefix(headerBytes))
    header += Array(repeating: 0, count: headerBytes - header.count)
    let end = Int(LG_AT_CRC)
    header.set(
      littleEndian: header.withRawSpan { recordChecksum($0.extracting(first: end)) }, at: end)
    let found =
      RunHeader(parsing: header, isSegment: false) ?? RunHeader(parsing: header, isSegment: true)
    isHeader = found != nil
    var rest = Array(bytes.dropFirst(headerBytes))
    // Searching arbitrary bytes as a whole file terminates, and stays within them.
    let nonce = rest.count < 8 ? 0 : RecordScanner(bytes: rest, nonce: 0, position: 0).word64(0)
    let last = RecordScanner(bytes: rest, nonce: nonce, position: 0).endOfLastRecord
    precondition(last <= rest.count, "a record that ends at \(last) of \(rest.count) bytes")
    guard rest.count >= Int(LG_RECORD_BYTES), rest.count <= Int(LG_RECORD_LIMIT) else {
      record = nil
      return
    }
    rest.set(littleEndian: UInt32(rest.count), at: 8)
    let whole = RecordScanner.Found(start: 0, paddedBytes: rest.count, isFiller: false)
    let run = LogRun(name: "", pid: 0, uid: 0, role: .host, isRoleHeld: false, session: "")
    guard RecordScanner(bytes: rest, nonce: 0, position: 0).isLine(whole) else {
      record = nil
      return
    }
    let line = LogRecord(LogChunk(rest, of: run), at: 0)
    precondition(line == line, "a line that differs from itself")
    record = line
  }
}
