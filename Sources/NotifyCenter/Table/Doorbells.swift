import AppGroup
import CNotifyLayout
import Platform
import Synchronization

/// Rings the processes that observe names of one table: the poster's side of the hand-shake.
///
/// Each user who observes has a directory here, with a file of registrations that this process can
/// only read. A row's bits in it say which registrations to ring; a registration's `armed` word
/// says whether it may sleep.
final class Doorbells: Bells {
  let directory: Directory
  let epoch: EpochWord
  private let group: AppGroup
  private let onStep: OnStep
  private let view = Mutex(View())

  private struct View {
    var epoch: UInt64 = 0
    var scannedAtNs: UInt64 = 0
    var registrations: [RegistrationsView] = []
  }

  /// Maximum directories used: of one user, and in all.
  private static let maximumDirectoriesOfUser = 4
  private static let maximumDirectories = 256
  /// Maximum directory entries searched: every member who may observe can create more.
  private static let maximumEntries = 4096
  /// Maximum delay of finding a directory if a member set the epoch back.
  private static let maximumViewAgeNs: UInt64 = 1_000_000_000
  /// Maximum registrations that the posting thread rings itself. With more, it rings none, because
  /// each wake-up may take its processor.
  private static let maximumDirectRings = 2

  init(
    _ directory: consuming Directory, _ epoch: EpochWord, _ group: AppGroup, _ onStep: OnStep
  ) {
    self.directory = directory
    self.epoch = epoch
    self.group = group
    self.onStep = onStep
  }

  func ring(row: Int, generation: UInt64, nowNs: UInt64, exceptOwn: Bool) {
    var due: [Ring] = []
    for registrations in current(nowNs) {
      registrations.forEachObserver(ofRow: row) { index in
        guard registrations.mustRing(index) else { return }
        // A process that claims to be this one harms only itself.
        if exceptOwn, registrations.processID(ofRegistration: index) == currentProcessID() {
          return
        }
        due.append(
          Ring(registrations: registrations, index: index, row: row, generation: generation))
      }
    }
    if due.isEmpty { return }
    if due.count <= Self.maximumDirectRings { due.removeAll { $0.registrations.ringQuickly($0) } }
    if !due.isEmpty { WakeThread.shared.enqueue(due) }
  }

  func census() -> Census { Census(current(0)) }

  // MARK: Directories

  private func current(_ nowNs: UInt64) -> [RegistrationsView] {
    let epoch = epoch.value
    return view.withLock { view in
      if epoch != view.epoch || nowNs &- view.scannedAtNs >= Self.maximumViewAgeNs {
        view = View(
          epoch: epoch, scannedAtNs: nowNs, registrations: scan(known: view.registrations))
      }
      return view.registrations
    }
  }

  private func scan(known: [RegistrationsView]) -> [RegistrationsView] {
    var registrations: [RegistrationsView] = []
    var counts: [UInt32: Int] = [:]
    // Known ones first, so that new ones cannot crowd them out.
    var names = known.map(\.name)
    let listed = (try? directory.names(atMost: Self.maximumEntries)) ?? []
    names += listed.filter { name in !name.hasPrefix(".") && !known.contains { $0.name == name } }
    for name in names {
      guard registrations.count < Self.maximumDirectories,
        let found = (try? directory.status(of: name)) ?? nil,
        found.kind == .directory, counts[found.ownerID, default: 0] < Self.maximumDirectoriesOfUser,
        group.admits(uid: found.ownerID, gid: found.groupID)
      else { continue }
      let same = known.first { $0.isSame(as: found) && !$0.isLost }
      guard let view = same ?? (try? RegistrationsView(name, in: directory, onStep)) else {
        continue
      }
      counts[found.ownerID, default: 0] += 1
      registrations.append(view)
    }
    return registrations
  }
}

/// A word that changes whenever a process begins to observe in a table. Every member can write it.
/// A wrong value costs a needless scan, or delays one by a second.
struct EpochWord: Sendable {
  private let page: EpochPage

  init(_ file: borrowing Descriptor) throws(SystemError) { page = try EpochPage(file) }

  var value: UInt64 {
    // SYNC observe/look: read after the post was counted.
    page.memory.loadSequential64(at: 0)
  }

  func raise() {
    // SYNC observe/look: raised before the generation is read.
    _ = page.memory.incremented64(at: 0)
  }
}

private final class EpochPage: Sendable {
  let memory: GuardedMapping

  init(_ file: borrowing Descriptor) throws(SystemError) {
    memory = try GuardedMapping(file, byteCount: Int(NC_EPOCH_BYTES))
  }
}
