import Foundation
import TestSupport
import Testing

@testable import Platform
@testable import SharedDefaults

/// Another process may replace or remove a suite's file at any moment. `strace(1)` delays the
/// reader between the calls that find, open and check the file, so that it happens each time.
@Suite struct ReplacementTests {
  private let world: DefaultsWorld

  init() throws { world = try DefaultsWorld() }

  private func read(delaying call: String) throws -> ProgramResult {
    try run(
      "strace",
      ["-f", "-qq", "-o", "/dev/null", "-P", "\(DefaultsWorld.suiteName).suite"]
        + ["-e", "inject=\(call):delay_exit=100000", try pathOfProgram("framebus")]
        + ["defaults", "read", DefaultsWorld.suiteName, "key"]
        + ["--root", world.root.path, "--group", DefaultsWorld.groupName])
  }

  @Test(arguments: ["openat", "newfstatat"])
  func suiteThatIsReplacedWhileItIsOpenedIsRead(delaying call: String) throws {
    let writer = try world.worker("replace")
    try writer.waitForOutput("replacing")
    for _ in 1...3 {
      let result = try read(delaying: call)
      #expect(result.status.isSuccess, "\(result.errors)")
      #expect(result.output.utf8.count == 100_001)
    }
    try writer.end(with: SIGKILL)
  }

  @Test func suiteThatIsRemovedWhileItIsOpenedIsEmpty() throws {
    let writer = try world.worker("replace", "removes=1")
    try writer.waitForOutput("replacing")
    for _ in 1...10 {
      let result = try read(delaying: "newfstatat")
      let isMissing = result.errors.contains(/there is no suite|has no setting key/)
      #expect(isMissing || result.output.utf8.count == 100_001, "\(result.errors)")
    }
    try writer.end(with: SIGKILL)
  }
}
