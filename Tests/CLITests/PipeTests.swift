import Foundation
import TestSupport
import Testing

@testable import Platform

/// A named pipe instead of a file: it is read once it has a writer, and until then Ctrl-C ends the
/// wait.
@Suite struct PipeTests {
  private let root: TemporaryRoot
  private let pipe: String

  init() throws {
    root = try TemporaryRoot()
    pipe = root.file("pipe")
    try output(of: "mkfifo", [pipe])
    try run("framebus", ["group", "create", "--root", root.path]).requireSuccess()
  }

  private func start(_ arguments: [String]) throws -> RunningProgram {
    try RunningProgram("framebus", arguments + ["--root", root.path])
  }

  /// Waits until the program has the pipe open.
  private func waitUntilOpen(_ program: RunningProgram) throws {
    let folder = "/proc/\(program.processID)/fd"
    try waitUntil("the pipe is open: \(program.transcript)") {
      let numbers = try FileManager.default.contentsOfDirectory(atPath: folder)
      return numbers.contains {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0)) == pipe
      }
    }
  }

  @Test func ctrlCEndsTheWaitForAPipesWriter() throws {
    let program = try start(["defaults", "import", "s", pipe])
    try withWatchdog {
      try waitUntilOpen(program)
      #expect(try program.end(with: SIGINT).status == .exited(130))
    }
  }

  @Test func pipeIsReadOnceItHasAWriter() throws {
    let program = try start(["defaults", "import", "s", pipe])
    try withWatchdog {
      try waitUntilOpen(program)
      try output(of: "sh", ["-c", "echo '{\"k\": \"v\"}' > \(pipe)"])
      #expect(try program.finish().status == .exited(0), "\(program.transcript)")
    }
    let read = try run("framebus", ["defaults", "read", "s", "k", "--root", root.path])
    #expect(read.output == "v\n")
  }
}
