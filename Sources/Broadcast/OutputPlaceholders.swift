import Platform
import Synchronization

/// What was made so that an extension can be granted it by itself, and not with all that lies
/// beside it. What nothing was written to by the session's end goes again: a start that failed
/// leaves nothing behind.
final class OutputPlaceholders: Sendable {
  private let made = Mutex<[OutputPlaceholder]>([])

  /// Makes what is not there yet: an empty file, or an empty folder where the path ends with a
  /// slash.
  func make(_ path: String) throws(SystemError) {
    guard let placeholder = try OutputPlaceholder(at: path) else { return }
    made.withLock { $0.append(placeholder) }
  }

  func removeUnwritten() {
    let all = made.withLock { made in
      defer { made = [] }
      return made
    }
    for placeholder in all { placeholder.removeIfUnwritten() }
  }
}
