import CNotifyLayout
import Platform
import Synchronization

private let ownTable = Mutex<NameTable?>(nil)

/// The table of the names that begin with `self.`: anonymous memory, which no other process can
/// reach.
func processTable() throws(NotifyError) -> NameTable {
  try ownTable.withLock { table throws(NotifyError) in
    if let table { return table }
    let file = try NotifyError.attempt(
      MemoryFile(named: "framebus-self", byteCount: Int(NC_ROWS_BYTES)).intoDescriptor())
    let made = try NameTable(file, path: "self.", isWritable: true, bells: ProcessBells(), nil)
    table = made
    return made
  }
}

/// Notifies the observers within this process, by a job on their thread.
final class ProcessBells: Bells {
  private let rings = Mutex<[ObjectIdentifier: @Sendable () -> Void]>([:])

  func ring(row: Int, generation: UInt64, nowNs: UInt64, exceptOwn: Bool) {
    for ring in rings.withLock({ Array($0.values) }) { ring() }
  }

  func add(_ observer: TableObserver) {
    rings.withLock { $0[ObjectIdentifier(observer)] = { [weak observer] in observer?.checkSoon() } }
  }

  func remove(_ observer: ObjectIdentifier) {
    rings.withLock { _ = $0.removeValue(forKey: observer) }
  }

  /// Empty: the process's own observers are not listed.
  func census() -> Census { Census([]) }
}
