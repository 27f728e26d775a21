#if Media
  import Capture
  import Foundation
  import FrameBus
  import Platform
  import TestSupport
  import Testing

  /// A stream goes from a group to one of another network, over a link that delays and loses
  /// packets, and is compared with what was drawn.
  @Suite struct LoopbackTests {
    /// A picture as a subscriber of the far group received it.
    fileprivate struct Received {
      let mark: TestPatternMark
      let ptsNs: Int64
      let isWhite: Bool
      let ageMs: Int64
    }

    @Test func streamCrossesALossyLink() throws {
      try withWatchdog {
        let (near, far) = (try NetworkBench(), try NetworkBench())
        let secret = "loop-back-passphrase"
        try near.seal(secret, "srt", "loop", for: "extension")
        try far.seal(secret, "srt", "loop")
        let link = try NetworkNamespace(slowLink: ["delay=20", "loss=0.02"])
        let address = "srt://\(link.address):9000"
        let capture = try link.start(
          "framebus",
          [
            "capture", "\(address)?mode=listener&latency=1500", "--secret", "srt/loop", "--root",
            far.root.path,
          ], environment: ["FRAMEBUS_GROUP": nil])
        try capture.waitForErrors("waits for a sender")
        let drawn = try near.capture("test:flash", "--size", "320x240", "--fps", "25")
        let beeps = try near.capture("beep:1000")
        let upload = try RunningProgram(
          "framebus",
          [
            "upload", "\(address)?latency=1500", "--secret", "srt/loop", "--stream", "screen",
            "--stream", "audio.app", "--root", near.root.path,
          ], environment: ["FRAMEBUS_GROUP": nil])
        var pictures = try far.subscriber()
        var sound = try far.subscriber(to: "audio.app")
        var received: [Received] = []
        var loud: [Int64] = []
        let end = Deadline.after(.seconds(12))
        while !end.isPast {
          if case .frame(let lease) = try pictures.next(until: .after(.milliseconds(20))) {
            received += [Received(lease)].compactMap(\.self)
          }
          while case .frame(let lease) = try sound.next(until: .now) {
            if lease.loudness > 3_000 { loud.append(lease.metadata.ptsNs) }
          }
        }
        #expect(received.count > 100, "\(capture.transcript) \(upload.transcript)")
        expectOrder(received)
        expectTimes(received)
        try expectSync(received, loud)
        let ages = received.map(\.ageMs).sorted()
        print("glass to glass: \(ages[ages.count / 2]) ms p50, \(ages[ages.count * 99 / 100]) p99")
        #expect(ages.allSatisfy { $0 >= 1450 }, "\(ages)")
        for program in [upload, drawn, beeps] { try program.end(with: Signal.terminate) }
        #expect(try capture.end(with: Signal.terminate).status != .exited(1))
        #expect(try link.lostCount() > 0)
      }
    }

    /// Each number comes once and in order; a busy machine may leave out some.
    private func expectOrder(_ received: [Received]) {
      let numbers = received.map { Int($0.mark.sequence) }
      #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(numbers)")
      let missing = (numbers.last ?? 0) - (numbers.first ?? 0) + 1 - numbers.count
      print("pictures: \(numbers.count) received, \(missing) missing")
      #expect(missing < numbers.count / 2)
    }

    /// The distances of the pictures' times are those at which they were drawn; a mark has whole
    /// milliseconds.
    private func expectTimes(_ received: [Received]) {
      let errors = zip(received, received.dropFirst()).map { earlier, later in
        let drawnMs = Int64(later.mark.milliseconds) - Int64(earlier.mark.milliseconds)
        return (later.ptsNs - earlier.ptsNs - drawnMs * 1_000_000).magnitude
      }.sorted()
      print(
        "error of time stamps: \(errors[errors.count / 2] / 1000) µs p50, "
          + "\((errors.last ?? 0) / 1000) µs at most")
      #expect(errors[errors.count / 2] <= 2_000_000, "\(errors)")
    }

    /// A beep begins with each flash.
    private func expectSync(_ received: [Received], _ loud: [Int64]) throws {
      let flashes = zip(received, received.dropFirst()).compactMap { earlier, later in
        !earlier.isWhite && later.isWhite ? later.ptsNs : nil
      }
      let beeps = loud.enumerated().filter { index, ptsNs in
        index == 0 || ptsNs - loud[index - 1] > 300_000_000
      }.map(\.element)
      // A busy machine may draw a flash late, but never a beep: the closest pair counts.
      let skews = flashes.flatMap { flash in beeps.map { $0 - flash } }
      let skewNs = try #require(skews.min { $0.magnitude < $1.magnitude })
      print("sound is \(skewNs / 1_000_000) ms behind the pictures")
      #expect(skewNs.magnitude < 60_000_000)
    }
  }

  extension LoopbackTests.Received {
    fileprivate init?(_ lease: borrowing FrameLease) {
      guard let mark = TestPatternMark(format: lease.format, bytes: lease.bytes) else { return nil }
      self.mark = mark
      ptsNs = lease.metadata.ptsNs
      let middle = lease.format.height / 2 * lease.format.planes[0].stride + 160
      // SAFETY: any byte is a valid UInt8; the load itself is bounds-checked.
      isWhite = unsafe lease.bytes.unsafeLoad(fromByteOffset: middle, as: UInt8.self) > 128
      let nowMs = UInt32(truncatingIfNeeded: monotonicNowNs() / 1_000_000)
      ageMs = Int64(nowMs &- mark.milliseconds)
    }
  }
#endif
