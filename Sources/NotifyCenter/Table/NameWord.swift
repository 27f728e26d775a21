import CNotifyLayout
import Platform
import Synchronization

/// One name, and the words of its row.
final class NameWord: Sendable {
  let name: NotificationName
  let table: NameTable
  /// The row's last known number; 0 before it was found.
  private let lastRow = Atomic<Int>(0)
  /// The same, once this process has made sure that the row has its name.
  private let lastNamedRow = Atomic<Int>(0)
  private static let ownPoster =
    UInt64(UInt32(bitPattern: currentProcessID())) | UInt64(currentUserID()) << 32
  /// How often one call repairs a table that is truncated during it.
  private static let retryLimit = 16

  init(_ name: NotificationName, in table: NameTable) {
    self.name = name
    self.table = table
  }

  // MARK: Posting

  @discardableResult
  func post(exceptOwn: Bool = false) throws(NotifyError) -> UInt64 {
    for _ in 0..<Self.retryLimit {
      let row = try rowToWrite()
      let offset = NameTable.offset(ofRow: row)
      let now = coarseNowNs()
      // SYNC post/observe: counted first, then the registrations are read. All these accesses and
      // the observers' are sequentially consistent, which has the effect of a full fence between
      // the two.
      let generation = table.memory.incremented64(at: offset + Int(NC_ROW_AT_GENERATION))
      // Relaxed: for status output only.
      table.memory.storeRelaxed64(now, at: offset + Int(NC_ROW_AT_LAST_POST_NS))
      table.memory.storeRelaxed64(Self.ownPoster, at: offset + Int(NC_ROW_AT_LAST_POSTER))
      table.onStep?(.counted)
      guard isOwn(row), !table.memory.isLost else {
        try table.makeWhole()
        continue
      }
      table.bells.ring(row: row, generation: generation, nowNs: now, exceptOwn: exceptOwn)
      return generation
    }
    throw lost
  }

  // MARK: Reading

  /// The name's number of posts; 0 without a row. Makes no system call.
  @inline(__always)
  var generation: UInt64 { word(Int(NC_ROW_AT_GENERATION)) }

  var state: UInt64 { word(Int(NC_ROW_AT_STATE)) }

  func setState(_ state: UInt64) throws(NotifyError) {
    for _ in 0..<Self.retryLimit {
      let row = try rowToWrite()
      // SYNC state/look: release side.
      table.memory.storeReleasing64(
        state, at: NameTable.offset(ofRow: row) + Int(NC_ROW_AT_STATE))
      if isOwn(row), !table.memory.isLost { return }
      try table.makeWhole()
    }
    throw lost
  }

  /// - Returns: false if the state was not `old`, and still is what it was.
  func replaceState(_ old: UInt64, with new: UInt64) throws(NotifyError) -> Bool {
    for _ in 0..<Self.retryLimit {
      let row = try rowToWrite()
      // SYNC state/look: release side.
      let isReplaced = table.memory.replace64(
        old, with: new, at: NameTable.offset(ofRow: row) + Int(NC_ROW_AT_STATE))
      if isOwn(row), !table.memory.isLost { return isReplaced }
      try table.makeWhole()
    }
    throw lost
  }

  var lastPostNs: UInt64 { word(Int(NC_ROW_AT_LAST_POST_NS)) }
  var lastPoster: UInt64 { word(Int(NC_ROW_AT_LAST_POSTER)) }

  @inline(__always)
  private func word(_ offset: Int) -> UInt64 {
    guard let row else { return 0 }
    // SYNC post/observe: the observer's read.
    // SYNC state/look: acquire side.
    return table.memory.loadSequential64(at: NameTable.offset(ofRow: row) + offset)
  }

  // MARK: The row

  /// The row, if the name has one; searched again if it is not where it was.
  @inline(__always)
  var row: Int? {
    // Relaxed: the hash confirms the row.
    let row = lastRow.load(ordering: .relaxed)
    return row != 0 && isOwn(row) ? row : found()
  }

  /// The row, added if missing.
  func rowToWrite() throws(NotifyError) -> Int {
    // Relaxed: as above.
    let last = lastNamedRow.load(ordering: .relaxed)
    if last != 0, isOwn(last) { return last }
    if table.memory.isLost { try table.makeWhole() }
    let row = try table.findOrAdd(name)
    lastNamedRow.store(row, ordering: .relaxed)
    lastRow.store(row, ordering: .relaxed)
    return row
  }

  private func found() -> Int? {
    // The table may be empty because no process has extended it yet.
    if table.memory.isLost { try? table.makeWhole() }
    guard let row = table.find(name) else { return nil }
    // Relaxed: as above.
    lastRow.store(row, ordering: .relaxed)
    return row
  }

  @inline(__always)
  private func isOwn(_ row: Int) -> Bool { table.hash(ofRow: row) == name.hash }

  /// A full disk makes pages unavailable just as truncation does: distinguish them.
  private var lost: NotifyError {
    if let free = try? OutputFile(table.path).freeBytes(), free < UInt64(NC_EPOCH_BYTES) {
      return .system(.noSpace(path: table.path))
    }
    return .untrusted(path: table.path, why: "it is being truncated repeatedly")
  }
}
