import Foundation
import Platform

/// A directory for one test, removed with its contents when the last reference is released. Its
/// path is short, because socket paths are limited to 107 bytes.
package final class TemporaryRoot: Sendable {
  package let path: String

  /// - Parameter mode: 0o755 if other users need access.
  package init(mode: Int = 0o700) throws {
    let number = UInt64.random(in: 0..<(1 << 40))
    path = "/tmp/fb-" + String(number, radix: 36)
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false)
    // Set separately, because the umask restricts the mode at creation.
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  package func file(_ name: String) -> String { path + "/" + name }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The plain files below a directory, sorted.
package func plainFiles(below path: String) throws -> [String] {
  try FileManager.default.subpathsOfDirectory(atPath: path).sorted().filter { name in
    let facts = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
    return facts[.type] as? FileAttributeType == .typeRegular
  }
}
