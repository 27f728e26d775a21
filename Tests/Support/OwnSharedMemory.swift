import Foundation
import Platform

/// A directory that the programs of one test see as /dev/shm, where FrameBus must never create a
/// name. Other programs of the machine, such as browsers and sound servers, create names in the
/// real one.
package final class OwnSharedMemory: Sendable {
  /// Only root can hide a directory. Without this right, programs use the real one.
  private static let canBeHidden = (try? run("unshare", ["--mount", "true"]).status) == .exited(0)

  private let folder: TemporaryRoot
  private let before: Set<String>

  package init() throws {
    folder = try TemporaryRoot(mode: 0o1777)
    before = try namesInSharedMemory()
  }

  /// The command that starts a program which sees the directory, as do its children.
  fileprivate func command(_ program: String, _ arguments: [String]) throws -> [String] {
    let command = [try pathOfProgram(program)] + arguments
    guard Self.canBeHidden else { return command }
    let script = #"mount --bind "$0" /dev/shm && exec "$@""#
    return ["unshare", "--mount", "sh", "-c", script, folder.path] + command
  }

  /// Waits until the directory is empty. Where it is the real one, it may have other names, but not
  /// more of those that FrameBus would choose.
  package func waitUntilEmpty() throws {
    var left: Set<String> = []
    try waitUntil("nothing is left in /dev/shm, not \(left.sorted())") {
      let own = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      left = Set(own).union(try namesInSharedMemory().subtracting(before))
      return left.isEmpty
    }
  }
}

extension RunningProgram {
  /// Starts a program that sees a test's own shared memory, if it has any.
  package convenience init(
    _ program: String, _ arguments: [String], environment: [String: String?] = [:],
    inherited: [Int32] = [], seeing memory: OwnSharedMemory?
  ) throws {
    let command = try memory?.command(program, arguments) ?? [program] + arguments
    try self.init(
      command[0], Array(command.dropFirst()), environment: environment, inherited: inherited)
  }
}

/// The names in /dev/shm that FrameBus would choose, if it created any there.
package func namesInSharedMemory() throws -> Set<String> {
  let names = try FileManager.default.contentsOfDirectory(atPath: "/dev/shm")
  return Set(names.filter { $0.contains("framebus") })
}
