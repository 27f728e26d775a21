import Platform

/// Replaces a file whose journal has become long. A busy disk takes seconds to sync the new file,
/// so that is done before the lock is taken, and the directory after it is released.
extension SharedDefaults {
  /// How often to write a new file before a later change tries again.
  private static let attempts = 2
  /// Others that change the suite come first.
  private static let lockTimeout = Duration.seconds(1)

  /// Does nothing while the journal is short. The change is effective before, so its caller gets
  /// no error: a later change tries again.
  func compact() {
    for _ in 1...Self.attempts {
      let (file, image) = state.withLock { state in
        (state.view.isLong ? state.view.file : nil, state.view.image)
      }
      guard let file else { return }
      guard let bytes = try? image.fileBytes(),
        let successor = try? location.makeSuccessor(with: bytes)
      else { break }
      onStep?(.prepared)
      let isDone = (try? replace(file, of: image, with: successor)) ?? false
      if isDone {
        try? location.sync()
        return
      }
      location.discard(successor)
    }
    state.withLock { $0.view.postponeCompacting() }
  }

  /// - Returns: false if the suite was changed after the successor was written.
  private func replace(
    _ file: SuiteFile, of image: SuiteImage, with successor: SuiteLocation.Successor
  ) throws(DefaultsError) -> Bool {
    try file.lock(until: .after(Self.lockTimeout))
    defer { file.unlock() }
    let isCurrent = state.withLock { state in
      state.view.poll(location)
      // The successor has all changes, so none that was synced can be lost.
      return state.view.file === file && state.view.image.sequence == image.sequence
    }
    guard isCurrent else { return false }
    file.setRetired(true)
    onStep?(.retired)
    do throws(DefaultsError) {
      try location.replace(with: successor)
    } catch {
      file.setRetired(false)
      throw error
    }
    onStep?(.replaced)
    state.withLock { $0.view.poll(location) }
    return true
  }
}
