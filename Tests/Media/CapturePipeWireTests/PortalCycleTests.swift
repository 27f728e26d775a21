import Foundation
import Platform
import TestSupport
import Testing

@Suite(.enabled(if: PipeWireSession.isAvailable, "\(PipeWireSession.need)"))
struct PortalCycleTests {
  /// What is made for one capture ends with it. FRAMEBUS_PORTAL_CYCLES says how often.
  @Test func capturesLeaveNoDescriptorsAndNoMemory() throws {
    let count = environmentValue("FRAMEBUS_PORTAL_CYCLES").flatMap(Int.init) ?? 250
    try withWatchdog(after: .seconds(120 + count)) {
      let world = try PortalWorld()
      let portal = try world.portal("steady")
      let producer = try world.producer()
      defer {
        portal.end()
        producer.end()
      }
      let cycler = try world.session.start(
        "PortalCycler", [world.root.path, "org.example.test", "\(count)"])
      let result = try cycler.finish(within: .seconds(100 + count))
      #expect(result.status == .exited(0), "\(result.output)\(result.errors)")
      let figures = result.output.split(separator: "\n").map {
        $0.split(separator: " ").compactMap { Int($0) }
      }
      try #require(figures.count == 2 && figures.allSatisfy { $0.count == 4 }, "\(result.output)")
      print("\(count) cycles: descriptors, mappings, threads, KiB: \(figures)")
      let (early, late) = (figures[0], figures[1])
      // The directory's own descriptor, and a subscriber that has not left yet, come and go.
      #expect(abs(late[0] - early[0]) <= 8, "descriptors \(figures)")
      #expect(abs(late[1] - early[1]) <= 24, "mappings \(figures)")
      #expect(abs(late[2] - early[2]) <= 2, "threads \(figures)")
      // A leak of a picture's description alone would be a KiB a cycle.
      #expect(late[3] - early[3] < 1024 + count / 4, "memory \(figures)")
    }
  }
}
