import Foundation
import Platform
import TestSupport
import Testing

/// Kills every process of the main job with SIGKILL while it works.
@Suite(.serialized) struct KillTests {
  @Test func uploaderSurvivesItsCaptureAndContinuesWithTheNext() throws {
    let sharedMemory = try OwnSharedMemory()
    let scene = try Scene(sharedMemory: sharedMemory)
    let path = scene.file("out.mkv")
    let upload = try scene.start("upload", "file:\(path)")
    let first = try scene.start("capture", "test", "--size=640x360", "--fps=60")
    _ = try scene.waitForStream("20 frames are out") { $0.cursor >= 20 && !$0.subscribers.isEmpty }
    _ = try first.end(with: SIGKILL)
    let second = try scene.start("capture", "test", "--size=320x240", "--fps=60")
    let row = try scene.waitForStream("the uploader is back") { row in
      row.format.width == 320 && row.subscribers.contains { $0.received >= 40 }
    }
    #expect(row.subscribers.map(\.pid) == [upload.processID])
    upload.process.send(signal: SIGINT)
    #expect(try upload.finish().status == .exited(130))
    _ = try second.end(with: SIGTERM)
    let recording = try Recording(path)
    #expect(recording.frameCount >= 40)
    #expect(zip(recording.times, recording.times.dropFirst()).allSatisfy { $0 < $1 })
    try sharedMemory.waitUntilEmpty()
  }

  @Test func captureIdlesAfterItsUploaderIsKilledAndServesTheNext() throws {
    let sharedMemory = try OwnSharedMemory()
    let scene = try Scene(sharedMemory: sharedMemory)
    let capture = try scene.start("capture", "test", "--size=640x360", "--fps=60")
    func round(_ name: String) throws -> Int {
      let path = scene.file(name)
      let upload = try scene.start("upload", "file:\(path)")
      _ = try scene.waitForStream("the uploader works") { row in
        row.subscribers.contains { $0.pid == upload.processID && $0.received >= 90 }
      }
      _ = try upload.end(with: SIGKILL)
      // Idle: there is no subscriber.
      var cursor: UInt64 = 0
      _ = try scene.waitForStream("the dead uploader is forgotten, and capture idles") { row in
        defer { cursor = row.cursor }
        return row.subscribers.isEmpty && row.cursor == cursor
      }
      #expect(try Recording(path).frameCount >= 30, "what was recorded before the kill plays")
      return try ProcessFacts(capture.processID).descriptorCount
    }
    let descriptors = try round("first.mkv")
    #expect(try round("second.mp4") == descriptors)
    #expect(try round("third.mkv") == descriptors)
    let idle = ProcessFacts(capture.processID)
    let ticks = try idle.userTicks + idle.systemTicks
    sleep(until: .after(.seconds(1)))
    #expect(try idle.userTicks + idle.systemTicks - ticks <= 2)
    _ = try capture.end(with: SIGTERM)
    try sharedMemory.waitUntilEmpty()
  }

  @Test func nothingIsLeftBehindWhenAllProcessesAreKilled() throws {
    let sharedMemory = try OwnSharedMemory()
    let scene = try Scene(sharedMemory: sharedMemory)
    for _ in 1...3 {
      let capture = try scene.start("capture", "test", "--size=320x240")
      let upload = try scene.start("upload", "null")
      _ = try scene.waitForStream("frames flow") { $0.subscribers.contains { $0.received >= 10 } }
      capture.process.send(signal: SIGKILL)
      upload.process.send(signal: SIGKILL)
      _ = (try capture.finish(), try upload.finish())
      #expect(try scene.stream() == nil)
    }
    try sharedMemory.waitUntilEmpty()
    let left = FileManager.default.enumerator(atPath: scene.root.path)?.compactMap { $0 as? String }
    #expect(left?.filter { $0.contains("streams/") }.count == 2, "\(left ?? [])")
  }
}
