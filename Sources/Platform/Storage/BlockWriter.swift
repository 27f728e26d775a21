import Glibc

/// Writes records into a `BlockFile`, several at a time by io_uring, or one after the other if
/// io_uring is unavailable.
///
/// A record is a head of one block, followed by a body. The head is written only after the whole
/// body: a reader that finds a head can rely on its body, even if the writer's process died. The
/// body is written in place; only its last bytes, less than a block, are copied.
package struct BlockWriter: ~Copyable {
  package var file: BlockFile
  /// Maximum number of records in flight.
  package let depth: Int
  /// Why io_uring is unavailable; nil if it is available.
  package let ringRefusal: SystemError?

  private let ring: IOURing?
  /// Two blocks for each record in flight: its head, and the end of its body.
  private let scratch: BlockMemory
  private var slots: [Slot]
  /// Records that were written synchronously, without io_uring.
  private var finished: [Completion] = []

  /// The completion of a record.
  package struct Completion: Sendable {
    package let token: Int
    /// Nil if the whole record is in the file.
    package let error: SystemError?
  }

  /// The parts of a record while they are written.
  @safe private struct Slot {
    var isTaken = false
    var offset: UInt64 = 0
    /// SAFETY: the caller of `write` keeps the body alive; the scratch lives as long as self.
    var body: [iovec] = unsafe []
    var wasCutShort = false
    var bodyBytes = 0
  }

  /// - Parameter depth: 1…64.
  package init(_ file: consuming BlockFile, depth: Int) throws(SystemError) {
    precondition((1...64).contains(depth), "a depth of \(depth)")
    scratch = try BlockMemory(count: 2 * depth)
    self.file = file
    self.depth = depth
    slots = (0..<depth).map { _ in Slot() }
    do throws(SystemError) {
      ring = try IOURing(entries: 2 * depth)
      ringRefusal = nil
    } catch {
      ring = nil
      ringRefusal = error
    }
  }

  /// Records in flight, including finished ones whose completion has not been read.
  package var inFlight: Int { slots.count { $0.isTaken } }

  /// Begins to write a record.
  /// - Parameters:
  ///   - head: at most a block; the rest of its block is zeros.
  ///   - body: page-aligned. It must stay unchanged and mapped until its completion.
  ///   - offset: the file offset of the head.
  /// - Returns: the token of its completion.
  @unsafe package mutating func write(
    head: [UInt8], body: UnsafeRawBufferPointer, at offset: UInt64
  ) throws(SystemError) -> Int {
    guard let token = slots.firstIndex(where: { !$0.isTaken }) else {
      preconditionFailure("\(depth) records are already in flight, the maximum")
    }
    unsafe prepare(token, head, body, offset)
    if let ring {
      do throws(SystemError) {
        unsafe try ring.write(
          slots[token].body, at: offset + blockBytes, then: scratch[2 * token], at: offset,
          to: file.number, token: UInt64(token))
      } catch {
        slots[token].isTaken = false
        throw error
      }
    } else {
      finished.append(Completion(token: token, error: writeAtOnce(token)))
    }
    return token
  }

  /// The next completion, if any.
  /// - Parameter isWaiting: whether to wait for one if any record is in flight.
  package mutating func nextCompletion(isWaiting: Bool) throws(SystemError) -> Completion? {
    if let completion = finished.popLast() {
      slots[completion.token].isTaken = false
      return completion
    }
    guard let ring, inFlight > 0 else { return nil }
    while let event = try ring.next(isWaiting: isWaiting) {
      let token = Int(event.token / 2)
      if event.token % 2 == 0 {
        slots[token].wasCutShort = Int(event.result) != slots[token].bodyBytes
        continue
      }
      let isWhole = !slots[token].wasCutShort && Int(event.result) == BlockFile.blockBytes
      // A short write is repeated with plain calls, which complete it or return the error.
      let completion = Completion(token: token, error: isWhole ? nil : writeAtOnce(token))
      slots[token].isTaken = false
      return completion
    }
    return nil
  }

  private var blockBytes: UInt64 { UInt64(BlockFile.blockBytes) }

  /// SAFETY: the caller keeps the body's memory alive; the scratch has two blocks per token.
  @unsafe private mutating func prepare(
    _ token: Int, _ head: [UInt8], _ body: UnsafeRawBufferPointer, _ offset: UInt64
  ) {
    precondition(head.count <= BlockFile.blockBytes, "a head of \(head.count) bytes")
    let whole = body.count / BlockFile.blockBytes * BlockFile.blockBytes
    unsafe head.withUnsafeBytes { unsafe scratch.fill(2 * token, from: $0) }
    unsafe slots[token].body.removeAll(keepingCapacity: true)
    if whole > 0 {
      let start = unsafe UnsafeMutableRawPointer(mutating: body.baseAddress)
      unsafe slots[token].body.append(iovec(iov_base: start, iov_len: whole))
    }
    if whole < body.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: body[whole...])
      unsafe scratch.fill(2 * token + 1, from: rest)
      unsafe slots[token].body.append(scratch[2 * token + 1])
    }
    slots[token].bodyBytes = unsafe slots[token].body.reduce(0) { unsafe $0 + $1.iov_len }
    slots[token].offset = offset
    slots[token].wasCutShort = false
    slots[token].isTaken = true
  }

  private mutating func writeAtOnce(_ token: Int) -> SystemError? {
    let slot = slots[token]
    // SAFETY: as in `prepare`.
    do throws(SystemError) {
      unsafe try file.write(slot.body, at: slot.offset + blockBytes)
      unsafe try file.write([scratch[2 * token]], at: slot.offset)
      return nil
    } catch { return error }
  }
}
