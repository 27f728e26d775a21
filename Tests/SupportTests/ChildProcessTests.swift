import Foundation
import Platform
import TestSupport
import Testing

@Suite struct ChildProcessTests {
  @Test func exitStatusOutputAndErrorsAreReturned() throws {
    let result = try run("sh", ["-c", "echo out; echo err >&2; exit 7"])
    #expect(result.status == .exited(7))
    #expect(result.output == "out\n")
    #expect(result.errors == "err\n")
  }

  @Test func killedProcessReportsItsSignal() throws {
    let program = try RunningProgram("sleep", ["1000"])
    #expect(program.process.status == nil)
    #expect(try program.end(with: SIGKILL).status == .killed(signal: SIGKILL))
  }

  @Test func childInheritsOnlyTheListedDescriptors() throws {
    let open = try OneWayPipe()
    let leaked = dup(open.readEnd.number)
    defer { close(leaked) }
    let program = try RunningProgram(
      "ls", ["/proc/self/fd"], inherited: [open.writeEnd.number])
    // 4 is the directory that ls itself reads.
    #expect(try program.finish().output == "0\n1\n2\n3\n4\n")
  }

  @Test func variablesAreSetAndRemoved() throws {
    let result = try run(
      "sh", ["-c", "echo $ONE-${HOME-none}"], environment: ["ONE": "1", "HOME": nil])
    #expect(result.output == "1-none\n")
  }

  @Test func missingProgramErrorNamesTheProgram() throws {
    let error = #expect(throws: SystemError.self) {
      try ChildProcess(LaunchOptions("/nonexistent/program"))
    }
    #expect(error?.description.contains("/nonexistent/program") == true)
  }

  @Test func releasedChildIsKilledAndAwaited() throws {
    let processID = try ChildProcess(LaunchOptions("sleep", ["1000"])).processID
    #expect(kill(processID, 0) == -1 && errno == ESRCH)
  }

  @Test func raisedStopEndsTheWaitAndNotTheChild() throws {
    let stop = try StopSignal()
    let child = try ChildProcess(LaunchOptions("sleep", ["1000"]))
    stop.raise()
    #expect(child.wait(stop: stop) == nil)
    #expect(child.end(with: SIGTERM) == .killed(signal: SIGTERM))
  }

  @Test func processGroupOfAChildCanBeSignalled() throws {
    let pipe = try OneWayPipe()
    var options = LaunchOptions("sh", ["-c", "sleep 1000 & echo $!; wait"])
    options.output = .descriptor(pipe.writeEnd.number)
    options.hasOwnGroup = true
    let child = try ChildProcess(options)
    let text = String(decoding: try readSome(pipe.readEnd.number), as: UTF8.self)
    let grandchild = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    guard let watch = ProcessWatch(grandchild) else {
      Issue.record("process \(grandchild) ended too early")
      return
    }
    child.sendToGroup(signal: SIGKILL)
    #expect(child.wait() == .killed(signal: SIGKILL))
    let ended = try watch.waitForEnd(until: .after(.seconds(30)))
    #expect(ended)
  }
}
