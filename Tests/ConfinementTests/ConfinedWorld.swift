import AppGroup
import Foundation
import Platform
import TestSupport

/// A group in a temporary root, and roles of it that try to break out.
struct ConfinedWorld {
  let root: TemporaryRoot
  let group: AppGroup
  /// A private file of the host.
  let secret: String

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    group = try AppGroup.create(GroupID("a.b"), root: root.path)
    secret = root.file("secret")
    try Data("host's own".utf8).write(to: URL(fileURLWithPath: secret))
  }

  /// Whether Landlock has scopes on this kernel (Linux 6.12).
  private static let hasScope: Bool = {
    let world = try? ConfinedWorld()
    return (try? world?.attempt(as: "none", ["scope"]).succeeded) == ["scope"]
  }()

  /// The measures that are off for a role: those named, and those that this kernel lacks.
  static func off(for role: String, _ names: String...) -> Set<String> {
    let missing: Set = role == "capture" ? ["scope"] : ["scope", "unix-sockets"]
    return Set(names).union(hasScope ? [] : missing)
  }

  /// The attempts that this kernel cannot prevent.
  static func possible(_ attempts: [String], for role: String) -> Set<String> {
    if hasScope { return [] }
    return Set(
      attempts.filter {
        $0.hasPrefix("signal=") || role == "extension" && $0.hasPrefix("abstract=")
      })
  }

  /// The result of a role's attempts, and its measures.
  struct Outcome: CustomStringConvertible {
    let description: String
    /// By attempt: `did`, or the reason of the failure.
    var attempts: [String: String] = [:]
    /// By name: whether it is on.
    var measures: [String: Bool] = [:]
    var ending = ""
    /// What a process reported that it has.
    var own: [String] = []

    init(_ result: ProgramResult) {
      description = result.output + result.errors
      for line in result.output.split(separator: "\n") {
        let words = line.split(separator: " ", maxSplits: 3)
        switch words.first {
        case "measure": measures[String(words[1])] = words[2] == "on"
        case "ended": ending = String(line.dropFirst("ended ".count))
        case "role": break
        default:
          if let (attempt, answer) = line.cut(": ") {
            attempts[attempt] = answer
          } else {
            own.append(String(line))
          }
        }
      }
    }

    /// The attempts that failed.
    var failed: Set<String> { Set(attempts.filter { $0.value != "did" }.keys) }
    var succeeded: Set<String> { Set(attempts.filter { $0.value == "did" }.keys) }
    /// The measures that are off.
    var off: Set<String> { Set(measures.filter { !$0.value }.keys) }
  }

  /// Starts a host that starts a program as a role.
  /// - Parameters:
  ///   - role: `none`, `capture` or `extension`.
  ///   - forbidding: what the kernel lacks, in the terms of forbid_calls.py.
  func start(
    _ role: String, _ command: [String], _ settings: [String] = [], forbidding: String? = nil,
    as user: TestUser? = nil, environment: [String: String?] = [:], inherited: [Int32] = []
  ) throws -> RunningProgram {
    let words = ["role=\(role)", "root=\(root.path)"] + settings + ["--"] + command
    if let user {
      return try user.start("RoleHost", words, environment: environment, inherited: inherited)
    }
    guard let forbidding else {
      return try RunningProgram(
        "RoleHost", words, environment: environment, inherited: inherited)
    }
    return try RunningProgram(
      "/usr/bin/python3",
      [tool("forbid_calls.py"), forbidding, try pathOfProgram("RoleHost")] + words,
      environment: environment)
  }

  func attempt(
    as role: String, _ attempts: [String], _ settings: [String] = [], forbidding: String? = nil,
    user: TestUser? = nil, environment: [String: String?] = [:], inherited: [Int32] = []
  ) throws -> Outcome {
    Outcome(
      try start(
        role, ["BreakOut"] + attempts, settings, forbidding: forbidding, as: user,
        environment: environment, inherited: inherited
      ).finish())
  }
}

extension Substring {
  /// The parts before and after a separator.
  fileprivate func cut(_ separator: String) -> (String, String)? {
    range(of: separator).map { (String(self[..<$0.lowerBound]), String(self[$0.upperBound...])) }
  }
}
