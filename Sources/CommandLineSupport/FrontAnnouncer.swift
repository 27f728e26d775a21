import AppGroup
import FrameBus
import FrontApplication
import SharedDefaults
import Synchronization

/// Tells the group which application is in front of what a stream shows.
///
/// Pictures are worth more than a name: they never wait for the settings' lock, and where the name
/// cannot be told, a warning says so.
final class FrontAnnouncer: Sendable {
  private let front: FrontApplication?
  private let terminal: Terminal
  private let state = Mutex(State())
  private let writing = Mutex(())

  private struct State {
    var newest: ApplicationID?
    /// A task is on its way that has not read the newest yet.
    var isScheduled = false
    /// This capture has the stream; before that, another may be telling.
    var isPublished = false
  }

  init(of stream: StreamName, in group: AppGroup, _ terminal: Terminal) {
    self.terminal = terminal
    do throws(DefaultsError) {
      front = try FrontApplication(of: stream, in: group)
    } catch {
      front = nil
      warn(error)
    }
  }

  /// What an earlier capture left is forgotten as soon as the stream is this one's.
  func streamChanged(_ change: StreamChange) {
    guard case .up = change else { return }
    state.withLock { $0.isPublished = true }
    announce(nil)
  }

  func announce(_ application: ApplicationID?) {
    let isScheduled = state.withLock { state in
      state.newest = application
      let before = state.isScheduled
      state.isScheduled = true
      return before
    }
    if !isScheduled { Task.detached { self.writeNewest() } }
  }

  /// Nothing is shown any more. Returns when the group has been told.
  func end() {
    let isPublished = state.withLock { state in
      state.newest = nil
      return state.isPublished
    }
    if isPublished { writeNewest() }
  }

  /// Several that come at once are one, the newest.
  private func writeNewest() {
    writing.withLock { _ in
      let newest = state.withLock { state in
        state.isScheduled = false
        return state.newest
      }
      do throws(DefaultsError) {
        try front?.set(newest)
      } catch { warn(error) }
    }
  }

  private func warn(_ error: DefaultsError) {
    terminal.warn("the application in front is not told: \(error)")
  }
}
