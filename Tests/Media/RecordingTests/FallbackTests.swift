import Foundation
import Platform
import TestSupport
import Testing

@testable import Recording

/// Recording where fast writing is unavailable, or the disk is full.
@Suite struct FallbackTests {
  private static let frameBytes = 320 * 200 * 4

  @Test(arguments: [
    ("ring", "io_uring is unavailable (Operation not permitted)"),
    ("direct", "the file system does not support direct writes"),
  ])
  func refusedFeatureIsReportedOnceAndReplaced(refusal: String, words: String) throws {
    let studio = try Studio()
    let worker = try studio.worker("lossless=1", "frames=60", "depth=4", "wait=1", "intervalUs=0")
    let recorder = try RunningProgram(
      "/usr/bin/python3",
      [Self.forbid, refusal, try pathOfProgram("framebus")]
        + ["record", "screen", studio.file("a.rec"), "--json"],
      environment: ["FRAMEBUS_HOME": studio.root.path])
    let result = try recorder.finish()
    try worker.finish()
    #expect(result.status == .exited(0), "\(result.errors)")
    #expect(result.errors.components(separatedBy: words).count == 2, "\(result.errors)")
    let figures = try studio.recordedFigures(recorder)
    #expect(figures.usesRing == (refusal != "ring"))
    if refusal == "direct" { #expect(!figures.isDirect) }
    #expect(figures.frames == 60)
    let bytes = try studio.run("play", "--raw", studio.file("a.rec")).output.bytes
    let numbers = stride(from: 0, to: bytes.count, by: Self.frameBytes).map {
      number(of: bytes[$0..<$0 + Self.frameBytes])
    }
    #expect(numbers == (1...60).map { UInt64($0) })
  }

  @Test func fullDiskEndsTheRecordingWithCompleteFrames() throws {
    let studio = try Studio()
    let worker = try studio.worker("lossless=1", "depth=4", "wait=1", "intervalUs=0", "stallMs=100")
    let framebus = try pathOfProgram("framebus")
    // A file system of 8 MiB, in its own namespace.
    let small = studio.file("small")
    let script = """
      mkdir \(small) && mount -t tmpfs -o size=8m tmpfs \(small) || exit 77
      \(framebus) record screen \(small)/a.rec; status=$?
      \(framebus) play --raw \(small)/a.rec > \(studio.file("played")); exit $status
      """
    let recorder = try RunningProgram(
      "unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script],
      environment: ["FRAMEBUS_HOME": studio.root.path])
    let result = try recorder.finish()
    try worker.end(with: SIGKILL)
    #expect(result.status == .exited(1), "\(result.errors)")
    #expect(result.errors.contains("No space left on device; the frames before are complete"))
    let played = [UInt8](try Data(contentsOf: URL(fileURLWithPath: studio.file("played"))))
    let count = played.count / Self.frameBytes
    #expect(count >= 25)
    #expect(played.count == count * Self.frameBytes)
    for index in 0..<count {
      let frame = played[index * Self.frameBytes..<(index + 1) * Self.frameBytes]
      #expect(number(of: frame) != nil)
    }
  }

  @Test(arguments: ["/dev/null", "/nowhere/a.rec", "/proc/a.rec"])
  func pathThatIsNotAFileIsRefused(path: String) throws {
    let studio = try Studio()
    let worker = try studio.worker()
    let result = try studio.start(["record", "screen", path]).finish()
    try worker.end(with: SIGKILL)
    #expect(result.status == .exited(1))
    #expect(result.errors.hasPrefix("error: open \(path): "))
  }

  private static let forbid = tool("forbid_calls.py")
}
