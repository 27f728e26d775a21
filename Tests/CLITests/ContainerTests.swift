import Foundation
import TestSupport
import Testing

@testable import Platform

/// A group on a volume that containers share: each process has namespaces of its own, as container
/// engines make them. docs/guides/containers.md has the recipes.
@Suite(.enabled(if: TestUser.canBeCreated, "namespaces need root"))
struct ContainerTests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    try run("framebus", ["group", "create", "a.b", "--root", root.path]).requireSuccess()
  }

  private func environment(_ home: String) -> [String: String?] {
    ["FRAMEBUS_HOME": home, "FRAMEBUS_GROUP": "a.b"]
  }

  /// Starts `framebus …` in a container whose volume is mounted elsewhere. Its end is SIGKILL for
  /// all processes in it.
  private func contained(_ arguments: String...) throws -> RunningProgram {
    try RunningProgram(
      "unshare",
      [
        "--mount", "--pid", "--fork", "--ipc", "--uts", "--net", "--mount-proc", "--kill-child",
        "sh", "-c", #"mount --bind "$0" /mnt && exec "$@""#, root.path,
        try pathOfProgram("framebus"),
      ] + arguments, environment: environment("/mnt"))
  }

  private func outside(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", arguments, environment: environment(root.path))
  }

  /// Waits until a command outside prints a text.
  private func wait(for text: String, in arguments: [String]) throws {
    try waitUntil("framebus \(arguments) prints \(text)") {
      try run("framebus", arguments, environment: environment(root.path)).output.contains(text)
    }
  }

  @Test func framesFlowBetweenContainersWithTheirOwnProcesses() throws {
    let capture = try contained("capture", "test", "--stream", "shared")
    let upload = try contained("upload", "null", "--stream", "shared", "--frames", "20").finish()
    #expect(upload.status.isSuccess, "\(upload.errors)")
    // The number that the process has in its own namespace.
    #expect(try outside("streams").output.contains("  pid 1\n"))
    _ = try capture.end(with: SIGKILL)
  }

  @Test func killedContainerIsNoticedAndItsSuccessorFollowed() throws {
    let first = try contained("capture", "test", "--stream", "shared")
    let upload = try RunningProgram(
      "framebus", ["upload", "null", "--stream", "shared", "--frames", "200"],
      environment: environment(root.path))
    try wait(for: "subscriber 0", in: ["streams"])
    _ = try first.end(with: SIGKILL)
    try wait(for: "the publisher is gone", in: ["log"])
    let second = try contained("capture", "test", "--stream", "shared")
    let result = try upload.finish()
    #expect(result.status.isSuccess, "\(result.errors)")
    _ = try second.end(with: SIGKILL)
  }

  @Test func settingsSecretsNotificationsAndLogAreShared() throws {
    let watch = try contained("notify", "watch", "hello")
    try watch.waitForErrors("watching")
    try contained("notify", "post", "hello").finish().requireSuccess()
    try watch.waitForOutput("hello  generation 1")
    _ = try watch.end(with: SIGKILL)
    try contained("defaults", "write", "editor", "size", "9").finish().requireSuccess()
    #expect(try outside("defaults", "read", "editor").output.contains("9"))
    try contained("log", "append", "from a container").finish().requireSuccess()
    #expect(try outside("log").output.contains("from a container"))
    let command = "printf secret | \"$0\" credential set a.example me --recipient extension"
    try run(
      "sh", ["-c", command, try pathOfProgram("framebus")], environment: environment(root.path)
    ).requireSuccess()
    let opened = try contained("credential", "get", "a.example", "me", "--role", "extension")
      .finish()
    #expect(opened.output == "secret", "\(opened.errors)")
  }

  /// Process numbers mean nothing in another namespace; the kernel's locks do.
  @Test func permitsOfAKilledContainerComeBack() throws {
    try outside("semaphore", "create", "gate", "--recover").requireSuccess()
    let holder = try contained("semaphore", "wait", "gate", "--", "sleep", "1000")
    try wait(for: "count      0", in: ["semaphore", "show", "gate"])
    _ = try holder.end(with: SIGKILL)
    try wait(for: "count      1", in: ["semaphore", "show", "gate"])
  }

  /// The kernel translates a peer's uid into the namespace of the process that asks: an owner that
  /// is not mapped there is nobody, and is not believed.
  @Test(arguments: ["--map-root-user", "--map-current-user"])
  func memberWhoseNamespaceLacksThePublishersUserIsRefused(_ mapping: String) throws {
    let user = try TestUser()
    try outside("group", "grant", "extension", "--uid", "\(user.uid)").requireSuccess()
    let capture = try contained("capture", "test", "--stream", "shared")
    try wait(for: "shared", in: ["streams"])
    var command = try user.command(
      "framebus",
      [
        "upload", "null", "--stream", "shared", "--frames", "1", "--root", root.path, "--group",
        "a.b",
      ])
    let program = try #require(command.firstIndex(of: "env"))
    command.insert(contentsOf: ["unshare", "--user", mapping], at: program)
    let refused = try run(command[0], Array(command.dropFirst()), directory: "/")
    #expect(refused.status == .exited(1))
    #expect(
      refused.errors.contains(
        "the publisher of “shared” cannot be trusted: user 65534 has no role in the group"),
      "\(refused.errors)")
    _ = try capture.end(with: SIGKILL)
  }

  /// The directories above the volume belong to nobody there, who could replace it.
  @Test(arguments: ["--map-current-user", "--map-root-user"])
  func volumeBelowDirectoriesOfUnmappedUsersIsRefused(_ mapping: String) throws {
    let user = try TestUser()
    let home = root.file("home")
    _ = try output(of: "install", ["-d", "-o", user.name, home])
    let environment: [String: String?] = ["FRAMEBUS_HOME": home, "FRAMEBUS_GROUP": "a.b"]
    try user.run("framebus", ["group", "create"], environment: environment).requireSuccess()
    var command = try user.command("framebus", ["defaults", "write", "editor", "size", "9"])
    let program = try #require(command.firstIndex(of: "env"))
    command.insert(contentsOf: ["unshare", "--user", mapping], at: program)
    let refused = try run(
      command[0], Array(command.dropFirst()), environment: environment, directory: "/")
    #expect(refused.status == .exited(1))
    #expect(refused.errors.contains("belongs to uid 65534 (nobody)"), "\(refused.errors)")
  }

  @Test func processWithoutAUserInItsNamespaceIsRefused() throws {
    let refused = try run(
      "unshare", ["--user", try pathOfProgram("framebus"), "streams"],
      environment: environment(root.path))
    #expect(refused.status == .exited(1))
    #expect(
      refused.errors.contains("uid 65534") && refused.errors.contains("is not a member"),
      "\(refused.errors)")
  }
}
