import Foundation
import TestSupport
import Testing

/// The tutorials of docs/tutorials, followed as a reader follows them.
@Suite struct TutorialTests {
  private static let pages = URL(fileURLWithPath: tool("")).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "docs/tutorials").path

  private func follow(_ page: String, _ changes: String...) throws -> ProgramResult {
    let root = try TemporaryRoot()
    let programs = URL(fileURLWithPath: try pathOfProgram("framebus")).deletingLastPathComponent()
    let empty = root.file("empty")
    _ = try output(of: "mkdir", [empty])
    return try run(
      "/usr/bin/python3", [tool("follow_tutorial.py"), page] + changes,
      environment: [
        "FRAMEBUS_HOME": root.file("home"), "FRAMEBUS_GROUP": nil,
        "PATH": "\(programs.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")",
      ], directory: empty, within: .seconds(300))
  }

  @Test(arguments: ["share-a-camera", "hand-a-token-to-a-child", "read-a-dead-process"])
  func commandsPrintWhatTheTutorialSays(_ name: String) throws {
    let page = "\(Self.pages)/\(name).md"
    // What the page names for readers without a camera.
    let text = try String(contentsOfFile: page, encoding: .utf8)
    let result = try follow(page, "framebus capture camera=framebus capture test")
    #expect(result.status.isSuccess, "\(result.output)\(result.errors)")
    #expect(result.output == "\(text.components(separatedBy: "\n```sh\n").count - 1) blocks\n")
  }

  /// A page whose output differs, or whose command fails, is found.
  @Test(arguments: [
    "```sh\necho one; echo two\n```\n```text\ntwo\none\n```\n", "```sh\nfalse\n```\n",
  ])
  func wrongTutorialFails(_ text: String) throws {
    let root = try TemporaryRoot()
    try text.write(toFile: root.file("page.md"), atomically: true, encoding: .utf8)
    let result = try follow(root.file("page.md"), "--limit=1")
    #expect(result.status == .exited(1), "\(result.output)\(result.errors)")
  }
}

/// The site that scripts/docs builds.
@Suite struct SiteTests {
  @Test func siteHasAllPagesAndABrowserShowsThem() throws {
    let root = try TemporaryRoot()
    let script = URL(fileURLWithPath: tool("")).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "scripts/docs").path
    let build = URL(fileURLWithPath: try pathOfProgram("framebus")).deletingLastPathComponent()
    let site = root.file("site")
    let built = try run(script, [build.path, site], within: .seconds(600))
    #expect(built.status.isSuccess, "\(built.output)\(built.errors)")
    let read = try run("/usr/bin/python3", [tool("read_site.py"), site], within: .seconds(300))
    #expect(read.status.isSuccess, "\(read.output)\(read.errors)")
    let titles = read.output.split(separator: "\n").dropFirst()
    #expect(
      titles == [
        "FrameBus", "Share a camera between three programs", "The frame ring", "FrameBus",
        "Publisher", "CredentialStore",
      ], "\(read.output)")
  }
}
