import Foundation
import TestSupport
import Testing

/// Copies, counted from outside, and what many changes leave behind.
@Suite(.serialized) struct ResourceTests {
  private let scene: PluginScene
  init() throws { scene = try PluginScene() }

  /// Rows are longer than the 64 KiB from which copy_counter.c counts, because elements copy
  /// pictures by rows.
  private static let wide = "video/x-raw,format=BGRx,width=16640,height=36,framerate=60/1"

  /// - Returns: copies of large pieces into a pool or out of one: the publisher's, the receiver's.
  private func copies(sink options: String) throws -> [UInt64] {
    let library = scene.file("copy_counter.so")
    let record = scene.file("counts")
    try output(
      of: "cc",
      ["-shared", "-fPIC", "-O1", "-fno-builtin", "-o", library, tool("copy_counter.c"), "-ldl"])
    let counting: [String: String?] = ["LD_PRELOAD": library, "COPY_COUNTER": record]
    let receiver = try scene.launch(
      "framebussrc stream=a num-buffers=30 ! queue ! fakesink", with: counting)
    let sender = try scene.launch(
      "videotestsrc is-live=true ! \(Self.wide) ! framebussink stream=a \(options)",
      with: counting)
    #expect(try receiver.finish().status.isSuccess, "\(receiver.transcript)")
    #expect(try sender.end(with: SIGINT).status.isSuccess, "\(sender.transcript)")
    return try [sender, receiver].map { program in
      let data = try Data(contentsOf: URL(fileURLWithPath: "\(record).\(program.processID)"))
      return data.dropFirst(8).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  @Test func noElementCopiesAFrame() throws {
    #expect(try copies(sink: "") == [0, 0])
  }

  @Test func copyCounterDetectsTheCopyOfASink() throws {
    let counts = try copies(sink: "enable-last-sample=true")
    #expect(counts[0] >= 30 * 36)
    #expect(counts[1] == 0)
  }

  private struct Resources {
    var values: [String: Int] = [:]
    init(_ line: String) {
      for word in line.split(separator: " ").dropFirst() {
        let parts = word.split(separator: "=")
        if parts.count == 2 { values[String(parts[0])] = Int(parts[1]) }
      }
    }
  }

  /// Runs a command of the harness under GStreamer's own tracer of leaks.
  private func run(_ command: String, _ count: Int) throws -> (output: [String], leaks: [String]) {
    let program = try scene.harness(
      command, count,
      with: ["GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1"])
    let result = try program.finish(within: .seconds(500))
    #expect(result.status.isSuccess, "\(result.output)")
    let leaks = result.errors.split(separator: "\n").filter { $0.contains(" object-alive, type-") }
      .filter { !$0.contains("new format string") }
    return (result.output.split(separator: "\n").map(String.init), leaks.map(String.init))
  }

  @Test(arguments: [("change-caps", 10_000), ("change-states", 1000)])
  func manyChangesLeaveNothingBehind(_ command: String, _ count: Int) throws {
    let (lines, leaks) = try run(command, count)
    #expect(leaks == [])
    let before = Resources(try #require(lines.first { $0.hasPrefix("before") })).values
    let after = Resources(try #require(lines.first { $0.hasPrefix("after") })).values
    // The threads of a publisher that ended a moment ago still close what they had; a leak would
    // leave hundreds.
    let limits = [("descriptors", 10), ("threads", 10), ("mappings", 20), ("resident", 4096)]
    for (name, most) in limits {
      let (first, last) = (try #require(before[name]), try #require(after[name]))
      #expect(last <= first + most, "\(name): \(first), then \(last)")
    }
  }

  @Test func leakTracerDetectsALeak() throws {
    #expect(try run("leak", 0).leaks.count == 1)
  }
}
