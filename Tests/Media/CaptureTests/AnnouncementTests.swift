import AppGroup
import Foundation
import Platform
import TestSupport
import Testing

/// The state of a stream is posted as `framebus.stream.NAME`.
@Suite struct AnnouncementTests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot()
    _ = try AppGroup.create(GroupID("a.b"), root: root.path)
  }

  private func start(_ arguments: String...) throws -> RunningProgram {
    try RunningProgram("framebus", arguments + ["--root", root.path, "--group", "a.b"])
  }

  private func state(ofLine index: Int, _ watch: RunningProgram) throws -> UInt64 {
    let lines = watch.output.text.split(separator: "\n")
    let object = try JSONSerialization.jsonObject(with: Data(lines[index].utf8)) as? [String: Any]
    return try #require((object?["state"] as? NSNumber)?.uint64Value)
  }

  @Test func streamStartAndEndArePosted() throws {
    let watch = try start("notify", "watch", "framebus.stream.s", "--count", "2", "--json")
    try watch.waitForErrors("watching")
    let capture = try start("capture", "test", "--stream", "s", "--size", "320x240")
    try watch.waitForOutput("\n")
    #expect(try state(ofLine: 0, watch) == 1 | 320 << 32 | 240 << 48)
    try capture.end(with: SIGTERM)
    #expect(try watch.finish().status == .exited(0))
    #expect(try state(ofLine: 1, watch) == 0)
  }
}
