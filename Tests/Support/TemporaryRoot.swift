import Foundation
import Platform

/// A directory for one test, removed with all it holds when the last reference goes. Its path is
/// short, because socket paths may have 107 bytes only.
package final class TemporaryRoot: Sendable {
  package let path: String

  /// - Parameter mode: 0o755 for a root that other users must reach.
  package init(mode: Int = 0o700) throws {
    let number = UInt64.random(in: 0..<(1 << 40))
    path = "/tmp/fb-" + String(number, radix: 36)
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false)
    // Set apart from the creation, which the umask would narrow.
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  package func file(_ name: String) -> String { path + "/" + name }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
