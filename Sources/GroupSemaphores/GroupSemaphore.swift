import AppGroup
import Platform
import Synchronization

// Named semaphores that the members of a group share, in files of the group.
//
// This module refuses to interpret what a count stands for, to order its waiters, and to use the
// system's global names (`sem_open(3)`). Layout, rules and failures: docs/design/semaphores.md.

/// A counting semaphore that the members of a group share by name.
///
/// A *plain* one is a POSIX semaphore (`sem_overview(7)`): a process that dies never releases what
/// it took. A *recoverable* one records its holders: a `GroupSemaphore` object holds the permits it
/// takes until it posts. When the object is released, or its process dies, also by SIGKILL, the
/// permits that it still holds are freed.
///
/// Any number of threads may use one object at once.
public final class GroupSemaphore: Sendable {
  let file: SemaphoreFile
  /// This object's entry among the holders of a recoverable semaphore, once it has one. The thread
  /// that holds the mutex may lock entries and reclaim the permits of dead processes: locks on a
  /// file do not exclude the threads of one object from each other.
  let entry = Mutex<Int?>(nil)
  let onStep: OnStep

  private init(_ file: consuming SemaphoreFile, _ onStep: OnStep) {
    self.file = file
    self.onStep = onStep
  }

  /// Creates a semaphore. The caller's role must be one that may publish.
  /// - Parameters:
  ///   - initialValue: 0…`SEM_VALUE_MAX` (2,147,483,647); at most 1,024 if recoverable.
  ///   - isRecoverable: whether permits are freed when their holder dies.
  /// - Throws: ``SemaphoreFileError/exists(_:)`` if the name is in use; of several concurrent calls
  ///   one succeeds.
  public static func create(
    _ name: SemaphoreName, in group: AppGroup, initialValue: Int = 1,
    recoverable isRecoverable: Bool = false
  ) throws(SemaphoreFileError) -> GroupSemaphore {
    try create(
      name, in: group, initialValue: initialValue, recoverable: isRecoverable, onStep: nil)
  }

  package static func create(
    _ name: SemaphoreName, in group: AppGroup, initialValue: Int,
    recoverable isRecoverable: Bool, onStep: OnStep
  ) throws(SemaphoreFileError) -> GroupSemaphore {
    let file = try SemaphoreFile.create(
      name, in: group, initialValue: initialValue, isRecoverable: isRecoverable, onStep)
    return GroupSemaphore(file, onStep)
  }

  /// Opens a semaphore that a member has created.
  public static func open(
    _ name: SemaphoreName, in group: AppGroup
  ) throws(SemaphoreFileError) -> GroupSemaphore {
    try open(name, in: group, onStep: nil)
  }

  package static func open(
    _ name: SemaphoreName, in group: AppGroup, onStep: OnStep
  ) throws(SemaphoreFileError) -> GroupSemaphore {
    GroupSemaphore(try SemaphoreFile.open(name, in: group), onStep)
  }

  /// Removes a semaphore. Waiters, and later callers with an open object, receive
  /// ``SemaphoreError/removed(_:)`` within 250 ms.
  public static func remove(
    _ name: SemaphoreName, in group: AppGroup
  ) throws(SemaphoreFileError) {
    // A semaphore that cannot be opened can still be removed.
    let file = try? SemaphoreFile.open(name, in: group)
    try SemaphoreFile.remove(name, in: group)
    // Nothing rings again after this, so all waiters wake.
    if let file {
      file.ring(waking: .max, nil)
      file.wakePosixWaiters()
    }
  }

  /// The name of the semaphore.
  public var name: SemaphoreName { file.name }
  /// Whether the permits of a dead holder come back.
  public var isRecoverable: Bool { file.isRecoverable }
  /// The highest possible count.
  public var maximumValue: Int { file.maximumValue }

  // MARK: Acquiring and posting

  /// How a wait ended, unless it failed.
  public enum WaitResult: Hashable, Sendable {
    /// A permit was acquired.
    case taken
    /// The deadline has passed.
    case timedOut
    /// The stop signal was raised, or the task was cancelled.
    case stopped
  }

  /// Acquires a permit; blocks the thread, asleep in the kernel, until one is available.
  ///
  /// Whatever another member writes into the file, a waiter does not wait past its deadline.
  /// Waiters are served in no particular order.
  /// - Parameters:
  ///   - deadline: when to give up; an available permit is taken even if the deadline has passed.
  ///   - stop: ends the wait from another thread.
  public func wait(
    until deadline: Deadline = .never, stop: StopSignal? = nil
  ) throws(SemaphoreError) -> WaitResult {
    while true {
      // Read before the count, so that a post in between is noticed.
      let bell = file.bell
      if try tryWait() { return .taken }
      if stop?.isRaised == true { return .stopped }
      if deadline.isPast { return .timedOut }
      sleep(since: bell, stop: stop, until: min(deadline, .after(Self.longestSleep)))
    }
  }

  /// How long a waiter sleeps before it checks again. Posts wake it at once; nothing does when a
  /// holder dies, when a process dies after it was woken and before it took a permit, or when a
  /// member moves the sleepers to another word (`FUTEX_REQUEUE`).
  private static let longestSleep: Duration = .milliseconds(250)

  /// Waits until a permit may be available, without taking it, or until `tryWait` would fail, or
  /// the signal is raised.
  ///
  /// A post wakes one waiter. This one takes nothing, so it wakes another one in its place.
  package func waitForPermit(stop: StopSignal) {
    var hasSlept = false
    while !stop.isRaised {
      let bell = file.bell
      let count = try? value()
      if count != 0 {
        if hasSlept { file.wakeOne() }
        return
      }
      sleep(since: bell, stop: stop, until: .after(Self.longestSleep))
      hasSlept = true
    }
  }

  private func sleep(since bell: UInt32, stop: StopSignal?, until end: Deadline) {
    if isRecoverable {
      file.sleepForPermit(since: bell, stop: stop, until: end)
    } else {
      file.sleepForPosixCount(stop: stop, until: end)
    }
  }

  /// Acquires a permit if one is available. Makes some system calls, never blocks.
  public func tryWait() throws(SemaphoreError) -> Bool {
    try file.requireExists()
    let isTaken = isRecoverable ? try takePermit() : try file.takePosixCount()
    try file.requireIntact()
    if isTaken { onStep?(isRecoverable ? .permitTaken : .countTaken) }
    return isTaken
  }

  /// Releases a permit: of a recoverable semaphore one that this object holds; if it holds none,
  /// one that was taken without a holder; otherwise adds one.
  public func post() throws(SemaphoreError) {
    try file.requireExists()
    if isRecoverable { try freePermit() } else { try file.postPosixCount(onStep) }
    try file.requireIntact()
  }

  /// The number of available permits.
  public func value() throws(SemaphoreError) -> Int {
    try file.requireExists()
    if !isRecoverable { return try file.posixValue() }
    try reclaimFromDeadHolders()
    let value = file.permits(SemaphoreFile.Permit.free)
    try file.requireIntact()
    return value
  }

  deinit { if isRecoverable { releaseEntry() } }
}
