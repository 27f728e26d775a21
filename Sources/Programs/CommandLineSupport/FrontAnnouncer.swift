import AppGroup
import FrameBus
import FrontApplication
import SharedDefaults
import Synchronization

/// Keeps the front application of a captured stream in two places: in the group's settings, where a
/// host may replace it, and in the stream's annotation, where the newest of both is shown.
///
/// Capturing never waits for the lock of the settings. A name that cannot be written only causes a
/// warning.
final class FrontAnnouncer: Sendable {
  private let front: FrontApplication?
  private let terminal: Terminal
  private let state = Mutex(State())
  private let writing = Mutex(())

  private struct State {
    var newest: ApplicationID?
    /// A task is scheduled that has not read the newest value yet.
    var isScheduled = false
    /// This capture owns the stream; until then, another capture may be writing.
    var isPublished = false
    var annotate: (@Sendable (ApplicationID?) -> Void)?
    var observation: DefaultsObservation?
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

  /// Annotates the stream, now and after each change of the settings.
  func start(annotating annotate: @escaping @Sendable (ApplicationID?) -> Void) {
    do throws(DefaultsError) {
      let observation = try front?.observe { [weak self] in self?.readSetting() }
      state.withLock { ($0.annotate, $0.observation) = (annotate, observation) }
    } catch {
      state.withLock { $0.annotate = annotate }
      warn(error)
    }
  }

  /// Clears the value of an earlier capture once this one owns the stream.
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

  /// Clears the value. Returns when it has been written.
  func end() {
    let isPublished = state.withLock { state in
      state.newest = nil
      return state.isPublished
    }
    if isPublished { writeNewest() }
  }

  /// Writes only the newest of several pending values.
  private func writeNewest() {
    writing.withLock { _ in
      let newest = state.withLock { state in
        state.isScheduled = false
        return state.newest
      }
      do throws(DefaultsError) {
        try front?.set(newest)
      } catch { warn(error) }
      annotate(newest)
    }
  }

  /// A host, or this capture, has changed the setting. Under the lock of `writeNewest`, so that the
  /// later change is the later annotation.
  private func readSetting() {
    writing.withLock { _ in annotate(front?.current) }
  }

  private func annotate(_ application: ApplicationID?) {
    state.withLock { $0.annotate }?(application)
  }

  private func warn(_ error: DefaultsError) {
    terminal.warn("cannot publish the front application: \(error)")
  }
}
