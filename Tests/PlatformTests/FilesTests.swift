import Foundation
import TestSupport
import Testing

@testable import Platform

@Suite struct FilesTests {
  private let root: TemporaryRoot

  init() throws { root = try TemporaryRoot() }

  @Test func aFileIsReplacedAsAWholeAndOldReadersKeepTheirs() throws {
    let directory = try Directory(path: root.path)
    try directory.replaceFile("f", with: Array("old".utf8), mode: 0o640)
    let old = try directory.openForInspection("f")
    try directory.replaceFile("f", with: Array("new".utf8), mode: 0o600)
    #expect(try directory.readFile("f", limit: 10).bytes == Array("new".utf8))
    #expect(try readSome(old.number) == Array("old".utf8))
    #expect(try directory.status(of: "f")?.mode == 0o600)
    #expect(try directory.names() == ["f"])
  }

  @Test func aReplacementThatFailsLeavesTheOldFileAndNoOther() throws {
    let directory = try Directory(path: root.path)
    try FileManager.default.createDirectory(
      atPath: root.file("f"), withIntermediateDirectories: false)
    try Data().write(to: URL(fileURLWithPath: root.file("f/inner")))
    #expect(throws: SystemError.self) { try directory.replaceFile("f", with: [1], mode: 0o600) }
    #expect(try directory.names() == ["f"])
  }

  /// Of two that find a log full, one renames it: the other would fail, or rename the new one over
  /// the old one.
  @Test func severalWritersOfAFullLogLoseNoLine() throws {
    let directory = try Directory(path: root.path)
    let line = Array("a line of the log\n".utf8)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 1...2000 {
        #expect(throws: Never.self) {
          try directory.append(line, toLog: "log", limit: 2 * line.count)
        }
      }
    }
    #expect(try directory.names() == ["log", "log.old"])
    #expect(try directory.readFile("log.old", limit: 1 << 20).bytes.starts(with: line + line))
  }

  @Test func whatIsNoSmallFileIsNotRead() throws {
    let directory = try Directory(path: root.path)
    try output(of: "mkfifo", [root.file("fifo")])
    try output(of: "truncate", ["-s", "1G", root.file("huge")])
    try output(of: "ln", ["-s", "huge", root.file("link")])
    try output(of: "mkdir", [root.file("folder")])
    let kinds: [(String, FileStatus.Kind)] = [
      ("fifo", .fifo), ("link", .symbolicLink), ("folder", .directory),
    ]
    for (name, kind) in kinds {
      #expect(throws: ContentsError.notFile(path: root.file(name), kind: kind)) {
        try directory.readFile(name, limit: 100)
      }
    }
    #expect(
      throws: ContentsError.tooLarge(path: root.file("huge"), byteCount: 1 << 30, limit: 100)
    ) { try directory.readFile("huge", limit: 100) }
    #expect(throws: ContentsError.self) { try directory.readFile("missing", limit: 100) }
  }

  @Test func removingATreeFollowsNoLinkAndRefusesAbsurdDepth() throws {
    let directory = try Directory(path: root.path)
    try output(of: "mkdir", ["-p", root.file("tree/a/b"), root.file("kept")])
    try output(of: "touch", [root.file("kept/file"), root.file("tree/a/file")])
    try output(of: "ln", ["-s", root.file("kept"), root.file("tree/a/link")])
    try directory.removeTree("tree")
    try directory.removeTree("tree")
    #expect(try directory.names() == ["kept"])
    #expect(FileManager.default.fileExists(atPath: root.file("kept/file")))
    let deep = root.file("deep" + String(repeating: "/d", count: 70))
    try output(of: "mkdir", ["-p", deep])
    #expect(throws: SystemError.self) { try directory.removeTree("deep") }
  }

  @Test func lockExcludesOthersUntilItsHolderExits() throws {
    let directory = try Directory(path: root.path)
    do {
      let lock = try #require(try held("lock", in: directory))
      defer { lock.isHeldUntilHere() }
      #expect(try held("lock", in: directory) == nil)
      #expect(isLockedByAnother(try directory.openForInspection("lock")))
    }
    // At once, although a child that another test starts just now has the file open until its exec.
    #expect(!isLockedByAnother(try directory.openForInspection("lock")))
    try output(of: "ln", [root.file("lock"), root.file("second")])
    #expect(throws: SystemError.self) {
      _ = try held("lock", in: directory)
    }
  }

  private final class HeldLock: Sendable {
    private let lock: FileLock
    init(_ lock: consuming FileLock) { self.lock = lock }
    func isHeldUntilHere() {}
  }

  private func held(
    _ name: String, in directory: borrowing Directory
  ) throws(SystemError) -> HeldLock? {
    let uid = currentUserID()
    guard let lock = try FileLock.take(name, in: directory, ownerID: uid, until: .now) else {
      return nil
    }
    return HeldLock(lock)
  }

  @Test func anAccessListIsWhatTheAclToolsRead() throws {
    let directory = try Directory(path: root.path)
    let made = try directory.makeDirectory("d", mode: 0o700)
    let list = AccessList(owner: 7, users: [4242: 5, 17: 7], groups: [99: 4])
    try made.descriptor.setAccess(list, .access, path: made.path)
    try made.descriptor.setAccess(list, .inherited, path: made.path)
    let text = try output(of: "getfacl", ["-n", "-p", "-c", made.path])
    for line in ["user:17:rwx", "user:4242:r-x", "group:99:r--", "mask::rwx", "other::---"] {
      #expect(text.contains(line))
      #expect(text.contains("default:" + line))
    }
    #expect(try made.descriptor.accessBytes(.access, path: made.path) == list.bytes)
    let plain = AccessList(owner: 7, users: [:], groups: [:])
    try made.descriptor.setAccess(plain, .access, path: made.path)
    #expect(try made.descriptor.accessBytes(.access, path: made.path) == nil)
  }

  @Test func theUserDatabaseIsReadByNumber() throws {
    let account = try #require(UserAccount.find(0))
    #expect(account.name == "root")
    #expect(account.groupIDs.contains(0))
    #expect(UserAccount.find(4_000_000_000) == nil)
    #expect(userText(4_000_000_000) == "uid 4000000000")
    #expect(!machineName().isEmpty && machineName() == machineName())
  }
}
