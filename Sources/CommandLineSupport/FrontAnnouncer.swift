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
  private let newest = Mutex<ApplicationID?>(nil)
  private let writing = Mutex(())

  /// What an earlier capture left is forgotten.
  init(of stream: StreamName, in group: AppGroup, _ terminal: Terminal) {
    self.terminal = terminal
    do throws(DefaultsError) {
      front = try FrontApplication(of: stream, in: group)
    } catch {
      front = nil
      warn(error)
    }
    announce(nil)
  }

  func announce(_ application: ApplicationID?) {
    newest.withLock { $0 = application }
    Task.detached { self.writeNewest() }
  }

  /// Nothing is shown any more. Returns when the group has been told.
  func end() {
    newest.withLock { $0 = nil }
    writeNewest()
  }

  /// Several that come at once are one, the newest.
  private func writeNewest() {
    writing.withLock { _ in
      do throws(DefaultsError) {
        try front?.set(newest.withLock { $0 })
      } catch { warn(error) }
    }
  }

  private func warn(_ error: DefaultsError) {
    terminal.warn("the application in front is not told: \(error)")
  }
}
