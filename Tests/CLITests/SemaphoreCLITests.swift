import Foundation
import TestSupport
import Testing

@testable import Platform

/// `framebus semaphore …` as a user runs it.
@Suite struct SemaphoreCLITests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    try framebus("group", "create", "a.b").requireSuccess()
  }

  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", ["--root", root.path, "--group", "a.b"] + arguments)
  }

  private func start(_ arguments: String...) throws -> RunningProgram {
    try RunningProgram("framebus", ["--root", root.path, "--group", "a.b"] + arguments)
  }

  private func value(_ name: String) throws -> Int? {
    let text = try framebus("semaphore", "show", name, "--json").output
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    return object?["value"] as? Int
  }

  @Test func semaphoreIsCreatedAcquiredPostedShownListedAndRemoved() throws {
    let created = try framebus("semaphore", "create", "gate", "--value", "2")
    try created.requireSuccess()
    #expect(
      created.output == """
        semaphore  gate
        count      2 (initially 2, at most 2147483647)
        recovers   no: the permits of a dead process stay taken
        owner      uid 0 (root)

        """)
    #expect(try framebus("semaphore", "wait", "gate").output == "")
    try framebus("semaphore", "try", "gate").requireSuccess()
    let refused = try framebus("semaphore", "try", "gate")
    #expect(refused.status == .exited(1))
    #expect(refused.errors.hasPrefix("error: no permit of the semaphore gate became available"))
    try framebus("semaphore", "post", "gate").requireSuccess()
    #expect(try framebus("semaphore", "list").output == "gate  count 1\n")
    let removed = try framebus("semaphore", "remove", "gate")
    #expect(removed.status == .exited(0))
    #expect(removed.errors == "removed the semaphore gate\n")
    #expect(try framebus("semaphore", "list", "--json").output == "[\n\n]\n")
    let gone = try framebus("semaphore", "show", "gate")
    #expect(gone.status == .exited(1))
    #expect(
      gone.errors.hasPrefix("error: there is no semaphore gate; see `framebus semaphore list "))
  }

  @Test func waitEndsAtItsTimeout() throws {
    try framebus("semaphore", "create", "gate", "--value", "0").requireSuccess()
    let result = try framebus("semaphore", "wait", "gate", "--timeout", "0.05")
    #expect(result.status == .exited(1))
    let json = try framebus("semaphore", "wait", "gate", "--timeout", "0", "--json")
    #expect(json.status == .exited(1))
    #expect(json.output == "{\n  \"name\" : \"gate\",\n  \"outcome\" : \"timedOut\"\n}\n")
    #expect(json.errors == "")
  }

  @Test func waitEndsByPostRemovalAndInterrupt() throws {
    try framebus("semaphore", "create", "gate", "--value", "0").requireSuccess()
    let served = try start("semaphore", "wait", "gate", "--json")
    try framebus("semaphore", "post", "gate").requireSuccess()
    #expect(try served.finish().output.contains("\"taken\""))
    let signalled = try start("semaphore", "wait", "gate")
    try waitUntilAsleep(signalled)
    let interrupted = try start("semaphore", "wait", "gate")
    try waitUntilAsleep(interrupted)
    #expect(try interrupted.end(with: SIGINT).status == .exited(130))
    try framebus("semaphore", "remove", "gate").requireSuccess()
    let result = try signalled.finish()
    #expect(result.status == .exited(1))
    #expect(result.errors.hasPrefix("error: the semaphore gate was removed"))
  }

  @Test func permitIsHeldWhileACommandRuns() throws {
    let location = "--root \(root.path) --group a.b"
    let command = try "\(pathOfProgram("framebus")) semaphore try gate \(location); echo $?; exit 7"
    for option in ["--value=1", "--recover"] {
      try framebus("semaphore", "create", "gate", option).requireSuccess()
      let result = try framebus("semaphore", "wait", "gate", "--", "sh", "-c", command)
      #expect(result.output == "1\n")
      #expect(result.status == .exited(7))
      #expect(try value("gate") == 1)
      #expect(try framebus("semaphore", "try", "gate", "--", "/no/program").status == .exited(1))
      #expect(try value("gate") == 1)
      try framebus("semaphore", "remove", "gate").requireSuccess()
    }
  }

  @Test func terminatedHolderEndsItsCommandAndPosts() throws {
    try framebus("semaphore", "create", "gate").requireSuccess()
    let holder = try start("semaphore", "wait", "gate", "--", "sh", "-c", "echo up; exec sleep 600")
    try holder.waitForOutput("up")
    #expect(try holder.end(with: SIGTERM).status == .exited(130))
    #expect(try value("gate") == 1)
  }

  @Test func permitIsReclaimedWhenHolderAndCommandAreDead() throws {
    try framebus("semaphore", "create", "gate", "--recover").requireSuccess()
    let holder = try start(
      "semaphore", "wait", "gate", "--", "sh", "-c", "echo pid $$.; exec sleep 600")
    try holder.waitForOutput(".")
    let text = holder.output.text.dropFirst("pid ".count).prefix { $0.isNumber }
    let command = try ProcessWatch(#require(Int32(text)))
    #expect(
      try framebus("semaphore", "show", "gate").output.contains(
        "held by    pid \(holder.processID): 1\n"))
    holder.process.send(signal: SIGKILL)
    _ = holder.process.wait(until: .after(.seconds(60)))
    // The command still holds the permit.
    #expect(try framebus("semaphore", "try", "gate").status == .exited(1))
    let waiter = try start("semaphore", "wait", "gate")
    try waitUntilAsleep(waiter)
    command?.send(signal: SIGKILL)
    #expect(try waiter.finish().status == .exited(0))
  }

  @Test func permitOfAnEndedProcessStaysTakenUntilAPost() throws {
    try framebus("semaphore", "create", "gate", "--recover").requireSuccess()
    try framebus("semaphore", "wait", "gate").requireSuccess()
    #expect(try framebus("semaphore", "show", "gate").output.contains("held by    no process: 1\n"))
    try framebus("semaphore", "post", "gate").requireSuccess()
    #expect(try value("gate") == 1)
  }

  @Test(arguments: [
    ["create", "UPPER"], ["create", "gate", "--value", "-1"], ["create", "gate", "--value=x"],
    ["create", "gate", "--value", "2147483648"], ["create", "gate", "--value=1025", "--recover"],
    ["wait", "gate", "--timeout", "-1"], ["wait", "gate", "--timeout", "nan"], ["wait"],
    ["show", "../gate"], ["frobnicate"],
  ])
  func wrongUsageHasStatus2AndSaysWhy(_ arguments: [String]) throws {
    let result = try run(
      "framebus", ["--root", root.path, "--group", "a.b", "semaphore"] + arguments)
    #expect(result.status == .exited(2))
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("error: "))
  }

  @Test func unusableSemaphoreIsListedWithTheReason() throws {
    try output(of: "touch", [root.file("run/a.b/semaphores/odd.semaphore")])
    let listed = try framebus("semaphore", "list")
    #expect(listed.output.hasPrefix("odd  unusable: "))
    #expect(listed.output.contains("it has 0 bytes, not 12288"))
    #expect(try framebus("semaphore", "list", "--json").output.contains("\"problem\" : \""))
    try framebus("semaphore", "remove", "odd").requireSuccess()
  }

  private func waitUntilAsleep(_ program: RunningProgram) throws {
    try waitUntil("`\(program.name)` sleeps") {
      try output(of: "cat", ["/proc/\(program.processID)/syscall"]).hasPrefix("449 ")
    }
  }
}
