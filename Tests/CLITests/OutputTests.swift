import TestSupport
import Testing

/// What cannot be written is a failure, whichever way it is printed.
@Suite struct OutputTests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    try run("framebus", ["group", "create", "a.b", "--root", root.path]).requireSuccess()
  }

  /// Runs `framebus …` with standard streams as a shell redirects them.
  private func framebus(_ redirection: String, _ arguments: [String]) throws -> ProgramResult {
    try run(
      "sh", ["-c", "\"$0\" \"$@\" \(redirection)", pathOfProgram("framebus")] + arguments,
      environment: ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": "a.b", "NO_COLOR": "1"])
  }

  @Test(arguments: [
    ["--help"], ["--version"], ["group", "show"], ["group", "list"], ["group", "doctor"],
    ["group", "list", "--json"], ["doctor"], ["notify", "state", "x.y"],
    ["semaphore", "create", "gate"],
  ])
  func aFullDiskIsAnErrorWithStatus1(_ arguments: [String]) throws {
    let result = try framebus(">/dev/full", arguments)
    #expect(result.status == .exited(1))
    #expect(result.errors == "error: write: No space left on device\n")
  }

  @Test func nothingIsWrittenIntoAFileThatCouldHaveTakenAClosedStreamsPlace() throws {
    let created = try framebus(">&-", ["semaphore", "create", "gate"])
    #expect(created.status == .exited(1))
    #expect(created.errors == "error: write: Bad file descriptor\n")
    let failed = try framebus("<&- >&- 2>&-", ["semaphore", "create", "gate"])
    #expect(failed.status == .exited(1))
    let shown = try framebus("", ["semaphore", "show", "gate"])
    #expect(shown.output.hasPrefix("semaphore  gate\ncount      1 "), "\(shown.errors)")
  }
}
