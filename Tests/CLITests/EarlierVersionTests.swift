import Foundation
import Platform
import TestSupport
import Testing

/// What an earlier version has left on disk: each format is read, and written further.
/// Tests/Tools/make_fixture.sh makes such a file, once per version.
@Suite(.enabled(if: currentUserID() == 0, "the files belong to root"))
struct EarlierVersionTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Fixtures")
  private static let versions = ["0.1"]

  private func unpacked(_ version: String) throws -> TemporaryRoot {
    let root = try TemporaryRoot(mode: 0o755)
    let file = Self.folder.appending(path: "\(version).tar.xz").path
    try output(of: "tar", ["-C", root.path, "--same-owner", "-xpf", file])
    return root
  }

  private func framebus(_ root: TemporaryRoot, _ arguments: String...) throws -> String {
    try output(
      of: "framebus", ["--root", root.path, "--group", "group.dev.example.kept"] + arguments)
  }

  @Test func everyKeptVersionIsTested() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(files.sorted() == Self.versions.map { "\($0).tar.xz" })
  }

  @Test(arguments: versions)
  func secretsOpenAndNewOnesAreAdded(_ version: String) throws {
    let root = try unpacked(version)
    let get = ["credential", "get", "live.example.com", "--role", "extension"]
    func secret(_ account: String) throws -> String {
      try framebus(root, get[0], get[1], get[2], account, get[3], get[4])
    }
    #expect(try secret("me") == "a secret")
    #expect(try framebus(root, "credential", "show", "live.example.com", "me").contains("Studio"))
    try output(
      of: "sh",
      [
        "-c",
        """
        printf new | '\(pathOfProgram("framebus"))' --root '\(root.path)' \
        --group group.dev.example.kept credential set live.example.com you --recipient extension
        """,
      ])
    #expect(try secret("you") == "new")
    #expect(try secret("me") == "a secret")
    #expect(try framebus(root, "credential", "audit").contains("live.example.com/you"))
  }

  @Test(arguments: versions)
  func settingsAreReadAndChanged(_ version: String) throws {
    let root = try unpacked(version)
    let settings = """
      list  ["a",{"b":[1,2.5]}]
      open  true
      ratio  1.5
      size  42
      theme  "dark"

      """
    #expect(try framebus(root, "defaults", "read", "editor") == settings)
    _ = try framebus(root, "defaults", "write", "editor", "size", "43", "--type", "int")
    #expect(
      try framebus(root, "defaults", "read", "editor")
        == settings.replacing("size  42", with: "size  43"))
  }

  @Test(arguments: versions)
  func logIsReadAndContinued(_ version: String) throws {
    let root = try unpacked(version)
    _ = try framebus(root, "log", "append", "a new line")
    let lines = try framebus(root, "log", "show").split(separator: "\n")
    #expect(lines.count { $0.hasSuffix("a line that is kept cause=test") } == 1)
    #expect(lines.last?.hasSuffix("a new line") == true)
    #expect(lines.contains { $0.contains("recording ended end=limit frames=3") })
  }

  @Test(arguments: versions)
  func recordingIsPlayed(_ version: String) throws {
    let root = try unpacked(version)
    let picture = root.file("pictures.y4m")
    try output(
      of: "sh",
      [
        "-c",
        "'\(pathOfProgram("framebus"))' play '\(root.file("kept.fbrec"))' > '\(picture)'",
      ])
    let count = try output(
      of: "ffprobe",
      [
        "-v", "error", "-count_frames", "-show_entries", "stream=width,height,nb_read_frames",
        "-of", "csv=p=0", picture,
      ])
    #expect(count == "64,48,3\n")
  }

  @Test(arguments: versions)
  func groupIsFoundWithItsRoles(_ version: String) throws {
    let root = try unpacked(version)
    #expect(try framebus(root, "group", "doctor").contains("ok"))
    #expect(try framebus(root, "streams") == "")
  }
}
