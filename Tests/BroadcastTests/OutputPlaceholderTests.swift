import AppGroup
import Broadcast
import Foundation
import Platform
import TestSupport
import Testing

/// Files and directories that are created for an extension's output.
@Suite struct OutputPlaceholderTests {
  private let root: TemporaryRoot
  private let group: AppGroup

  init() throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(GroupID("a.b"), root: root.path)
  }

  private func register(_ executable: String, writes: [String]) throws {
    let text = """
      version = 1
      id = "dev.example.writer"
      executable = "\(executable)"
      writes = \(writes)
      """
    try ExtensionRegistry(group).register(ExtensionManifest(parsing: Array(text.utf8)))
  }

  private func broadcastToItsEnd() throws -> BroadcastEnding? {
    let controller = try BroadcastController(in: group)
    let request = BroadcastRequest(extensionID: "dev.example.writer", source: "test:gradient")
    let session = try controller.start(request).session
    return try controller.waitForEnding(of: session)
  }

  /// One program is removed after its registration; the other fails at once.
  @Test(arguments: [true, false])
  func failedStartRemovesPlaceholdersAndKeepsExistingFiles(isRemoved: Bool) throws {
    try withWatchdog {
      let executable = root.file("uploader")
      try FileManager.default.copyItem(atPath: "/usr/bin/false", toPath: executable)
      let old = ["old.mkv", "empty.mkv"].map(root.file)
      for (path, text) in zip(old, ["abc", ""]) {
        try Data(text.utf8).write(to: URL(filePath: path))
      }
      try FileManager.default.createDirectory(
        atPath: root.file("live"), withIntermediateDirectories: false)
      let new = ["new.mkv", "new/"].map(root.file)
      try register(executable, writes: old + new + [root.file("live/")])
      if isRemoved { try FileManager.default.removeItem(atPath: executable) }
      guard case .failed? = try broadcastToItsEnd() else {
        Issue.record("the broadcast did not fail")
        return
      }
      for path in new { #expect(!FileManager.default.fileExists(atPath: path), "\(path)") }
      for path in old + [root.file("live")] {
        #expect(FileManager.default.fileExists(atPath: path), "\(path)")
      }
      #expect(try String(contentsOfFile: old[0], encoding: .utf8) == "abc")
    }
  }

  @Test func writtenOutputRemainsAfterFailedStart() throws {
    try withWatchdog {
      let script = root.file("writer")
      try
        "#!/bin/sh\necho here > '\(root.file("new"))/a'; echo here > '\(root.file("b"))'; exit 1\n"
        .write(toFile: script, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
      try register(script, writes: [root.file("new/"), root.file("b")])
      guard case .failed? = try broadcastToItsEnd() else {
        Issue.record("the broadcast did not fail")
        return
      }
      for name in ["new/a", "b"] {
        #expect(try String(contentsOfFile: root.file(name), encoding: .utf8) == "here\n")
      }
    }
  }
}
