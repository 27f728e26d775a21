import Foundation
import TestSupport
import Testing

@testable import Platform

/// Runs `framebus group …` as a user would, and checks its output, errors and exit status.
@Suite struct GroupTests {
  private let root: TemporaryRoot

  init() throws { root = try TemporaryRoot(mode: 0o755) }

  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", arguments + ["--root", root.path])
  }

  @Test func groupIsCreatedShownListedAndRemoved() throws {
    let created = try framebus("group", "create", "group.dev.example")
    #expect(created.status == .exited(0), "\(created.errors)")
    #expect(created.output.contains("container"))
    #expect(created.output.contains(root.file("state/group.dev.example")))
    let shown = try framebus("group", "show", "group.dev.example")
    #expect(shown.output == created.output)
    let listed = try framebus("group", "list").output
    #expect(
      listed.split(separator: " ").prefix(4) == ["group.dev.example", "root", "your", "roles:"])
    let removed = try framebus("group", "remove", "group.dev.example")
    #expect(removed.status == .exited(0))
    #expect(removed.output == "")
    #expect(removed.errors == "removed the group group.dev.example\n")
    #expect(try framebus("group", "list", "--json").output == "[\n\n]\n")
    #expect(!FileManager.default.fileExists(atPath: root.file("run/group.dev.example")))
  }

  @Test func processesFindTheSameContainerInAnyEnvironment() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    let one = try run(
      "framebus", ["group", "show", "--json"],
      environment: ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": "a.b", "HOME": "/nowhere"])
    let two = try run(
      "framebus", ["--root", "\(root.path)/./state/..", "--group=a.b", "group", "show", "--json"],
      environment: ["XDG_STATE_HOME": "/tmp", "XDG_RUNTIME_DIR": "/tmp"])
    #expect(one.status == .exited(0), "\(one.errors)")
    #expect(one.output == two.output, "\(two.errors)")
    #expect(one.output.contains("\"container\" : \"\(root.file("state/a.b"))\""))
  }

  @Test func errorOfAnUnknownGroupNamesTheCommandThatCreatesIt() throws {
    let result = try framebus("group", "show", "a.b")
    #expect(result.status == .exited(1))
    #expect(result.output == "")
    #expect(
      result.errors
        == "error: there is no group a.b; create it with `framebus group create a.b"
        + " --root \(root.path)`\n")
    #expect(!FileManager.default.fileExists(atPath: root.file("state")))
  }

  @Test func secondCreateIsAnErrorAndChangesNothing() throws {
    let first = try framebus("group", "create", "a.b")
    let second = try framebus("group", "create", "a.b")
    #expect(second.status == .exited(1))
    #expect(second.errors.hasPrefix("error: the group a.b already exists in \(root.path)"))
    #expect(try framebus("group", "show", "a.b").output == first.output)
  }

  @Test(arguments: [
    ["group", "show", "nodots"], ["group", "show", "../a.b"], ["group", "grant"],
    ["group", "grant", "host"], ["group", "grant", "Host", "--uid", "1"],
    ["group", "grant", "host", "--uid", "-1"], ["group", "grant", "host", "--uid", "4294967295"],
    ["group", "frobnicate"], ["group", "show", "--nonsense"],
    ["group", "show", "a.b", "--group", "c.d"],
  ])
  func wrongUsageHasStatus2AndSaysWhy(_ arguments: [String]) throws {
    let result = try run("framebus", arguments)
    #expect(result.status == .exited(2))
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("error: "))
  }

  @Test func overLongSocketPathsAreRefusedAndNothingIsMade() throws {
    let long = root.file(String(repeating: "l", count: 60))
    let result = try run("framebus", ["group", "create", "a.b", "--root", long])
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("the paths of sockets would be too long"))
    #expect(!FileManager.default.fileExists(atPath: long))
  }

  @Test func theRunDirectoryIsMadeAgainAfterAReboot() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    try FileManager.default.removeItem(atPath: root.file("run"))
    try framebus("group", "show", "a.b").requireSuccess()
    #expect(try mode(root.file("run/a.b/streams")) == "1700")
    #expect(try mode(root.file("run/a.b")) == "700")
  }

  @Test func aContainerOfAnEarlierVersionGetsItsLogs() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    let logs = root.file("state/a.b/logs")
    try FileManager.default.removeItem(atPath: logs)
    try framebus("group", "show", "a.b").requireSuccess()
    #expect(try mode(logs) == "1700")
  }

  @Test func aRunDirectoryOfAnEarlierVersionGetsWhatItLacksAndKeepsItsStreams() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    for part in ["semaphores", "notify", "logs"] {
      try FileManager.default.removeItem(atPath: root.file("run/a.b/\(part)"))
    }
    try output(of: "touch", [root.file("run/a.b/streams/screen.lock")])
    try framebus("group", "show", "a.b").requireSuccess()
    #expect(try mode(root.file("run/a.b/semaphores")) == "1700")
    #expect(FileManager.default.fileExists(atPath: root.file("run/a.b/streams/screen.lock")))
    #expect(
      try Directory(path: root.file("run/a.b")).names()
        == ["bridge", "logs", "notify", "semaphores", "streams"])
    #expect(FileManager.default.fileExists(atPath: root.file("run/a.b/notify/names/rows")))
  }

  @Test func groupOfARunningStreamIsRemovedOnlyByForce() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    let streams = try Directory(path: root.file("run/a.b/streams"))
    let lock = try FileLock.take(
      "screen.lock", in: streams, ownerID: currentUserID(), until: .now)
    let refused = try framebus("group", "remove", "a.b")
    #expect(refused.status == .exited(1))
    #expect(refused.errors.contains("the stream “screen” of a.b is being published"))
    try framebus("group", "remove", "a.b", "--force").requireSuccess()
    _ = consume lock
  }

  @Test func doctorFindsNothingWrongWithANewGroup() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    let result = try framebus("group", "doctor", "a.b")
    #expect(result.status == .exited(0), "\(result.output)")
    #expect(result.output.split(separator: "\n").allSatisfy { $0.hasPrefix("ok ") })
    let json = try framebus("group", "doctor", "a.b", "--json").output
    #expect(json.contains("\"check\" : \"permissions\""))
  }

  // Each command damages a valid group, which is then refused with the reason and the fix.
  @Test(arguments: [
    ("chmod 0777 state/a.b", "has mode 0777", "chmod g-w,o-rwx"),
    ("chmod 0755 state/a.b", "has mode 0755", "chmod o-rwx"),
    ("chmod 0777 state", "can be written by others", "chmod go-w"),
    ("chmod 0770 run/a.b", "has mode 0770", "chmod g-w,o-rwx"),
    ("chmod 0777 run/a.b/streams", "has mode 0777", "chmod g-w,o-rwx"),
    ("mv state/a.b state/x; ln -s x state/a.b", "links are not followed", "rm "),
    ("mv run/a.b run/x; ln -s x run/a.b", "links are not followed", "rm "),
    ("rm -r state/a.b; touch state/a.b", "is not a directory", "rm "),
    ("chmod 0666 state/a.b/manifest.toml", "can be written by others", "chmod go-w"),
    ("ln state/a.b/manifest.toml other", "hard links", "cp "),
    ("cd state/a.b; rm -r *; mkfifo manifest.toml", "is a fifo", "restore the file"),
    ("cd state/a.b; rm -r *; mkdir manifest.toml", "is a directory", "restore the file"),
    ("cd state/a.b; mv manifest.toml m; ln -s m manifest.toml", "symbolic link", "restore"),
    ("truncate -s 1G state/a.b/manifest.toml", "1073741824 bytes", "restore the file"),
    ("rm state/a.b/manifest.toml", "No such file", "restore the file"),
    ("echo '[roles.host' >> state/a.b/manifest.toml", "line 16", "correct the line"),
    ("sed -i 's/version = 1/version = 9/' state/a.b/manifest.toml", "version 9", "update"),
    ("sed -i 's/a\\.b/c.d/' state/a.b/manifest.toml", "line 3", "correct the line"),
  ])
  func damageIsRefusedWithTheReasonAndTheFix(
    _ damage: String, _ reason: String, _ fix: String
  ) throws {
    try framebus("group", "create", "a.b").requireSuccess()
    try output(of: "sh", ["-ec", "cd \(root.path); \(damage)"])
    for verb in ["show", "grant"] {
      let arguments = verb == "grant" ? ["group", "grant", "host", "a.b", "--uid", "0"] : []
      let result = try run(
        "framebus",
        (arguments.isEmpty ? ["group", verb, "a.b"] : arguments) + ["--root", root.path])
      #expect(result.status == .exited(1))
      #expect(result.errors.contains(reason), "\(result.errors)")
      #expect(result.errors.contains(fix), "\(result.errors)")
      #expect(result.errors.hasSuffix("\n") && result.errors.split(separator: "\n").count == 1)
    }
    let doctor = try framebus("group", "doctor", "a.b")
    #expect(doctor.status == .exited(1))
    #expect(doctor.output.contains(reason) && doctor.output.contains("fix: "))
  }

  private func mode(_ path: String) throws -> String {
    try output(of: "stat", ["-c", "%a", path]).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
