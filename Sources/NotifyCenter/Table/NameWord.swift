import CNotifyLayout
import Platform
import Synchronization

/// One name and the words of its row, wherever that is.
final class NameWord: Sendable {
  let name: NotificationName
  let table: NameTable
  /// Where the row was last; 0 before it was found.
  private let lastRow = Atomic<Int>(0)
  /// The same, once this process has made sure that the row bears the name.
  private let lastNamedRow = Atomic<Int>(0)
  private static let ownPoster =
    UInt64(UInt32(bitPattern: currentProcessID())) | UInt64(currentUserID()) << 32
  /// How often a table may be truncated under one call.
  private static let patience = 16

  init(_ name: NotificationName, in table: NameTable) {
    self.name = name
    self.table = table
  }

  // MARK: Posting

  @discardableResult
  func post() throws(NotifyError) -> UInt64 {
    for _ in 0..<Self.patience {
      let row = try rowToWrite()
      let offset = NameTable.offset(ofRow: row)
      let now = coarseNowNs()
      // SYNC post/observe: counted, and only then a look at who is to be rung. These accesses and
      // those of the observers are in one order (sequentially consistent), which does what a full
      // fence between the two would.
      let generation = table.memory.incremented64(at: offset + Int(NC_ROW_AT_GENERATION))
      // Relaxed: for people to read.
      table.memory.storeRelaxed64(now, at: offset + Int(NC_ROW_AT_LAST_POST_NS))
      table.memory.storeRelaxed64(Self.ownPoster, at: offset + Int(NC_ROW_AT_LAST_POSTER))
      table.onStep?(.counted)
      guard isOwn(row), !table.memory.isLost else {
        try table.makeWhole()
        continue
      }
      table.bells.ring(row: row, generation: generation, nowNs: now)
      return generation
    }
    throw lost
  }

  // MARK: Looking

  /// How often the name was posted, 0 if it has no row. No system call.
  @inline(__always)
  var generation: UInt64 { word(Int(NC_ROW_AT_GENERATION)) }

  var state: UInt64 { word(Int(NC_ROW_AT_STATE)) }

  func setState(_ state: UInt64) throws(NotifyError) {
    for _ in 0..<Self.patience {
      let row = try rowToWrite()
      // SYNC state/look: release side.
      table.memory.storeReleasing64(
        state, at: NameTable.offset(ofRow: row) + Int(NC_ROW_AT_STATE))
      if isOwn(row), !table.memory.isLost { return }
      try table.makeWhole()
    }
    throw lost
  }

  var lastPostNs: UInt64 { word(Int(NC_ROW_AT_LAST_POST_NS)) }
  var lastPoster: UInt64 { word(Int(NC_ROW_AT_LAST_POSTER)) }

  @inline(__always)
  private func word(_ offset: Int) -> UInt64 {
    guard let row else { return 0 }
    // SYNC post/observe: the observer's look.
    // SYNC state/look: acquire side.
    return table.memory.loadSequential64(at: NameTable.offset(ofRow: row) + offset)
  }

  // MARK: The row

  /// The row, if the name has one: looked for again if it is no longer where it was.
  @inline(__always)
  var row: Int? {
    // Relaxed: the hash says whether it is the row.
    let row = lastRow.load(ordering: .relaxed)
    return row != 0 && isOwn(row) ? row : found()
  }

  /// The row, which is added if there is none.
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
    // As when nobody had made the table long yet.
    if table.memory.isLost { try? table.makeWhole() }
    guard let row = table.find(name) else { return nil }
    // Relaxed: as above.
    lastRow.store(row, ordering: .relaxed)
    return row
  }

  @inline(__always)
  private func isOwn(_ row: Int) -> Bool { table.hash(ofRow: row) == name.hash }

  /// A page that a full disk cannot give is lost like one that was truncated.
  private var lost: NotifyError {
    if let free = try? OutputFile(table.path).freeBytes(), free < UInt64(NC_EPOCH_BYTES) {
      return .system(.noSpace(path: table.path))
    }
    return .untrusted(path: table.path, why: "it is being truncated again and again")
  }
}
