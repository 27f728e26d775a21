import Foundation
import Platform
import Synchronization

/// Copies of this package's programs and of the Swift libraries they load, in a directory that
/// every user can read: a checkout or a toolchain is often in a home directory that other users
/// cannot enter.
package final class ReachablePrograms: Sendable {
  package static let shared = Result { try ReachablePrograms() }

  private let folder: TemporaryRoot
  private let copied: [String: String]
  package let libraryPath: String?

  private static let names = [
    "framebus", "framebus-capture", "framebus-capture-gstreamer", "framebus-upload",
    "framebus-confine", "BreakOut", "BroadcastWorker", "BusWorker", "HostileMember",
    "MailboxWorker", "NotifyWorker", "PeerSignaller", "RoleHost",
  ]

  private init() throws {
    folder = try TemporaryRoot(mode: 0o755)
    removeAtExit(folder.path)
    var copied: [String: String] = [:]
    var libraries: Set<String> = []
    for name in Self.names {
      guard let path = siblingProgram(named: name) else { continue }
      copied[name] = folder.file(name)
      try output(of: "cp", ["--reflink=auto", path, folder.file(name)])
      libraries.formUnion(try Self.foreignLibraries(of: path))
    }
    for library in libraries {
      try output(of: "cp", ["--reflink=auto", library, folder.path])
    }
    self.copied = copied
    libraryPath = libraries.isEmpty ? nil : folder.path
  }

  /// Starts a copy as this process's user, such as root, who starts others as other users.
  package func start(
    _ program: String, _ arguments: [String], environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    var environment = environment
    if let libraryPath { environment["LD_LIBRARY_PATH"] = libraryPath }
    return try RunningProgram(
      path(of: program), arguments, environment: environment, directory: "/")
  }

  package func path(of program: String) throws -> String {
    if let path = copied[program] ?? programInPath(named: program) { return path }
    if program.hasPrefix("/") { return program }
    throw HarnessError("program \(program) not found, or not readable for every user")
  }

  /// The paths of libraries that are not part of the system.
  private static func foreignLibraries(of program: String) throws -> [String] {
    try output(of: "ldd", [program]).split(separator: "\n").compactMap { line in
      guard let arrow = line.range(of: "=> /") else { return nil }
      let path = line[arrow.upperBound...].prefix { $0 != " " }
      let isSystem =
        path.hasPrefix("lib") || path.hasPrefix("usr/lib/x86_64-linux-gnu/")
        || path.hasPrefix("usr/lib/aarch64-linux-gnu/")
      return isSystem ? nil : "/" + path
    }
  }
}

private let pathsToRemove = Mutex<[String]>([])

/// Removes a path when the process exits, for objects whose deinit never runs.
package func removeAtExit(_ path: String) {
  pathsToRemove.withLock { $0.append(path) }
  atexit {
    for path in pathsToRemove.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
  }
}
