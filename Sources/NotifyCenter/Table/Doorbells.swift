import AppGroup
import CNotifyLayout
import Platform
import Synchronization

/// Rings for the processes that observe names of one table: the poster's side of the hand-shake.
///
/// Each user who observes has a directory here, with a file of seats that this process can only
/// read. A row's bits there say which seats to ring, a seat's `armed` word whether it may sleep.
final class Doorbells: Bells {
  let directory: Directory
  let epoch: EpochWord
  private let group: AppGroup
  private let onStep: OnStep
  private let view = Mutex(View())

  private struct View {
    var epoch: UInt64 = 0
    var lookedAtNs: UInt64 = 0
    var seats: [SeatsView] = []
  }

  /// How many directories are looked at, of one user and in all.
  private static let mostOfOneUser = 4
  private static let most = 256
  /// How many entries are looked through for them: every member who may observe can make more.
  private static let mostEntries = 4096
  /// How long a directory can be overlooked if a member set the epoch back.
  private static let longestViewNs: UInt64 = 1_000_000_000
  /// How many the posting thread rings itself. Where there are more, it rings none: each wake-up
  /// may cost it its processor.
  private static let few = 2

  init(
    _ directory: consuming Directory, _ epoch: EpochWord, _ group: AppGroup, _ onStep: OnStep
  ) {
    self.directory = directory
    self.epoch = epoch
    self.group = group
    self.onStep = onStep
  }

  func ring(row: Int, generation: UInt64, nowNs: UInt64) {
    var due: [Ring] = []
    for seats in current(nowNs) {
      seats.forEachObserver(ofRow: row) { seat in
        guard seats.mustRing(seat) else { return }
        due.append(Ring(seats: seats, seat: seat, row: row, generation: generation))
      }
    }
    if due.isEmpty { return }
    if due.count <= Self.few { due.removeAll { $0.seats.ringQuickly($0) } }
    if !due.isEmpty { WakeThread.shared.leave(due) }
  }

  func census() -> Census { Census(current(0)) }

  // MARK: Who is there

  private func current(_ nowNs: UInt64) -> [SeatsView] {
    let epoch = epoch.value
    return view.withLock { view in
      if epoch != view.epoch || nowNs &- view.lookedAtNs >= Self.longestViewNs {
        view = View(epoch: epoch, lookedAtNs: nowNs, seats: look(known: view.seats))
      }
      return view.seats
    }
  }

  private func look(known: [SeatsView]) -> [SeatsView] {
    var seats: [SeatsView] = []
    var counts: [UInt32: Int] = [:]
    // Those that are known first: nobody crowds them out.
    var names = known.map(\.name)
    let listed = (try? directory.names(atMost: Self.mostEntries)) ?? []
    names += listed.filter { name in !name.hasPrefix(".") && !known.contains { $0.name == name } }
    for name in names {
      guard seats.count < Self.most, let found = (try? directory.status(of: name)) ?? nil,
        found.kind == .directory, counts[found.ownerID, default: 0] < Self.mostOfOneUser,
        group.admits(uid: found.ownerID, gid: found.groupID)
      else { continue }
      let same = known.first { $0.isSame(as: found) && !$0.isLost }
      guard let view = same ?? (try? SeatsView(name, in: directory, onStep)) else { continue }
      counts[found.ownerID, default: 0] += 1
      seats.append(view)
    }
    return seats
  }
}

/// A word that changes whenever a process begins to observe in a table. Every member can write it;
/// a wrong one costs a look too many, or delays one by a second.
struct EpochWord: Sendable {
  private let page: EpochPage

  init(_ file: borrowing Descriptor) throws(SystemError) { page = try EpochPage(file) }

  var value: UInt64 {
    // SYNC observe/look: read after the post was counted.
    page.memory.loadSequential64(at: 0)
  }

  func raise() {
    // SYNC observe/look: raised before the generation is looked at.
    _ = page.memory.incremented64(at: 0)
  }
}

private final class EpochPage: Sendable {
  let memory: GuardedMapping

  init(_ file: borrowing Descriptor) throws(SystemError) {
    memory = try GuardedMapping(file, byteCount: Int(NC_EPOCH_BYTES))
  }
}
