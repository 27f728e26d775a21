#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  @testable import UploadGStreamer

  @Suite struct RetryTests {
    /// A server may accept each connection and close it.
    @Test func backoffGrowsUntilAConnectionHasWorkedForSomeTime() throws {
      var schedule = RetrySchedule(
        for: .seconds(120), first: .seconds(10), provenTime: .seconds(60))
      let pauses = (1...4).map { _ in schedule.fail(hadWorked: true) ?? .zero }
      for (pause, least) in zip(pauses, [375, 750, 1500, 3000]) {
        #expect(pause >= .milliseconds(least))
      }
      var proven = RetrySchedule(for: .seconds(120), first: .seconds(10), provenTime: .zero)
      for _ in 1...4 {
        let pause = proven.fail(hadWorked: true)
        #expect(pause != nil && pause! <= .milliseconds(500))
        // The next attempt is due.
        #expect(proven.wait(until: .after(.seconds(5)), stop: nil))
      }
    }

    /// Its retry limit is that of a peer that was reached, and ends.
    @Test func peerThatNeverWorksForLongIsGivenUp() {
      var schedule = RetrySchedule(
        for: .seconds(50), first: .seconds(10), provenTime: .seconds(600))
      let firstNs = monotonicNowNs()
      #expect(schedule.fail(hadWorked: true, nowNs: firstNs) != nil)
      #expect(schedule.fail(hadWorked: true, nowNs: firstNs + 49_999_999_999) != nil)
      #expect(schedule.fail(hadWorked: true, nowNs: firstNs + 50_000_000_000) == nil)
    }

    /// The next attempt is seconds away when the publisher ends.
    @Test func uploadThatCannotConnectEndsWithItsPublisher() throws {
      try withWatchdog {
        let root = try TemporaryRoot()
        let port = try OwnPort()
        let capture = try RunningProgram(
          "framebus", ["capture", "test", "--size", "64x48", "--root", root.path])
        let upload = try RunningProgram(
          "framebus",
          [
            "upload", "whip:http://127.0.0.1:\(port.number)/x", "--allow-http", "--retry-for",
            "600",
            "--root", root.path,
          ])
        // The fifth pause has at least six seconds.
        try waitUntil("five attempts have failed: \(upload.transcript)") {
          upload.errors.text.components(separatedBy: "trying again in").count > 5
        }
        try capture.end(with: SIGTERM)
        let result = try upload.finish()
        #expect(result.status == .exited(1), "\(result.errors)")
        #expect(
          result.errors.components(separatedBy: "trying again in").count == 6, "\(result.errors)")
      }
    }
  }
#endif
