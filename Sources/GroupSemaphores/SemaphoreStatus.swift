import AppGroup
import Platform

/// The state of a semaphore at one moment.
public struct SemaphoreStatus: Hashable, Sendable {
  /// A holder of a recoverable semaphore.
  public struct Holder: Hashable, Sendable {
    /// The process ID that the holder wrote: unverified.
    public let processID: Int32
    /// The permits that it holds.
    public let count: Int
  }

  /// The name of the semaphore.
  public let name: SemaphoreName
  /// The number of available permits.
  public let value: Int
  /// The permits with which it was created.
  public let initialValue: Int
  /// The most permits that it can have.
  public let maximumValue: Int
  /// Whether the permits of a dead holder come back.
  public let isRecoverable: Bool
  /// The user who created it.
  public let ownerID: UInt32
  /// The processes that hold permits; empty unless it is recoverable.
  public let holders: [Holder]
  /// Permits of a recoverable semaphore that are taken without a holder.
  public let takenCount: Int
}

/// One entry of a list of semaphores, possibly unusable.
public struct ListedSemaphore: Sendable {
  /// The name of the semaphore.
  public let name: SemaphoreName
  /// Its state; nil if it cannot be read.
  public let status: SemaphoreStatus?
  /// Why there is no status.
  public let problem: String?
}

extension GroupSemaphore {
  /// The semaphore's state, after the permits of dead processes were reclaimed.
  public func status() throws(SemaphoreError) -> SemaphoreStatus {
    let value = try value()
    let held = isRecoverable ? file.heldPermits().sorted { $0.key < $1.key } : []
    let status = SemaphoreStatus(
      name: name, value: value, initialValue: file.initialValue, maximumValue: maximumValue,
      isRecoverable: isRecoverable, ownerID: file.ownerID,
      holders: held.map {
        .init(processID: file.processID(ofEntry: $0.key), count: $0.value)
      },
      takenCount: isRecoverable ? file.permits(SemaphoreFile.Permit.taken) : 0)
    try file.requireIntact()
    return status
  }

  /// All semaphores of a group, unusable ones included, sorted by name.
  public static func list(in group: AppGroup) throws(SemaphoreFileError) -> [ListedSemaphore] {
    try SemaphoreFile.names(in: group).map { name in
      do {
        let status = try open(name, in: group).status()
        return ListedSemaphore(name: name, status: status, problem: nil)
      } catch {
        return ListedSemaphore(name: name, status: nil, problem: "\(error)")
      }
    }
  }
}
