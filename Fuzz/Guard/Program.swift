import CFuzzer
import CNATS
import FuzzSupport
import Platform

/// Fuzzes the check of a NATS server's bytes: however they are split into reads, it passes exactly
/// what the protocol's grammar, written a second time below, allows.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        let step = Int(input.byte()) + 1
        let stream = input.bytes(count)
        // What follows the first line in one read is refused, as libnats would lose it.
        let first = (stream.firstIndex(of: UInt8(ascii: "\n")) ?? stream.count - 1) + 1
        var grammar = Grammar(stream)
        let isAllowed = grammar.allows()
        let whole = passes(stream, splitAt: [])
        precondition(whole == (isAllowed && first == stream.count))
        precondition(passes(stream, splitAt: Array(0...stream.count)) == isAllowed)
        let steps = stride(from: first, to: stream.count, by: step)
        precondition(passes(stream, splitAt: [first] + steps) == isAllowed)
        if stream.count <= mostSplit, first <= stream.count {
          for split in first...stream.count {
            precondition(passes(stream, splitAt: [first, split]) == isAllowed)
          }
        }
        return 0
      })
  }
}

/// The longest input that is split at each of its boundaries.
private let mostSplit = 96

/// Checks a stream in reads that end at the given places, in ascending order.
private func passes(_ stream: [UInt8], splitAt places: [Int]) -> Bool {
  // SAFETY: a state of zeros is the beginning. Each read is within the stream.
  let state = UnsafeMutablePointer<fb_nats_guard>.allocate(capacity: 1)
  defer { unsafe state.deallocate() }
  unsafe UnsafeMutableRawPointer(state).initializeMemory(
    as: UInt8.self, repeating: 0, count: MemoryLayout<fb_nats_guard>.size)
  var begin = 0
  for end in places + [stream.count] {
    // A copy, so that AddressSanitizer knows where the read ends.
    let read = stream[begin..<end].map { CChar(bitPattern: $0) }
    let isSound = unsafe read.withUnsafeBufferPointer {
      unsafe fb_nats_guard_check(state, $0.baseAddress, $0.count)
    }
    precondition(isSound == (unsafe state.pointee.fault == nil))
    if !isSound {
      precondition(unsafe !fb_nats_guard_check(state, nil, 0))
      return false
    }
    begin = end
  }
  return true
}

/// What a server may send to a client, from the protocol's reference and the limits of
/// CNATSGuard.h.
private struct Grammar {
  private let stream: [UInt8]
  private var next = 0
  private var infoCount = 0
  private var isSetUp = false

  init(_ stream: [UInt8]) { self.stream = stream }

  /// Whether the stream begins a conversation, whose last line or message may be incomplete.
  mutating func allows() -> Bool {
    while next < stream.count {
      guard let line = line() else { return false }
      // Incomplete.
      if line.isEmpty { return true }
      guard isKnown(line) else { return false }
    }
    return true
  }

  /// - Returns: the next line with its break, nothing for an incomplete one, nil for a malformed
  ///   one.
  private mutating func line() -> [UInt8]? {
    let rest = stream[next...]
    let end = rest.firstIndex(of: UInt8(ascii: "\n"))
    let text = Array(rest[..<(end ?? rest.endIndex)])
    let limit =
      text.starts(with: Array("INFO ".utf8)) ? Int(FB_NATS_INFO_BYTES) : Int(FB_NATS_LINE_BYTES)
    guard text.count <= limit, !text.contains(0) else { return nil }
    let kept = text.prefix(Int(FB_NATS_LINE_BYTES))
    guard !kept.dropLast().contains(UInt8(ascii: "\r")) else { return nil }
    guard let end else { return [] }
    next = end + 1
    if text.count <= Int(FB_NATS_LINE_BYTES), text.last != UInt8(ascii: "\r") { return nil }
    return text + [UInt8(ascii: "\n")]
  }

  private mutating func isKnown(_ line: [UInt8]) -> Bool {
    let text = String(decoding: line, as: UTF8.self)
    if text.hasPrefix("INFO ") {
      infoCount += 1
      return infoCount <= Int(FB_NATS_INFO_LINES)
    }
    guard infoCount > 0 else { return false }
    switch line {
    case Array("PONG\r\n".utf8):
      isSetUp = true
      return true
    case Array("PING\r\n".utf8), Array("+OK\r\n".utf8): return true
    default: break
    }
    if line.starts(with: Array("-ERR ".utf8)) { return true }
    return isSetUp && isMessage(line.dropLast(2))
  }

  private mutating func isMessage(_ line: ArraySlice<UInt8>) -> Bool {
    let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    let words = line.split(whereSeparator: isSpace)
    let hasHeaders = words.first.map { Array($0) == Array("HMSG".utf8) } ?? false
    guard hasHeaders || words.first.map({ Array($0) == Array("MSG".utf8) }) == true,
      !line.contains(UInt8(ascii: "\t")),
      words.count == (hasHeaders ? 5 : 4) || words.count == (hasHeaders ? 6 : 5),
      number(words[2]) != nil, let size = number(words[words.count - 1]),
      size <= Int(FB_NATS_PAYLOAD_BYTES)
    else { return false }
    if hasHeaders {
      guard let head = number(words[words.count - 2]), head <= size else { return false }
    }
    next += size
    for byte in "\r\n".utf8 where next < stream.count {
      guard stream[next] == byte else { return false }
      next += 1
    }
    return true
  }

  private func number(_ word: ArraySlice<UInt8>) -> Int? {
    let isDecimal = word.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return isDecimal && word.count <= 9 ? Int(String(decoding: word, as: UTF8.self)) : nil
  }
}
