import Foundation
import TestSupport
import Testing

@testable import Platform

/// Concurrent changes of one group, and processes that die during a change.
@Suite struct GroupRaceTests {
  private let root: TemporaryRoot

  init() throws { root = try TemporaryRoot() }

  private func start(_ arguments: String...) throws -> RunningProgram {
    try RunningProgram("framebus", arguments + ["--root", root.path])
  }

  @Test func exactlyOneOfConcurrentCreatesSucceeds() throws {
    let started = try (0..<8).map { _ in try start("group", "create", "a.b") }
    let results = try started.map { try $0.finish() }
    #expect(results.count { $0.status == .exited(0) } == 1)
    #expect(results.count { $0.errors.contains("already exists") } == 7)
  }

  @Test func concurrentGrantsAreAllApplied() throws {
    try start("group", "create", "a.b").finish().requireSuccess()
    let uids = (5000..<5010).map(String.init)
    let started = try uids.map { try start("group", "grant", "capture", "a.b", "--uid", $0) }
    for program in started { try program.finish().requireSuccess() }
    let shown = try start("group", "show", "a.b").finish().requireSuccess()
    for uid in uids { #expect(shown.output.contains("uid \(uid)")) }
    try start("group", "doctor", "a.b").finish().requireSuccess()
  }

  @Test func concurrentCreatesAndRemovesLeaveNoLeftovers() throws {
    for _ in 0..<3 {
      let started = try (0..<8).map {
        try start("group", $0.isMultiple(of: 2) ? "create" : "remove", "a.b")
      }
      for program in started {
        let result = try program.finish()
        let isExpected =
          result.status == .exited(0) || result.errors.contains("already exists")
          || result.errors.contains("there is no group")
        #expect(isExpected, "\(result.errors)")
      }
    }
    #expect(try leftovers().isEmpty)
  }

  // Death at the first write leaves a file that was opened but not written.
  private static let calls = [
    "mkdirat", "fchmod", "fchown", "fsetxattr", "write", "fsync", "renameat", "renameat2",
    "unlinkat",
  ]

  /// Kills the process at the first call of each kind, then at the second, and so on, until a run
  /// completes.
  @Test(
    .enabled(if: programInPath(named: "strace") != nil, "strace is missing: apt install strace"),
    arguments: ["create", "grant", "remove"], calls)
  func killAtAnyStepLeavesAUsableOrRecreatableGroup(verb: String, call: String) throws {
    let grant = ["grant", "capture", "a.b", "--uid", "4242"]
    let words = verb == "grant" ? grant : [verb, "a.b"]
    for number in 1... {
      if verb != "create" { try start("group", "create", "a.b").finish().requireSuccess() }
      let killed = try run(
        "strace",
        ["-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)"]
          + ["-e", "inject=\(call):signal=KILL:when=\(number)", try pathOfProgram("framebus")]
          + ["group"] + words + ["--root", root.path])
      let listed = try start("group", "list").finish().requireSuccess()
      #expect(!listed.output.contains("unusable"), "\(call) \(number): \(listed.output)")
      if listed.output.isEmpty {
        try start("group", "create", "a.b").finish().requireSuccess()
      }
      let granted = try start("group", "grant", "capture", "a.b", "--uid", "4242").finish()
      #expect(granted.status == .exited(0), "\(call) \(number): \(granted.errors)")
      let doctor = try start("group", "doctor", "a.b").finish()
      #expect(doctor.status == .exited(0), "\(call) \(number): \(doctor.output)")
      try start("group", "remove", "a.b").finish().requireSuccess()
      #expect(try leftovers().isEmpty, "\(call) \(number)")
      if killed.status == .exited(0) { break }
    }
  }

  @Test func stoppedLockHolderMakesOthersTimeOut() throws {
    try start("group", "create", "a.b").finish().requireSuccess()
    let state = try Directory(path: root.file("state"))
    let lock = try FileLock.take(".lock", in: state, ownerID: currentUserID(), until: .now)
    let result = try start("group", "grant", "host", "a.b", "--uid", "1").finish()
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("another process has been changing the groups"))
    // Opening needs no lock.
    try start("group", "show", "a.b").finish().requireSuccess()
    _ = consume lock
  }

  private func leftovers() throws -> [String] {
    try ["state", "run"].flatMap { name in
      try FileManager.default.contentsOfDirectory(atPath: root.file(name))
    }.filter { $0.hasPrefix(".new-") }
  }
}
