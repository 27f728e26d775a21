import AppGroup
import Platform
import Synchronization

// Named semaphores that the members of a group share, in files of the group's own.
//
// This module refuses to know what a count stands for, to keep an order among those who wait, and
// to use the system's global names (`sem_open(3)`). Layout, rules and failures:
// docs/design/semaphores.md.

/// A counting semaphore that the members of a group share by name.
///
/// A *plain* one is a POSIX semaphore (`sem_overview(7)`): whoever takes a count and dies keeps it
/// for ever. A *recoverable* one knows who took what: a `GroupSemaphore` object holds what it
/// takes, until it posts. When the object goes, or its process dies, by SIGKILL too, what it still
/// holds is given back.
///
/// Any number of threads may use one object at once.
public final class GroupSemaphore: Sendable {
  let file: SemaphoreFile
  /// This object's place among the holders of a recoverable semaphore, once it has one. Whoever has
  /// the lock may take places and give back what dead processes hold: locks on a file do not keep
  /// the threads of one object apart.
  let place = Mutex<Int?>(nil)
  let onStep: OnStep

  private init(_ file: consuming SemaphoreFile, _ onStep: OnStep) {
    self.file = file
    self.onStep = onStep
  }

  /// Makes a semaphore. The caller's role must be one of those that may publish.
  /// - Parameters:
  ///   - initialValue: its count, 0…`SEM_VALUE_MAX` (2,147,483,647); at most 1,024 if recoverable.
  ///   - isRecoverable: whether counts come back when their holders die.
  /// - Throws: ``SemaphoreFileError/exists(_:)`` if there is one of that name, even if two make it
  ///   at once: one of them succeeds.
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
    let file = try SemaphoreFile.make(
      name, in: group, initialValue: initialValue, isRecoverable: isRecoverable, onStep)
    return GroupSemaphore(file, onStep)
  }

  /// Opens a semaphore that some member has made.
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

  /// Takes the name away. Whoever waits, or comes later by an object that is open, is told
  /// ``SemaphoreError/removed(_:)`` within 250 ms.
  public static func remove(
    _ name: SemaphoreName, in group: AppGroup
  ) throws(SemaphoreFileError) {
    // One that cannot be opened can be removed all the same.
    let file = try? SemaphoreFile.open(name, in: group)
    try SemaphoreFile.remove(name, in: group)
    // Nobody is left to be rung for again, so all wake.
    if let file {
      file.ring(waking: .max, nil)
      file.wakePosixWaiters()
    }
  }

  public var name: SemaphoreName { file.name }
  public var isRecoverable: Bool { file.isRecoverable }
  /// How high the count can get.
  public var maximumValue: Int { file.maximumValue }

  // MARK: Taking and posting

  /// How a wait ended, if not by an error.
  public enum Waited: Hashable, Sendable { case taken, timedOut, stopped }

  /// Takes a count, waiting until there is one. Blocks the thread, asleep in the kernel.
  ///
  /// Nobody can keep a waiter past its deadline, whatever is written in the semaphore's file. Who
  /// waits comes in no particular order.
  /// - Parameters:
  ///   - deadline: when to give up; a count that is there is taken even if it is past.
  ///   - stop: ends the wait from another thread.
  public func wait(
    until deadline: Deadline = .never, stop: StopSignal? = nil
  ) throws(SemaphoreError) -> Waited {
    while true {
      // Read before looking, so that a post in between is noticed.
      let bell = file.bell
      if try tryWait() { return .taken }
      if stop?.isRaised == true { return .stopped }
      if deadline.isPast { return .timedOut }
      let end = min(deadline, .after(Self.longestSleep))
      if isRecoverable {
        file.sleepForPermit(since: bell, stop: stop, until: end)
      } else {
        file.sleepForPosixCount(stop: stop, until: end)
      }
    }
  }

  /// How long to sleep without looking. Posts wake a waiter at once; but nothing wakes it when a
  /// holder dies, when who was woken for a count dies before taking it, or when a member moves the
  /// sleepers of the file to a word of its own (`FUTEX_REQUEUE`).
  private static let longestSleep: Duration = .milliseconds(250)

  /// Takes a count if there is one now. Some system calls, never blocks.
  public func tryWait() throws(SemaphoreError) -> Bool {
    try file.requireThere()
    let isTaken = isRecoverable ? try takePermit() : try file.takePosixCount()
    try file.requireWhole()
    if isTaken { onStep?(isRecoverable ? .permitTaken : .countTaken) }
    return isTaken
  }

  /// Gives a count back, or adds one: of a recoverable semaphore one that this object holds; if it
  /// holds none, one that was taken for good; else a new one.
  public func post() throws(SemaphoreError) {
    try file.requireThere()
    if isRecoverable { try freePermit() } else { try file.postPosixCount(onStep) }
    try file.requireWhole()
  }

  /// The count that could be taken now.
  public func value() throws(SemaphoreError) -> Int {
    try file.requireThere()
    if !isRecoverable { return try file.posixValue() }
    try giveBackOfTheDead()
    let value = file.permits(SemaphoreFile.Permit.free)
    try file.requireWhole()
    return value
  }

  deinit { if isRecoverable { leavePlace() } }
}
