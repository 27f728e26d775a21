import Foundation
import Platform

/// A user account that exists for one test; only root can create it.
package final class TestUser: Sendable {
  package let name: String
  package let uid: UInt32
  package let gid: UInt32

  /// Whether this process may create users; tests that need them are skipped with a message
  /// otherwise.
  package static var canBeCreated: Bool { geteuid() == 0 && programInPath(named: "useradd") != nil }

  package init() throws {
    name = "fbtest" + String(UInt32.random(in: 0...(.max)), radix: 36)
    try output(
      of: "useradd", ["--system", "--no-create-home", "--user-group", "--shell", "/bin/sh", name])
    uid = try Self.number(of: name, "-u")
    gid = try Self.number(of: name, "-g")
  }

  /// Starts a program as this user, without other groups and capabilities. The package's own
  /// programs are run from a copy that every user can read.
  package func start(
    _ program: String, _ arguments: [String] = [], environment: [String: String?] = [:],
    groups: [UInt32] = [], input: LaunchOptions.Stream = .null, inherited: [Int32] = []
  ) throws -> RunningProgram {
    var environment = environment
    if environment["HOME"] == nil { environment["HOME"] = "/nonexistent" }
    for name in ["XDG_RUNTIME_DIR", "XDG_STATE_HOME"] where environment[name] == nil {
      environment.updateValue(nil, forKey: name)
    }
    let command = try command(program, arguments, groups: groups)
    return try RunningProgram(
      command[0], Array(command.dropFirst()), environment: environment, directory: "/",
      input: input, inherited: inherited)
  }

  /// The command that root runs to start a program as this user, for use in a longer command line.
  package func command(
    _ program: String, _ arguments: [String], groups: [UInt32] = []
  ) throws -> [String] {
    let programs = try ReachablePrograms.shared.get()
    var command = ["setpriv", "--reuid=\(uid)", "--regid=\(gid)", "--inh-caps=-all"]
    if groups.isEmpty {
      command.append("--clear-groups")
    } else {
      command.append("--groups=" + groups.map(String.init).joined(separator: ","))
    }
    command.append("env")
    if let path = programs.libraryPath { command.append("LD_LIBRARY_PATH=\(path)") }
    command.append(try programs.path(of: program))
    return command + arguments
  }

  /// Runs a program as this user until it ends.
  package func run(
    _ program: String, _ arguments: [String] = [], environment: [String: String?] = [:],
    groups: [UInt32] = []
  ) throws -> ProgramResult {
    try start(program, arguments, environment: environment, groups: groups).finish()
  }

  deinit { _ = try? output(of: "userdel", [name]) }

  private static func number(of name: String, _ option: String) throws -> UInt32 {
    let text = try output(of: "id", [option, name])
    guard let number = UInt32(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw HarnessError("id \(option) \(name) answered \(text)")
    }
    return number
  }
}
