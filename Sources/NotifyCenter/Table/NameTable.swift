import CNotifyLayout
import Platform
import Synchronization

/// The names of one prefix, each a row of a mapped file, for posters and observers.
///
/// Any member who may post here can write any bytes into the file or truncate it, at any moment. So
/// its content is never trusted: the row's hash is checked at each use, and a truncated file is
/// extended again, with all counts at 0.
final class NameTable: Sendable {
  let path: String
  /// Whether this process may post and set states here.
  let isWritable: Bool
  let bells: any Bells
  let onStep: OnStep
  let memory: GuardedMapping
  private let file: Descriptor
  private let repair = Mutex<Void>(())

  /// Maximum number of names.
  static let maximumNames = Int(NC_ROWS) - 1

  /// - Parameter file: the file `rows`, of the right owner and kind.
  init(
    _ file: consuming Descriptor, path: String, isWritable: Bool, bells: any Bells, _ onStep: OnStep
  ) throws(NotifyError) {
    let access: Mapping.Access = isWritable ? .readAndWrite : .read
    do {
      memory = try GuardedMapping(file, byteCount: Int(NC_ROWS_BYTES), access)
    } catch {
      throw .system(error)
    }
    self.file = file
    self.path = path
    self.isWritable = isWritable
    self.bells = bells
    self.onStep = onStep
    try makeWhole()
  }

  // MARK: Rows

  static func offset(ofRow row: Int) -> Int { Int(NC_AT_ROWS) + row * Int(NC_ROW_BYTES) }

  @inline(__always)
  func hash(ofRow row: Int) -> UInt64 {
    // SYNC add/find: acquire side.
    memory.loadAcquiring64(at: Self.offset(ofRow: row) + Int(NC_ROW_AT_HASH))
  }

  /// The row of a name, searched from the row that its hash points to; nil if it has none.
  func find(_ name: NotificationName) -> Int? {
    for row in Self.candidates(name) {
      let found = hash(ofRow: row)
      if found == name.hash { return row }
      if found == 0 { return nil }
    }
    return nil
  }

  /// The row of a name, added if missing. One exchange takes a row, so several processes that add
  /// a name at once agree on its row, and one that dies leaves a valid row.
  func findOrAdd(_ name: NotificationName) throws(NotifyError) -> Int {
    for row in Self.candidates(name) {
      let offset = Self.offset(ofRow: row)
      // SYNC add/find: a row of zeros has no posts.
      let isNew = memory.replace64(0, with: name.hash, at: offset + Int(NC_ROW_AT_HASH))
      guard isNew || hash(ofRow: row) == name.hash else { continue }
      if isNew { onStep?(.rowTaken) }
      // For lists. A process that took the row may have died before this.
      if nameBytes(ofRow: row) == 0 { setName(name, ofRow: row) }
      if isNew { ringForNewName() }
      return row
    }
    throw .tooManyNames(name, maximum: Self.maximumNames)
  }

  /// Number of names added. Read it before searching for a name that had no row: then either the
  /// search finds the name, or the process that adds it sees the observers of row 0.
  var addedCount: UInt64 {
    // SYNC post/observe: the observer's read, sequentially consistent with the adder's.
    memory.loadSequential64(at: Self.offset(ofRow: 0) + Int(NC_ROW_AT_GENERATION))
  }

  private static func candidates(_ name: NotificationName) -> some Sequence<Int> {
    (0..<maximumNames).lazy.map { step in
      1 + Int((name.hash &+ UInt64(step)) % UInt64(maximumNames))
    }
  }

  /// Wakes the observers of names that had no row: row 0 counts the names.
  private func ringForNewName() {
    let now = coarseNowNs()
    // SYNC post/observe: as a post.
    let count = memory.incremented64(at: Self.offset(ofRow: 0) + Int(NC_ROW_AT_GENERATION))
    bells.ring(row: 0, generation: count, nowNs: now, exceptOwn: false)
    onStep?(.namePublished)
  }

  // MARK: Names, for lists

  private func nameBytes(ofRow row: Int) -> Int {
    // SYNC name/list: acquire side.
    Int(memory.loadAcquiring32(at: Self.offset(ofRow: row) + Int(NC_ROW_AT_NAME_BYTES)))
  }

  private func setName(_ name: NotificationName, ofRow row: Int) {
    let bytes = Array(name.text.utf8)
    memory.setBytes(bytes, at: Int(NC_AT_NAMES) + row * Int(NC_NAME_BYTES))
    // SYNC name/list: release side.
    memory.storeReleasing32(
      UInt32(bytes.count), at: Self.offset(ofRow: row) + Int(NC_ROW_AT_NAME_BYTES))
    onStep?(.rowNamed)
  }

  /// All names with their rows; rows with an invalid name are left out.
  func names() -> [(name: NotificationName, row: Int)] {
    (1..<Int(NC_ROWS)).compactMap { row in
      let hash = hash(ofRow: row)
      let count = nameBytes(ofRow: row)
      guard hash != 0, (1...Int(NC_NAME_BYTES)).contains(count) else { return nil }
      let bytes = memory.copyBytes(at: Int(NC_AT_NAMES) + row * Int(NC_NAME_BYTES), count: count)
      guard let text = String(validating: bytes, as: UTF8.self),
        let name = try? NotificationName(text), name.hash == hash
      else { return nil }
      return (name, row)
    }
  }

  // MARK: Repair

  /// Makes sure that the file has its full length and that the mapping shows it.
  func makeWhole() throws(NotifyError) {
    try repair.withLock { _ throws(NotifyError) in
      do throws(SystemError) {
        let byteCount = try fileStatus(of: file, path: path).byteCount
        if byteCount < Int(NC_ROWS_BYTES) {
          // A process that may only read waits for one that may post.
          if !isWritable { return }
          try file.setByteCount(Int(NC_ROWS_BYTES))
        }
        if memory.isLost { try memory.renew(file) }
      } catch {
        throw .system(error)
      }
      try requireHeader()
    }
  }

  private func requireHeader() throws(NotifyError) {
    // SYNC make/open: acquire side.
    let magic = memory.loadAcquiring64(at: Int(NC_AT_MAGIC))
    if magic == 0 {
      guard isWritable else { return }
      // SYNC make/open: release side. Several first processes write the same values.
      memory.storeReleasing32(UInt32(NC_ABI_VERSION), at: Int(NC_AT_ABI_VERSION))
      memory.storeReleasing64(NC_ROWS_MAGIC, at: Int(NC_AT_MAGIC))
      return
    }
    let version = memory.loadAcquiring32(at: Int(NC_AT_ABI_VERSION))
    if magic == NC_ROWS_MAGIC, version == UInt32(NC_ABI_VERSION) { return }
    throw .untrusted(
      path: path, why: "it is not a table of names of version \(NC_ABI_VERSION)")
  }
}

/// Rings the observers of a row.
protocol Bells: AnyObject, Sendable {
  /// Called after the post was counted. Never blocks.
  /// - Parameter exceptOwn: whether to leave out observers of this process.
  func ring(row: Int, generation: UInt64, nowNs: UInt64, exceptOwn: Bool)
  /// The current observers of each row.
  func census() -> Census
}
