import Foundation
import TestSupport
import Testing

@testable import Platform

@Suite struct TrustedPathTests {
  private let root: TemporaryRoot
  private let own: Set<UInt32> = [0, currentUserID()]

  init() throws { root = try TemporaryRoot() }

  private func make(_ name: String, mode: Int = 0o700) throws {
    try FileManager.default.createDirectory(
      atPath: root.file(name), withIntermediateDirectories: false)
    try FileManager.default.setAttributes(
      [.posixPermissions: mode], ofItemAtPath: root.file(name))
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: root.file(name), withDestinationPath: target)
  }

  private func resolved(_ name: String) throws(PathError) -> String {
    try Directory.openTrusted(path: root.file(name), trusting: own).path
  }

  @Test func ownLinksAreFollowedAndLeaveThePath() throws {
    try make("a")
    try make("a/b")
    try link("absolute", to: root.file("a"))
    try link("a/up", to: "../a/./b/..")
    #expect(try resolved("absolute/b") == root.file("a/b"))
    #expect(try resolved("a/up/b") == root.file("a/b"))
  }

  @Test func linksInACircleAreRefused() throws {
    try link("one", to: "two")
    try link("two", to: "one")
    #expect(throws: PathError.tooManyLinks(path: root.file("one"))) { try resolved("one") }
  }

  @Test func directoriesThatOthersMayWriteAreRefusedUnlessSticky() throws {
    try make("open", mode: 0o777)
    try make("open/in")
    try make("sticky", mode: 0o1777)
    try make("sticky/in")
    let error = #expect(throws: PathError.self) { try resolved("open/in") }
    #expect(error == .writableByOthers(path: root.file("open"), mode: 0o777))
    #expect(error?.advice == "run `chmod go-w \(root.file("open"))`")
    #expect(try resolved("sticky/in") == root.file("sticky/in"))
  }

  @Test func filesAndFifosInThePathAreRefusedWithoutOpeningThem() throws {
    try Data().write(to: URL(fileURLWithPath: root.file("file")))
    try output(of: "mkfifo", [root.file("fifo")])
    #expect(throws: PathError.notDirectory(path: root.file("file"), kind: .file)) {
      try resolved("file/x")
    }
    #expect(throws: PathError.notDirectory(path: root.file("fifo"), kind: .fifo)) {
      try resolved("fifo")
    }
  }

  @Test func missingDirectoriesAreMadeWithTheirModeWhateverTheUmask() throws {
    let before = umask(0o077)
    defer { umask(before) }
    let made = try Directory.openTrusted(
      path: root.file("x/y"), trusting: own, makingMode: 0o755)
    #expect(try made.status().mode == 0o755)
    #expect(throws: PathError.self) { try resolved("x/z") }
  }

  @Test(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
  func whatAnotherUserPlantedIsRefused() throws {
    let other = try TestUser()
    try make("sticky", mode: 0o1777)
    try make("target")
    try link("sticky/link", to: root.file("target"))
    try output(of: "chown", ["-h", other.name, root.file("sticky/link")])
    #expect(
      throws: PathError.foreignLink(path: root.file("sticky/link"), ownerID: other.uid)
    ) { try resolved("sticky/link") }
    try make("sticky/theirs")
    try output(of: "chown", [other.name, root.file("sticky/theirs")])
    #expect(
      throws: PathError.foreignOwner(path: root.file("sticky/theirs"), ownerID: other.uid)
    ) { try resolved("sticky/theirs") }
  }

  @Test(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
  func theGroupThatIsAUsersAloneMayWrite() throws {
    let other = try TestUser()
    try make("home", mode: 0o775)
    try output(of: "chown", ["\(other.uid):\(other.gid)", root.file("home")])
    let trusted = own.union([other.uid])
    let path = root.file("home")
    #expect(throws: Never.self) {
      _ = try Directory.openTrusted(path: path, trusting: trusted)
    }
    try output(of: "chgrp", ["100", path])
    #expect(throws: PathError.writableByOthers(path: path, mode: 0o775)) {
      _ = try Directory.openTrusted(path: path, trusting: trusted)
    }
  }
}
