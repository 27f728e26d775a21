import Foundation
import Platform
import TestSupport
import Testing

/// Zero copies, as measured from outside: by a preloaded library that counts calls of memcpy and
/// memmove, and by the kernel's counts of bytes read and written.
@Suite(.serialized) struct CopyTests {
  @Test(arguments: [["null"], ["file", "mkv"]])
  func noFrameIsCopiedBetweenGrabAndFirstConvertingElement(_ kind: [String]) throws {
    let counter = try CopyCounter()
    let screen = try VirtualScreen(width: 1280, height: 720)
    let witness = try Witness(on: screen)
    let scene = try Scene()
    let capture = try scene.start(
      "capture", "screen\(screen.display)", "--no-cursor", environment: counter.environment)
    _ = try scene.waitForStream("capture is there") { _ in true }
    let destination = kind == ["null"] ? "null" : "file:\(scene.file("out.mkv"))"
    let upload = try scene.start(
      ["upload", destination, "--json"], environment: counter.environment)
    // Their exec keeps the process ID; the bytes read before the first frame are the linker's work.
    _ = try scene.waitForStream("frames flow") { $0.subscribers.contains { $0.received >= 10 } }
    let captureFacts = ProcessFacts(capture.processID)
    let uploadFacts = ProcessFacts(upload.processID)
    let before = [
      try captureFacts.readBytes, try captureFacts.writtenBytes, try uploadFacts.readBytes,
    ]
    _ = try scene.waitForStream("40 more frames are through") { row in
      row.subscribers.contains { $0.received >= 50 }
    }
    let after = [
      try captureFacts.readBytes, try captureFacts.writtenBytes, try uploadFacts.readBytes,
    ]
    for (earlier, later) in zip(before, after) {
      // 40 frames have 147 MB; X replies, events and bells have a few hundred bytes a frame.
      #expect(later - earlier < 640 * 1024, "\(later - earlier) bytes through the kernel")
    }
    #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
    _ = try capture.end(with: SIGTERM)

    let captureCopies = try counter.counts(of: capture.processID)
    let uploadCopies = try counter.counts(of: upload.processID)
    #expect(captureCopies.large == 0, "the largest has \(captureCopies.largestBytes) bytes")
    #expect(uploadCopies.outOfPool == 0, "the largest has \(uploadCopies.largestBytes) bytes")
    if kind == ["null"] { #expect(uploadCopies.large == 0) }
    withExtendedLifetime(witness) {}
  }

  @Test func copyCounterDetectsACopy() throws {
    let counter = try CopyCounter()
    let screen = try VirtualScreen(width: 640, height: 360)
    let witness = try Witness(on: screen)
    let scene = try Scene()
    // The isolated backend grabs into private memory and copies once, as documented.
    let capture = try scene.start(
      "capture", "screen\(screen.display)", "--isolate", "--no-cursor", "--frames=5",
      environment: counter.environment)
    _ = try scene.waitForStream("capture is there") { _ in true }
    let upload = try scene.start("upload", "null")
    #expect(try capture.finish().status == .exited(0))
    let copies = try counter.counts(of: capture.processID)
    #expect(copies.outOfPool >= 5)
    _ = try upload.finish()
    withExtendedLifetime(witness) {}
  }
}

/// Tests/Tools/copy_counter.c, compiled and preloaded.
struct CopyCounter {
  private let root = Result { try TemporaryRoot() }
  private let library: String
  private let record: String

  struct Counts {
    let large: UInt64
    let outOfPool: UInt64
    let largestBytes: UInt64
  }

  init() throws {
    let root = try root.get()
    library = root.file("copy_counter.so")
    record = root.file("counts")
    try output(
      of: "cc",
      ["-shared", "-fPIC", "-O1", "-fno-builtin", "-o", library, tool("copy_counter.c"), "-ldl"])
  }

  var environment: [String: String?] { ["LD_PRELOAD": library, "COPY_COUNTER": record] }

  func counts(of processID: Int32) throws -> Counts {
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(record).\(processID)"))
    // SAFETY: the file is one page, as the library created it.
    let words = unsafe data.prefix(24).withUnsafeBytes { bytes in
      (0..<3).map { unsafe bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
    }
    return Counts(large: words[0], outOfPool: words[1], largestBytes: words[2])
  }
}
