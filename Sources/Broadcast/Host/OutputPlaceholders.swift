import Platform
import Synchronization

/// Files and directories created so that an extension can be granted each output by itself, without
/// its neighbours. Placeholders that are still unwritten when the session ends are removed, so that
/// a failed start leaves nothing behind.
final class OutputPlaceholders: Sendable {
  private let made = Mutex<[OutputPlaceholder]>([])

  /// Creates a missing output: an empty directory if the path ends with a slash, an empty file
  /// otherwise.
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
