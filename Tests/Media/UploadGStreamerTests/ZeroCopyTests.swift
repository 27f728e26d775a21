#if Media
  import AppGroup
  import FrameBus
  import Foundation
  import Platform
  import TestSupport
  import Testing
  import Upload
  import UploadGStreamer

  /// GStreamer reads the publisher's slot, mapped read-only, and pins no more slots than the
  /// subscriber requested.
  @Suite struct ZeroCopyTests {
    @Test(arguments: ["XR24:640x480", "YU12:640x480", "XR24:641x481"])
    func frameEntersGStreamerInMappedPool(shape: String) throws {
      let bench = try Bench()
      let group = try AppGroup.open(.local, root: bench.root.path)
      let publisher = try bench.publish("live", "\(shape):300:10000")
      let destination = try WatchedDestination(path: bench.file("out.mkv"))
      let runner = UploadRunner(
        UploadPlan(stream: try StreamName("screen")), to: destination, in: group,
        stop: try StopSignal())
      let summary = try withWatchdog { try runner.run() }
      #expect(summary.progress.frames > 10)
      #expect(!destination.entries.isEmpty)
      for (address, mapping) in destination.entries {
        #expect(destination.slots.contains(address))
        #expect(mapping?.contains("r--s") == true && mapping?.contains("/memfd:") == true)
      }
      try publisher.finish()
    }

    @Test func heldSlotsStayWithinDestinationsLimit() throws {
      let bench = try Bench()
      let uploader = try bench.upload("file:\(bench.file("out.mkv"))")
      let publisher = try bench.publish("lossless", "XR24:640x360:200:16667")
      var most = 0
      while uploader.process.status == nil {
        let result = try run("framebus", ["streams", "--json", "--root", bench.root.path])
        guard result.status.isSuccess, let held = Self.held(result.output) else { continue }
        most = max(most, held)
      }
      #expect(try uploader.finish().status == .exited(0))
      // Two in the pipeline and the one just received.
      #expect((1...3).contains(most))
      try publisher.finish()
    }

    private static func held(_ json: String) -> Int? {
      let streams = try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
      let subscribers = streams?.first?["subscribers"] as? [[String: Any]]
      return subscribers?.first?["held"] as? Int
    }
  }

  /// A file destination that records the addresses of frames, before and in GStreamer.
  private final class WatchedDestination: Destination {
    private let file: EncodingDestination
    private(set) var slots: Set<UInt> = []
    private(set) var entries: [UInt: String?] = [:]

    init(path: String) throws {
      file = try EncodingDestination(path: path, encoder: EncoderSettings())
    }

    var output: String { file.output }
    var heldFrames: Int { file.heldFrames }
    let wantsRepeatedFrames = false
    var byteCount: UInt64 { file.byteCount }

    func prepare() throws(DestinationError) { try file.prepare() }

    func waitForRoom(
      until deadline: Deadline, stop: StopSignal?
    ) throws(DestinationError) -> Bool {
      try file.waitForRoom(until: deadline, stop: stop)
    }

    func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
      // SAFETY: the address is only compared, never dereferenced.
      let address = unsafe frame.lease.withUnsafeBytes { bytes in
        unsafe bytes.baseAddress.map { UInt(bitPattern: $0) } ?? 0
      }
      slots.insert(address)
      try file.accept(frame, ptsNs: ptsNs)
      let entry = file.entryAddress
      if entry != 0, entries[entry] == nil { entries[entry] = mapping(at: entry) }
    }

    func finish() throws(DestinationError) { try file.finish() }
    func abandon() { file.abandon() }

    /// The line of /proc/self/maps that contains the address.
    private func mapping(at address: UInt) -> String? {
      (try? ProcessFacts.own.mappings)?.first { line in
        let bounds = line.prefix { $0 != " " }.split(separator: "-")
          .compactMap { UInt($0, radix: 16) }
        return bounds.count == 2 && address >= bounds[0] && address < bounds[1]
      }
    }
  }
#endif
