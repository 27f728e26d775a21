import Foundation
import TestSupport
import Testing

@testable import Platform

/// Groups of several users, tested with processes of temporary users.
@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct GroupUsersTests {
  private let root: TemporaryRoot
  private let user: TestUser

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    user = try TestUser()
    try run("framebus", ["group", "create", "a.b", "--root", root.path]).requireSuccess()
  }

  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", arguments + ["--root", root.path])
  }

  private func grant(_ role: String, _ option: String, _ id: UInt32) throws {
    try framebus("group", "grant", role, "a.b", option, "\(id)").requireSuccess()
  }

  private func shown(by user: TestUser, groups: [UInt32] = []) throws -> ProgramResult {
    try user.run("framebus", ["group", "show", "a.b", "--root", root.path], groups: groups)
  }

  @Test func errorOfANonMemberNamesTheCommandToAskFor() throws {
    let result = try shown(by: user)
    #expect(result.status == .exited(1))
    #expect(result.output == "")
    #expect(
      result.errors
        == "error: uid \(user.uid) (\(user.name)) is not a member of the group a.b, which belongs"
        + " to uid 0 (root); ask that user to run `framebus group grant ROLE --uid \(user.uid)"
        + " --group a.b --root \(root.path)`\n")
    #expect(try user.run("cat", [root.file("state/a.b/manifest.toml")]).status == .exited(1))
    #expect(try user.run("ls", [root.file("run/a.b")]).status != .exited(0))
  }

  @Test func memberAndOwnerFindTheSameContainer() throws {
    try grant("capture", "--uid", user.uid)
    let result = try shown(by: user)
    #expect(result.status == .exited(0), "\(result.errors)")
    #expect(result.output.contains(root.file("state/a.b") + "\n"))
    #expect(result.output.contains("uid \(user.uid) (\(user.name)): capture\n"))
    let doctor = try user.run("framebus", ["group", "doctor", "a.b", "--root", root.path])
    #expect(doctor.status == .exited(0), "\(doctor.output)")
  }

  @Test func userGroupMayHoldARole() throws {
    try grant("extension", "--gid", 100)
    #expect(try shown(by: user).status == .exited(1))
    let result = try shown(by: user, groups: [100])
    #expect(result.status == .exited(0), "\(result.errors)")
    #expect(result.output.contains(": extension\n"))
  }

  @Test func onlyTheOwnerMayChangeAGroup() throws {
    try grant("host", "--uid", user.uid)
    for arguments in [["remove", "a.b"], ["grant", "host", "a.b", "--uid", "1"]] {
      let result = try user.run("framebus", ["group"] + arguments + ["--root", root.path])
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("only uid 0 (root), the owner of the group a.b, can"))
    }
    let created = try user.run("framebus", ["group", "create", "c.d", "--root", root.path])
    #expect(created.status == .exited(1))
    #expect(created.errors.contains("can create groups there"))
    #expect(try user.run("touch", [root.file("state/a.b/x")]).status != .exited(0))
  }

  @Test func onlyPublishingRolesWriteInStreamsAndNobodyReplacesAnotherUsersFiles() throws {
    let viewer = try TestUser()
    try grant("capture", "--uid", user.uid)
    try grant("viewer", "--uid", viewer.uid)
    let socket = root.file("run/a.b/streams/s.sock")
    let bind =
      "import os, socket; s = socket.socket(socket.AF_UNIX); s.bind('\(socket)'); s.listen();"
      + " os.chmod('\(socket)', 0o666); print('bound', flush=True); c, _ = s.accept();"
      + " print('met', flush=True)"
    let publisher = try user.start("/usr/bin/python3", ["-c", bind])
    try publisher.waitForOutput("bound")
    let lock = "import os; os.open('\(root.file("run/a.b/streams/s.lock"))', os.O_CREAT, 0o600)"
    #expect(try user.run("/usr/bin/python3", ["-c", lock]).status == .exited(0))
    #expect(try viewer.run("touch", [root.file("run/a.b/streams/v.sock")]).status != .exited(0))
    #expect(try viewer.run("cat", [root.file("run/a.b/streams/s.lock")]).status != .exited(0))
    try grant("extension", "--uid", viewer.uid)
    #expect(try viewer.run("touch", [root.file("run/a.b/streams/v.sock")]).status == .exited(0))
    #expect(try viewer.run("rm", ["-f", socket]).status != .exited(0))
    let connect = "import socket; socket.socket(socket.AF_UNIX).connect('\(socket)')"
    let met = try viewer.run("/usr/bin/python3", ["-c", connect])
    #expect(met.status == .exited(0), "\(met.errors)")
    try publisher.waitForOutput("met")
  }

  @Test func grantAppliesToAnExistingMember() throws {
    try grant("viewer", "--uid", user.uid)
    try grant("viewer", "--uid", 4242)
    try grant("capture", "--uid", user.uid)
    let result = try shown(by: user)
    #expect(result.output.contains("uid \(user.uid) (\(user.name)): capture, viewer\n"))
    #expect(result.output.contains("uid 4242"))
  }

  @Test func onlyTheOwnerRecreatesAMissingRunDirectory() throws {
    try grant("capture", "--uid", user.uid)
    try FileManager.default.removeItem(atPath: root.file("run"))
    let early = try shown(by: user)
    #expect(early.status == .exited(1))
    #expect(early.errors.contains("only uid 0 (root) can create it"))
    try framebus("group", "show", "a.b").requireSuccess()
    try shown(by: user).requireSuccess()
  }

  @Test func doctorFindsLostPermissionsAndAGrantRepairsThem() throws {
    try grant("capture", "--uid", user.uid)
    try output(of: "setfacl", ["-b", root.file("run/a.b/streams")])
    let doctor = try framebus("group", "doctor", "a.b")
    #expect(doctor.status == .exited(1))
    #expect(doctor.output.contains("access control lists differ from the manifest"))
    try grant("capture", "--uid", user.uid)
    try framebus("group", "doctor", "a.b").requireSuccess()
  }

  /// The owner is not root, and may not empty a directory that a member closed.
  @Test(arguments: [
    "mkdir -p $0/x/y; chmod 0 $0/x", "cd $0; for i in $(seq 99); do mkdir d; cd d; done",
  ])
  func membersUnremovableDirectoryDoesNotBlockOtherChanges(_ hostility: String) throws {
    let own = try TemporaryRoot(mode: 0o755)
    try output(of: "chown", [user.name, own.path])
    let member = try TestUser()
    func owner(_ arguments: String...) throws -> ProgramResult {
      try user.run("framebus", ["group"] + arguments + ["--root", own.path])
    }
    try owner("create", "a.b").requireSuccess()
    try owner("grant", "capture", "a.b", "--uid", "\(member.uid)").requireSuccess()
    for location in ["run/a.b/streams", "state/a.b/logs"] {
      try member.run("sh", ["-c", hostility, own.file(location)]).requireSuccess()
    }
    let removed = try owner("remove", "a.b")
    #expect(removed.status == .exited(1))
    #expect(removed.errors.contains("a.b is removed, except for files that could not be removed"))
    #expect(try owner("list").output == "")
    try owner("create", "c.d").requireSuccess()
    try owner("create", "a.b").requireSuccess()
    // The new group has none of the old one's members.
    #expect(try member.run("ls", [own.file("run/a.b/streams")]).status != .exited(0))
    try owner("remove", "a.b").requireSuccess()
    try owner("remove", "c.d").requireSuccess()
  }

  @Test func directoriesThatAnotherUserPlantedBelowTheRootAreRefused() throws {
    let shared = try TemporaryRoot(mode: 0o1777)
    try user.run("framebus", ["group", "create", "a.b", "--root", shared.path]).requireSuccess()
    let victim = try TestUser()
    let result = try victim.run("framebus", ["group", "show", "a.b", "--root", shared.path])
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("\(shared.path)/state belongs to uid \(user.uid)"))
    let link = try TemporaryRoot(mode: 0o1777)
    #expect(
      try user.run("ln", ["-s", root.file("state"), link.file("state")]).status == .exited(0))
    let followed = try victim.run("framebus", ["group", "show", "a.b", "--root", link.path])
    #expect(followed.status == .exited(1))
    #expect(followed.errors.contains("is a symbolic link that uid \(user.uid)"))
  }

  @Test func userSharesAGroupBelowTheirOwnDirectory() throws {
    let own = try TemporaryRoot(mode: 0o755)
    try output(of: "chown", [user.name, own.path])
    let friend = try TestUser()
    let location = ["a.b", "--root", own.path]
    try user.run("framebus", ["group", "create"] + location).requireSuccess()
    try user.run("framebus", ["group", "grant", "host", "--uid", "\(friend.uid)"] + location)
      .requireSuccess()
    try friend.run("framebus", ["group", "show"] + location).requireSuccess()
    // A change by root keeps the owner.
    try run("framebus", ["group", "grant", "capture", "--uid", "0"] + location).requireSuccess()
    try user.run("framebus", ["group", "remove"] + location).requireSuccess()
  }

  /// Files belong to the members that create them. The group's owner, who is not root here, can
  /// still use them.
  @Test func ownerUsesObjectsThatOtherUsersCreated() throws {
    let own = try TemporaryRoot(mode: 0o755)
    try output(of: "chown", [user.name, own.path])
    let other = try TestUser()
    let location = ["--group", "a.b", "--root", own.path]
    try user.run("framebus", ["group", "create"] + location).requireSuccess()
    let grant = ["group", "grant", "extension", "--uid", "\(other.uid)"]
    try user.run("framebus", grant + location).requireSuccess()

    try other.run("framebus", ["semaphore", "create", "gate"] + location).requireSuccess()
    try user.run("framebus", ["semaphore", "post", "gate"] + location).requireSuccess()

    let capture = ["capture", "test", "--role", "extension", "--stream", "s", "--size", "32x32"]
    let publisher = try other.start("framebus", capture + location)
    try publisher.waitForErrors("s")
    let upload = ["upload", "null", "--stream", "s", "--frames", "1"]
    try user.run("framebus", upload + location).requireSuccess()
    try publisher.end(with: SIGTERM)

    // Tests the wake-up: without one an observer polls only once a second.
    let watch = ["notify", "watch", "news", "--count", "1", "--json"]
    let observer = try other.start("framebus", watch + location)
    try observer.waitForErrors("watching")
    try user.run("framebus", ["notify", "post", "news"] + location).requireSuccess()
    let delivered = try observer.finish()
    #expect(delivered.output.contains("\"uid\":\(user.uid)"), "\(observer.transcript)")

    try other.run("framebus", ["defaults", "write", "s", "key", "1"] + location).requireSuccess()
    try user.run("framebus", ["defaults", "write", "s", "key", "2"] + location).requireSuccess()
    try other.run("framebus", ["log", "append", "from another"] + location).requireSuccess()
    #expect(try user.run("framebus", ["log"] + location).output.contains("from another"))
    try user.run("framebus", ["group", "doctor", "a.b", "--root", own.path]).requireSuccess()
  }
}
