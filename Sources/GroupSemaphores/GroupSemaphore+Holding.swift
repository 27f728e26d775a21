import Platform

/// Who holds what of a recoverable semaphore.
///
/// A holder's place is a lock on a byte of the file (an open file description lock, fcntl(2)),
/// which the kernel ends when the holder dies, however it dies. So whoever can take that lock knows
/// that the holder is dead, and that nobody else is giving its counts back.
extension GroupSemaphore {
  private typealias Permit = SemaphoreFile.Permit

  func takePermit() throws(SemaphoreError) -> Bool {
    let own = Permit.held(by: try ownPlace())
    if file.changeOnePermit(Permit.free, to: own) { return true }
    return try giveBackOfTheDead() > 0 && file.changeOnePermit(Permit.free, to: own)
  }

  func freePermit() throws(SemaphoreError) {
    let own = place.withLock { $0 }.map(Permit.held)
    let olds = [own, Permit.taken, Permit.none].compactMap(\.self)
    guard olds.contains(where: { file.changeOnePermit($0, to: Permit.free) }) else {
      throw .full(name, maximum: maximumValue)
    }
    onStep?(.permitFreed)
    file.ring(waking: 1, onStep)
  }

  /// How many counts this object holds.
  public var heldCount: Int {
    guard let place = place.withLock({ $0 }) else { return 0 }
    return file.permits(Permit.held(by: place))
  }

  /// Turns what this object holds into counts that are taken for good, as those of a plain
  /// semaphore: they come back when somebody posts, not when this process ends.
  public func leaveTaken() {
    guard let place = place.withLock({ $0 }) else { return }
    file.changePermits(Permit.held(by: place), to: Permit.taken)
  }

  /// A descriptor that, in a child process, keeps alive what this object holds: the kernel gives it
  /// back when both have ended. Valid as long as this object.
  package var holdingDescriptor: Int32 { file.descriptor.number }

  // MARK: Places

  private func ownPlace() throws(SemaphoreError) -> Int {
    try place.withLock { place throws(SemaphoreError) in
      if let place { return place }
      for candidate in 0..<SemaphoreFile.placeCount where try file.lockPlace(candidate) {
        onStep?(.placeLocked)
        // Its last owner died: what is held from here is that one's, until it is given back.
        giveBack(candidate)
        file.setProcessID(currentProcessID(), ofPlace: candidate)
        onStep?(.seated)
        place = candidate
        return candidate
      }
      throw .tooManyHolders(name, maximum: SemaphoreFile.placeCount)
    }
  }

  func leavePlace() {
    place.withLock { place in
      guard let own = place else { return }
      giveBack(own)
      // Closing alone would not do: a child that another thread starts just now has the file open
      // too, until its exec.
      file.unlockPlace(own)
      place = nil
    }
  }

  /// Looks whose holders are dead, and gives back what they hold.
  /// - Returns: how many counts came back.
  @discardableResult
  func giveBackOfTheDead() throws(SemaphoreError) -> Int {
    try place.withLock { own throws(SemaphoreError) in
      var count = 0
      for place in file.heldPermits().keys where place != own {
        guard try file.lockPlace(place) else { continue }
        onStep?(.deathFound)
        count += giveBack(place)
        onStep?(.deadForgotten)
        file.unlockPlace(place)
      }
      return count
    }
  }

  /// Frees what is held from a place whose lock this object has.
  @discardableResult
  private func giveBack(_ place: Int) -> Int {
    let count = file.changePermits(Permit.held(by: place), to: Permit.free) {
      onStep?(.permitFreed)
    }
    if count > 0 { file.ring(waking: count, onStep) }
    return count
  }
}
