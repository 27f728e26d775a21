import Platform

/// The holders of a recoverable semaphore.
///
/// A holder owns an entry of the file's holder table by a lock on one byte (an open file
/// description lock, fcntl(2)), which the kernel releases when the holder dies, whatever the cause.
/// An object that obtains the lock knows that the holder is dead and that no other object is
/// reclaiming its permits.
extension GroupSemaphore {
  private typealias Permit = SemaphoreFile.Permit

  func takePermit() throws(SemaphoreError) -> Bool {
    let own = Permit.held(by: try ownEntry())
    if file.changeOnePermit(Permit.free, to: own) { return true }
    return try reclaimFromDeadHolders() > 0 && file.changeOnePermit(Permit.free, to: own)
  }

  func freePermit() throws(SemaphoreError) {
    let own = entry.withLock { $0 }.map(Permit.held)
    let olds = [own, Permit.taken, Permit.none].compactMap(\.self)
    guard olds.contains(where: { file.changeOnePermit($0, to: Permit.free) }) else {
      throw .full(name, maximum: maximumValue)
    }
    onStep?(.permitFreed)
    file.ring(waking: 1, onStep)
  }

  /// How many permits this object holds.
  public var heldCount: Int {
    guard let entry = entry.withLock({ $0 }) else { return 0 }
    return file.permits(Permit.held(by: entry))
  }

  /// Turns the permits that this object holds into taken ones without a holder, like those of a
  /// plain semaphore: a post releases them, not the end of this process.
  public func leaveTaken() {
    guard let entry = entry.withLock({ $0 }) else { return }
    file.changePermits(Permit.held(by: entry), to: Permit.taken)
  }

  /// A descriptor for a child process to inherit. The permits of this object are then reclaimed
  /// only when both processes have ended. Valid as long as this object.
  package var holdingDescriptor: Int32 { file.descriptor.number }

  // MARK: Holder entries

  private func ownEntry() throws(SemaphoreError) -> Int {
    try entry.withLock { entry throws(SemaphoreError) in
      if let entry { return entry }
      for candidate in 0..<SemaphoreFile.entryCount where try file.lockEntry(candidate) {
        onStep?(.entryLocked)
        // The last owner died: its permits are reclaimed before this object takes any.
        reclaim(candidate)
        file.setProcessID(currentProcessID(), ofEntry: candidate)
        onStep?(.entryClaimed)
        entry = candidate
        return candidate
      }
      throw .tooManyHolders(name, maximum: SemaphoreFile.entryCount)
    }
  }

  func releaseEntry() {
    entry.withLock { entry in
      guard let own = entry else { return }
      reclaim(own)
      // Closing the file is not enough: a child that another thread starts at this moment has it
      // open too, until its exec.
      file.unlockEntry(own)
      entry = nil
    }
  }

  /// Frees the permits of dead holders.
  /// - Returns: how many were freed.
  @discardableResult
  func reclaimFromDeadHolders() throws(SemaphoreError) -> Int {
    try entry.withLock { own throws(SemaphoreError) in
      var count = 0
      for entry in file.heldPermits().keys where entry != own {
        guard try file.lockEntry(entry) else { continue }
        onStep?(.deadHolderFound)
        count += reclaim(entry)
        onStep?(.deadHolderCleared)
        file.unlockEntry(entry)
      }
      return count
    }
  }

  /// Frees the permits held through an entry whose lock this object has.
  @discardableResult
  private func reclaim(_ entry: Int) -> Int {
    let count = file.changePermits(Permit.held(by: entry), to: Permit.free) {
      onStep?(.permitFreed)
    }
    if count > 0 { file.ring(waking: count, onStep) }
    return count
  }
}
