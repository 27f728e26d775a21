import AppGroup
import Foundation
import Platform
import TestSupport
import Testing

@testable import NotifyCenter

/// Permissions between users, which the kernel enforces. Only root can create users.
@Suite(.serialized) struct NotifyUsersTests {
  private func skipped() -> Bool {
    if TestUser.canBeCreated { return false }
    print("skipped: only root can create users")
    return true
  }

  /// A group with two more users: one may publish, the other has a role that may not.
  private struct Users {
    let world: NotifyWorld
    let capturer: TestUser
    let viewer: TestUser

    init() throws {
      world = try NotifyWorld(mode: 0o755)
      capturer = try TestUser()
      viewer = try TestUser()
      let role = try #require(Role(rawValue: "viewer"))
      let (id, root) = (world.group.id, world.root.path)
      try AppGroup.grant(.capture, to: .user(capturer.uid), in: id, root: root)
      try AppGroup.grant(role, to: .user(viewer.uid), in: id, root: root)
    }
  }

  @Test func postsReachOtherUsersWithVerifiedCredentials() throws {
    if skipped() { return }
    let users = try Users()
    let (world, viewer, capturer) = (users.world, users.viewer, users.capturer)
    let observer = try world.worker(as: viewer, "observe", "a")
    try observer.waitForOutput("ready")
    let poster = try world.worker(as: capturer, "post", "a")
    try observer.waitForOutput("delivery 1 of 1 state 0 by \(poster.processID) \(capturer.uid)")
    try world.center.post("a")
    try observer.waitForOutput("delivery 2 of 1 state 0 by \(currentProcessID()) 0")
    _ = try poster.finish()
    #expect(try world.worker(as: viewer, "post", "a").finish().output.contains("posted 3"))
    try observer.end(with: 9)
  }

  @Test func roleThatMayNotPublishObservesButDoesNotPostFramebusNames() throws {
    if skipped() { return }
    let users = try Users()
    let (world, viewer, capturer) = (users.world, users.viewer, users.capturer)
    let refused = try world.worker(as: viewer, "post", "framebus.stream.a", "system=1").finish()
    #expect(refused.output.contains("may not post"))
    // The name has no row yet, and the viewer cannot add one.
    let observer = try world.worker(as: viewer, "observe", "framebus.stream.a")
    try observer.waitForOutput("ready")
    _ = try world.worker(as: capturer, "post", "framebus.stream.a", "system=1").finish()
    try observer.waitForOutput("delivery 1 of 1")
    let bytes = try viewer.run("sh", ["-c", "echo x > \(world.path("framebus/rows"))"])
    #expect(!bytes.status.isSuccess)
    try observer.end(with: 9)
  }

