import AppGroup
import Platform
import Synchronization

/// Whether a subscriber sees a screen or a window through a stream of the group, as
/// `UIScreen.isCaptured` says on other systems.
///
/// It is true exactly while a subscriber of such a stream exists, such as an upload, a broadcast or
/// a snapshot. The kernel ends it with the subscriber or the publisher, even by SIGKILL; no process
/// needs to run for that. Programs that read the screen without FrameBus do not count.
///
/// ```swift
/// for await isCaptured in try ScreenCapturedState(in: group).changes() { … }
/// ```
public final class ScreenCapturedState: Sendable {
  private let group: AppGroup

  /// The state of a group.
  public init(in group: AppGroup) { self.group = group }

  /// The current value, read from the group's directory. If that fails, nothing shows that nobody
  /// sees the screen: take an error for true, or for the value before.
  /// - Complexity: O(streams). Never blocks.
  public var isCaptured: Bool {
    get throws(SystemError) { try !CapturedMark.publishers(in: group).isEmpty }
  }

  /// The current value, and then each change. A consumer that is slower than the changes receives
  /// the newest value. While the value cannot be read, the value before stays, or true if there was
  /// none. Takes a thread and an inotify instance until the sequence is released.
  public func changes() throws(SystemError) -> AsyncStream<Bool> {
    let (values, continuation) = AsyncStream.makeStream(
      of: Bool.self, bufferingPolicy: .bufferingNewest(1))
    let watch = try CapturedWatch(group) { continuation.yield($0) }
    continuation.onTermination = { _ in watch.end() }
    return values
  }
}

/// Watches a group's streams for as long as it exists, and reports the value of
/// ``ScreenCapturedState`` whenever it changes.
///
/// Marks are created and removed in one directory, which inotify reports. A publisher that dies
/// removes nothing, so the process of each one that counts is watched by its pidfd. While nothing
/// can be read, the value stays, or is true if there is none.
package final class CapturedWatch: Sendable {
  /// How often to look again after a failure, or at a publisher that cannot be watched.
  private static let retryInterval = Duration.seconds(1)

  private struct State {
    var directory: DirectoryWatch?
    var publishers: [WatchedPublisher] = []
    var isCaptured: Bool?
    var isRetryScheduled = false
    /// The last look failed.
    var hasFailed = false
  }

  private struct WatchedPublisher {
    let process: PeerProcess
    let token: EventLoop.Token
  }

  private let group: AppGroup
  /// Its own, because reading a directory in which members create entries takes time.
  private let loop: EventLoop
  private let changed: @Sendable (Bool) -> Void
  private let failed: @Sendable (SystemError) -> Void
  private let state = Mutex(State())

  /// The closures are called on a thread of this object.
  /// - Parameters:
  ///   - interval: how often to repeat the value although it has not changed; nil for never.
  ///   - failed: called when the value cannot be read.
  ///   - changed: called with the current value before this returns, and then with each other one.
  package init(
    _ group: AppGroup, repeatingEvery interval: Duration? = nil,
    failed: @escaping @Sendable (SystemError) -> Void = { _ in },
    _ changed: @escaping @Sendable (Bool) -> Void
  ) throws(SystemError) {
    self.group = group
    self.changed = changed
    self.failed = failed
    loop = try EventLoop(named: "framebus-seen")
    do throws(SystemError) {
      let watch = try watchDirectory()
      state.withLock { $0.directory = watch }
    } catch {
      loop.end()
      throw error
    }
    loop.performAndWait { [self] in look() }
    if let interval { repeatLater(interval) }
  }

  private func watchDirectory() throws(SystemError) -> DirectoryWatch {
    try DirectoryWatch(group.streamsPath, [.appearance, .removal], on: loop) { [weak self] in
      self?.look()
    }
  }

  /// Stops watching. Releasing the last reference does the same.
  package func end() {
    let (directory, publishers) = state.withLock { state in
      defer { (state.directory, state.publishers) = (nil, []) }
      return (state.directory, state.publishers)
    }
    if directory == nil { return }
    unwatch(publishers)
    loop.end()
  }

  deinit { end() }

  /// Runs on the loop's thread.
  private func look() {
    if state.withLock({ $0.directory == nil }) { return }
    unwatch(
      state.withLock { state in
        defer { state.publishers = [] }
        return state.publishers
      })
    let result = Result { () throws(SystemError) in try CapturedMark.publishers(in: group) }
    let found = try? result.get()
    let watched = (found ?? []).compactMap { $0.process.flatMap(watch) }
    let (changedTo, mustRetry) = state.withLock { state in
      let isCaptured = found.map { !$0.isEmpty } ?? state.isCaptured ?? true
      let isIncomplete = found.map { watched.count < $0.count } ?? true
      let mustRetry = isIncomplete && !state.isRetryScheduled
      let isNew = state.isCaptured != isCaptured
      state.publishers = watched
      state.isCaptured = isCaptured
      state.hasFailed = found == nil
      if mustRetry { state.isRetryScheduled = true }
      return (isNew ? isCaptured : nil, mustRetry)
    }
    if mustRetry { retryLater() }
    if case .failure(let error) = result { failed(error) }
    if let changedTo { changed(changedTo) }
  }

  private func watch(_ process: PeerProcess) -> WatchedPublisher? {
    let token = try? loop.add(process.descriptorNumber, .readable) { [weak self] _ in self?.look() }
    return token.map { WatchedPublisher(process: process, token: $0) }
  }

  private func unwatch(_ publishers: [WatchedPublisher]) {
    for publisher in publishers {
      loop.remove(publisher.token, publisher.process.descriptorNumber)
    }
  }

  private func retryLater() {
    loop.schedule(at: .after(Self.retryInterval)) { [weak self] in
      guard let self else { return }
      let hasFailed = state.withLock { state in
        state.isRetryScheduled = false
        return state.hasFailed
      }
      if hasFailed { renewDirectory() }
      look()
    }
  }

  /// The directory may be another one since it could not be read.
  private func renewDirectory() {
    guard let watch = try? watchDirectory() else { return }
    let former = state.withLock { state -> DirectoryWatch? in
      guard let former = state.directory else { return watch }
      state.directory = watch
      return former
    }
    withExtendedLifetime(former) {}
  }

  private func repeatLater(_ interval: Duration) {
    loop.schedule(at: .after(interval)) { [weak self] in
      guard let self else { return }
      guard let isCaptured = state.withLock({ $0.directory == nil ? nil : $0.isCaptured })
      else { return }
      changed(isCaptured)
      repeatLater(interval)
    }
  }
}