  @Test func kernelEnforcesThePolicysPrefixes() throws {
    if skipped() { return }
    let users = try Users()
    let (world, viewer) = (users.world, users.viewer)
    let manifest = world.group.containerPath + "/manifest.toml"
    let policy =
      "\n[notifications.viewer]\npost = ['chat.']\nset = []\nobserve = ['chat.', 'news.']"
    try output(of: "sh", ["-c", "printf '%s\\n' \"\(policy)\" >> \(manifest)"])
    try AppGroup.grant(
      .capture, to: .user(users.capturer.uid), in: world.group.id, root: world.root.path)
    func rows(_ text: String) -> String {
      world.path(world.group.notifyTable(of: text).directoryName + "/rows")
    }
    #expect(Set(["chat.a", "news.a", "a", "framebus.a"].map(rows)).count == 4)
    let center = try world.newCenter()
    for text in ["chat.a", "news.a", "other"] { try center.post(text) }

    for text in ["chat.a", "news.a"] {
      let observer = try world.worker(as: viewer, "observe", text)
      try observer.waitForOutput("ready")
      try center.post(text)
      try observer.waitForOutput("delivery 2 of 1")
      try observer.end(with: 9)
    }
    #expect(try world.worker(as: viewer, "post", "chat.a").finish().output.contains("posted 3"))
    #expect(try world.worker(as: viewer, "post", "news.a").finish().output.contains("may not post"))
    #expect(try world.worker(as: viewer, "observe", "other").finish().output.contains("may not"))

    // A program that bypasses the library is refused by the kernel.
    func may(_ command: String) throws -> Bool {
      try viewer.run("sh", ["-c", command]).status.isSuccess
    }
    #expect(try may("dd if=/dev/null of=\(rows("chat.a")) conv=notrunc"))
    #expect(try may("head -c 8 \(rows("news.a"))"))
    #expect(try !may("dd if=/dev/null of=\(rows("news.a")) conv=notrunc"))
    #expect(try !may("head -c 8 \(rows("other"))"))
    let news = world.path(world.group.notifyTable(of: "news.a").directoryName)
    #expect(try may("mkdir \(news)/observers/x"))
    #expect(try !may("ls \(world.path("names/observers"))"))
    #expect(
      try world.worker(as: users.capturer, "post", "other").finish().output.contains("posted 2"))
  }

  @Test func memberThatMayNotPostCannotRingButListsObservers() throws {
    if skipped() { return }
    let users = try Users()
    let (world, viewer, capturer) = (users.world, users.viewer, users.capturer)
    let observer = try world.worker(as: capturer, "observe", "framebus.a")
    try observer.waitForOutput("ready")
    let bell = world.path("framebus/observers/\(capturer.uid)/0")
    let ring =
      "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect('\(bell)')"
    #expect(try capturer.run("/usr/bin/python3", ["-c", ring]).status.isSuccess)
    #expect(try viewer.run("/usr/bin/python3", ["-c", ring]).errors.contains("PermissionError"))
    let list = try world.worker(as: viewer, "list", "a").finish().output
    #expect(list.contains("framebus.a 0, 1 observers"))
    try observer.end(with: 9)
  }

  @Test func userNamesAreUnreachableForOtherUsers() throws {
    if skipped() { return }
    let users = try Users()
    let (world, viewer, capturer) = (users.world, users.viewer, users.capturer)
    let own = "user.uid.\(viewer.uid).a"
    let observer = try world.worker(as: viewer, "observe", own)
    try observer.waitForOutput("ready")
    #expect(try world.worker(as: viewer, "post", own).finish().output.contains("posted 1"))
    try observer.waitForOutput("delivery 1 of 1")
    let refused = try world.worker(as: capturer, "post", own).finish()
    #expect(refused.output.contains("may use this name"))
    let path = world.path("users/\(viewer.uid)")
    #expect(try !capturer.run("ls", [path]).status.isSuccess)
    #expect(try !capturer.run("cat", [path + "/rows"]).status.isSuccess)
    try observer.end(with: 9)
  }

  @Test func memberCannotDamageOthersRegistrationsOrTables() throws {
    if skipped() { return }
    let users = try Users()
    let (world, viewer, capturer) = (users.world, users.viewer, users.capturer)
    let observer = try world.worker(as: viewer, "observe", "a")
    try observer.waitForOutput("ready")
    let seats = world.path("names/observers/\(viewer.uid)")
    for attack in [
      "truncate -s 0 \(seats)/seats", "echo x >> \(seats)/seats", "rm -f \(seats)/0",
      "mv \(seats) \(seats).x", "touch \(seats)/1", "cat \(seats)/lock",
      "rm -f \(world.path("names/rows"))", "mv \(world.path("names")) \(world.path("other"))",
      "touch \(world.path("names/new"))", "mkdir \(world.path("new"))",
    ] {
      #expect(try !capturer.run("sh", ["-c", attack]).status.isSuccess, "\(attack)")
    }
    // The name of the user's directory does not matter.
    try world.center.post("a")
    try observer.waitForOutput("delivery 1 of 1")
    try observer.end(with: 9)
  }

  @Test func takenDirectoryNameBlocksNoUser() throws {
    if skipped() { return }
    let users = try Users()
    let (world, viewer, capturer) = (users.world, users.viewer, users.capturer)
    for place in ["names/observers", "users"] {
      let path = world.path("\(place)/\(viewer.uid)")
      #expect(try capturer.run("mkdir", [path]).status.isSuccess)
    }
    for text in ["a", "user.uid.\(viewer.uid).a"] {
      let observer = try world.worker(as: viewer, "observe", text)
      try observer.waitForOutput("ready")
      #expect(try world.worker(as: viewer, "post", text).finish().output.contains("posted 1"))
      try observer.waitForOutput("delivery 1 of 1")
      try observer.end(with: 9)
    }
  }

  @Test func nonMemberReachesNothing() throws {
    if skipped() { return }
    let world = try NotifyWorld(mode: 0o755)
    let stranger = try TestUser()
    try world.center.post("a")
    let result = try world.worker(as: stranger, "observe", "a").finish()
    #expect(result.output.contains("error"))
    #expect(try !stranger.run("ls", [world.group.notifyPath]).status.isSuccess)
  }
}
