import AppGroup
import Capture
import Foundation
import FrameBus
import Platform
import Synchronization
import TestSupport
import Testing

/// `capture camera:` as a user runs it, before a camera whose driver's answers FakeCamera makes up.
/// VividTests run the same before a driver of the kernel.
@Suite struct CameraTests {
  @Test func driverWritesPicturesIntoTheSlotsThatSubscribersRead() throws {
    let world = try CameraWorld()
    let capture = try world.capture(["--json"], before: ["memory=userptr"])
    let pictures = try world.pictures(count: 15)
    let result = try capture.end(with: SIGINT)
    #expect(result.status == .exited(130), "\(result.errors)")
    #expect(result.output.contains("\"copies_per_frame\":0,"), "\(result.output)")
    #expect(pictures.allSatisfy { $0.firstLuma == $0.lastLuma })
    for (earlier, later) in zip(pictures, pictures.dropFirst()) {
      #expect(later.ptsNs > earlier.ptsNs)
    }
    #expect(Set(pictures.map(\.firstLuma)).count == pictures.count)
    // The driver's time, not that of the publication.
    #expect(pictures.allSatisfy { $0.capturedAtNs <= $0.receivedAtNs && $0.capturedAtNs > 0 })
    let journal = try world.journal()
    #expect(journal.contains("request userptr 4") && !journal.contains { $0.contains("mmap") })
    #expect(!journal.contains { $0.contains("wrong") || $0.contains("cannot") }, "\(journal)")
    #expect(journal.last == "stop" || journal.last == "request userptr 0")
  }

  @Test(arguments: [["memory=mmap"], ["lie=contiguous"]])
  func driverThatCannotWriteIntoSlotsCostsOneCopy(options: [String]) throws {
    let world = try CameraWorld()
    let capture = try world.capture(["--json"], before: options)
    let pictures = try world.pictures(count: 15)
    let result = try capture.end(with: SIGINT)
    #expect(result.status == .exited(130), "\(result.errors)")
    #expect(result.output.contains("\"copies_per_frame\":1,"), "\(result.output)")
    #expect(result.errors.contains("the driver “fake” cannot write into slots"))
    #expect(pictures.allSatisfy { $0.firstLuma == $0.lastLuma })
    #expect(Set(pictures.map(\.firstLuma)).count == pictures.count)
    #expect(try !world.journal().contains { $0.contains("wrong") })
  }

  /// Drivers of some boards describe each picture by planes (`…_MPLANE`), also if it has only one.
  @Test(arguments: [("userptr", 0), ("mmap", 1)])
  func driverWithPlanesIsCapturedAsOthersAre(memory: String, copies: Int) throws {
    let world = try CameraWorld()
    let capture = try world.capture(["--json"], before: ["planes=1", "memory=\(memory)"])
    let pictures = try world.pictures(count: 15)
    let result = try capture.end(with: SIGINT)
    #expect(result.status == .exited(130), "\(result.errors)")
    #expect(result.output.contains("\"copies_per_frame\":\(copies),"), "\(result.output)")
    #expect(pictures.allSatisfy { $0.firstLuma == $0.lastLuma })
    #expect(Set(pictures.map(\.firstLuma)).count == pictures.count)
    let journal = try world.journal()
    #expect(!journal.contains { $0.contains("wrong") || $0.contains("cannot") }, "\(journal)")
  }

  @Test(arguments: [
    ("pieces", "pictures in 2 pieces of memory"), ("offset", "64 bytes behind its beginning"),
    ("short", ""), ("long", ""),
  ])
  func driverWithPlanesThatLiesEndsNothingButItsOwnCapture(lie: String, why: String) throws {
    let world = try CameraWorld()
    let capture = try world.capture(
      ["--frames", "10", "--duration", why.isEmpty ? "2" : "100"],
      before: ["planes=1", "lie=\(lie)"])
    let subscriber = try? world.subscriber(waiting: .seconds(2))
    let result = try capture.finish()
    #expect(result.status == .exited(why.isEmpty ? 0 : 1), "\(result)")
    #expect(why.isEmpty || result.errors.contains(why), "\(result.errors)")
    withExtendedLifetime(subscriber) {}
  }

  @Test func driverWithoutUsableMemoryIsRefused() throws {
    let world = try CameraWorld()
    let capture = try world.capture(before: ["memory=none"])
    let subscriber = try world.subscriber()
    let result = try capture.finish()
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("can write neither into the slots (USERPTR)"))
    withExtendedLifetime(subscriber) {}
  }

  @Test func missingAndDamagedPicturesAreDropsAndAreNotPublished() throws {
    let world = try CameraWorld()
    let capture = try world.capture(["--json"], before: ["gap=5", "damage=4"])
    _ = try world.pictures(count: 15)
    let result = try capture.end(with: SIGINT)
    // For 15 whole pictures, the driver delivers 19: 3 follow a gap and 4 are damaged.
    #expect(try world.drops(of: result) >= 7, "\(result.output)")
  }

  @Test(arguments: [["memory=userptr"], ["memory=mmap"]])
  func picturesComeAsOftenAsSubscribersNeedThem(options: [String]) throws {
    let world = try CameraWorld()
    let capture = try world.capture(["--json"], before: options + ["fps=50"])
    var subscriber = try world.subscriber(needing: Demand(rate: FrameRate(5)))
    let times = try (0..<10).map { _ in try world.picture(from: &subscriber).ptsNs }
    // Three quarters of 9 intervals: a busy machine may be late for the first.
    #expect(times[9] - times[0] > 1_350_000_000, "\(times)")
    let result = try capture.end(with: SIGINT)
    #expect(result.status == .exited(130), "\(result.errors)")
    #expect(try world.drops(of: result) == 0, "\(result.output)")
    #expect(try !world.journal().contains { $0.contains("wrong") })
  }

  @Test func lastPictureBeforeAPauseIsPublished() throws {
    let world = try CameraWorld()
    let capture = try world.capture(before: ["unplug=2", "absences=1000", "fps=50"])
    var subscriber = try world.subscriber(needing: Demand(rate: FrameRate(4)))
    // Each of the two has its number as brightness.
    var luma = try world.picture(from: &subscriber).firstLuma
    while luma < 18 { luma = try world.picture(from: &subscriber).firstLuma }
    try capture.waitForErrors("the stream is paused until the camera is back")
    #expect(try capture.end(with: SIGINT).status == .exited(130))
  }

  @Test func deviceIsOpenOnlyWhileSomebodySubscribes() throws {
    let world = try CameraWorld()
    let capture = try world.capture()
    do {
      var subscriber = try world.subscriber()
      // Subscribing waits for the stream, which is there once the camera was looked at.
      _ = try world.picture(from: &subscriber)
    }
    try waitUntil("the camera stops") { try world.journal().last == "request userptr 0" }
    let starts = try world.journal().count { $0 == "start" }
    // The newest picture may still be an earlier one.
    let subscriber = try world.subscriber()
    try waitUntil("the camera starts again") {
      try world.journal().count { $0 == "start" } == starts + 1
    }
    withExtendedLifetime(subscriber) {}
    #expect(try capture.end(with: SIGINT).status == .exited(130))
  }

  @Test func unpluggedCameraPausesTheStreamUntilItIsBack() throws {
    let world = try CameraWorld()
    let capture = try world.capture(
      ["--control", "brightness=200"], before: ["unplug=10", "absences=3"])
    let events = CameraEvents()
    var subscriber = try world.subscriber { events.add($0) }
    var lastNs: Int64 = 0
    for _ in 0..<6 { lastNs = try world.picture(from: &subscriber).ptsNs }
    try capture.waitForErrors("the stream is paused until the camera is back: /dev/video77")
    try capture.waitForErrors("the camera is back")
    var isBack = false
    while !isBack {
      let picture = try world.picture(from: &subscriber)
      #expect(picture.ptsNs > lastNs && picture.firstLuma == picture.lastLuma)
      lastNs = picture.ptsNs
      // Ten were delivered before.
      isBack = picture.firstLuma > 16 + 12
    }
    _ = try capture.end(with: SIGINT)
    #expect(events.all.contains(.paused(.unavailable)) && events.all.contains(.resumed))
    let journal = try world.journal()
    let back = try #require(journal.firstIndex(of: "back"), "\(journal)")
    #expect(journal[..<back].contains("gone") && journal[..<back].contains("brightness 200"))
    // It may have lost what it was told.
    #expect(journal[back...].contains("brightness 200"), "\(journal)")
  }

  @Test func controlsAreSetAndChecked() throws {
    let world = try CameraWorld()
    let capture = try world.capture(["--control", "bright=200"])
    _ = try world.pictures(count: 1)
    #expect(try capture.end(with: SIGINT).status == .exited(130))
    #expect(try world.journal().contains("brightness 200"))
    for (control, text) in [
      ("brightness=256", "use 0 to 255"), ("brightness=x", "use 0 to 255"),
      ("zoom=1", "no such control; it has brightness"), ("brightness", "use NAME=VALUE"),
    ] {
      let refused = try world.capture(["--control", control]).finish()
      #expect([.exited(1), .exited(2)].contains(refused.status))
      #expect(refused.errors.contains(text), "\(refused.errors)")
    }
  }

  @Test func modeThatTheCameraLacksIsRefusedWithThoseThatItHas() throws {
    let world = try CameraWorld()
    for arguments in [["--size", "99x99"], ["--fps", "17"], ["--format", "nv12"]] {
      let refused = try world.capture(arguments).finish()
      #expect(refused.status == .exited(1))
      #expect(refused.errors.contains("it has yuyv 320x240 at 30"), "\(refused.errors)")
    }
    let missing = try run(
      "framebus", ["capture", "camera:/dev/null", "--root", world.root.path])
    #expect(missing.errors.contains("/dev/null is not a camera"), "\(missing.errors)")
  }

  /// A driver may take another mode than the one that it lists.
  @Test(arguments: [("size", ["--size", "320x240"]), ("rate", ["--fps", "30"])])
  func modeThatTheDriverReplacesIsRefusedIfItWasAskedFor(lie: String, options: [String]) throws {
    let world = try CameraWorld()
    let refused = try world.capture(options, before: ["lie=\(lie)"]).finish()
    #expect(refused.status == .exited(1), "\(refused)")
    #expect(refused.errors.contains(lie == "size" ? "160x240" : "15"), "\(refused.errors)")
    let taken = try world.capture(["--duration", "0.5"], before: ["lie=\(lie)"]).finish()
    #expect(taken.status == .exited(0), "\(taken)")
  }

  private static let setupLies: Set = [
    "stride", "narrow", "small", "huge", "zero", "other", "fields", "output",
  ]

  @Test(arguments: [
    "stride", "narrow", "small", "huge", "zero", "other", "fields", "count", "length", "memory",
    "index", "twice", "short", "long", "sequence", "future", "clock", "name", "endless", "range",
    "interval", "output",
  ])
  func driverThatLiesEndsNothingButItsOwnCapture(lie: String) throws {
    let world = try CameraWorld()
    let isSetup = Self.setupLies.contains(lie)
    let isFatal = isSetup || ["length", "memory", "index"].contains(lie)
    let capture = try world.capture(
      ["--frames", "10", "--duration", isFatal ? "100" : "4"],
      before: ["lie=\(lie)", ["length", "memory"].contains(lie) ? "memory=mmap" : "width=320"])
    var lastNs: Int64 = 0
    if !isSetup, var subscriber = try? world.subscriber() {
      while case .frame(let lease)? = try? subscriber.next(until: .after(.seconds(10))) {
        #expect(lease.metadata.ptsNs > lastNs)
        #expect(lease.metadata.capturedAtNs <= monotonicNowNs())
        lastNs = lease.metadata.ptsNs
      }
    }
    let result = try capture.finish()
    #expect([.exited(0), .exited(1)].contains(result.status), "\(result.status) \(result.errors)")
    // Half a picture is not published.
    #expect(lie != "short" || lastNs == 0)
    #expect(!isFatal || result.status == .exited(1) && lastNs == 0, "\(result.errors)")
    if isFatal {
      let why = lie == "output" ? "is not a camera" : "says what cannot be"
      #expect(result.errors.contains(why), "\(result.errors)")
    }
    #expect(!result.errors.contains("\u{1b}"))
  }

  /// A picture that waits for its turn keeps its buffer, which the driver does not have.
  @Test(arguments: ["userptr", "mmap"])
  func bufferThatTheDriverDoesNotHaveIsRefused(memory: String) throws {
    let world = try CameraWorld()
    let capture = try world.capture(before: ["lie=twice", "fps=50", "memory=\(memory)"])
    let subscriber = try world.subscriber(needing: Demand(rate: FrameRate(2)))
    let result = try capture.finish()
    #expect(result.status == .exited(1) && result.errors.contains("buffer 0"), "\(result)")
    withExtendedLifetime(subscriber) {}
  }

  /// Encoded pictures are read in the driver's memory.
  @Test(arguments: ["short", "long", "index", "length", "memory", "sequence", "other"])
  func encodedCameraThatLiesEndsNothingButItsOwnCapture(lie: String) throws {
    let world = try CameraWorld()
    let capture = try world.capture(
      ["--duration", "4"],
      before: world.picture(encoded: "MJPG", by: "jpegenc") + ["lie=\(lie)"])
    let subscriber = try? world.subscriber(waiting: .seconds(4))
    let result = try capture.finish()
    #expect([.exited(0), .exited(1)].contains(result.status), "\(result.status) \(result.errors)")
    if ["memory", "index", "other"].contains(lie) {
      #expect(result.errors.contains("says what cannot be"), "\(result.errors)")
    }
    withExtendedLifetime(subscriber) {}
  }

  /// Nothing but the capture ends, whatever bytes the driver answers with.
  @Test func driverWithRandomAnswersEndsNothingButItsOwnCapture() throws {
    for _ in 0..<8 {
      let seed = UInt32.random(in: 1...(.max))
      let world = try CameraWorld()
      let capture = try world.capture(
        ["--frames", "40", "--duration", "2"],
        before: ["seed=\(seed)", "fps=200", seed % 2 == 0 ? "memory=mmap" : "memory=userptr"])
      if var subscriber = try? world.subscriber(waiting: .milliseconds(500)) {
        while case .frame(let lease)? = try? subscriber.next(until: .after(.seconds(4))) {
          #expect(lease.metadata.capturedAtNs <= monotonicNowNs(), "seed=\(seed)")
        }
      }
      let result = try capture.finish()
      #expect([.exited(0), .exited(1)].contains(result.status), "seed=\(seed) \(result.errors)")
      #expect(!result.errors.contains("\u{1b}"), "seed=\(seed)")
    }
  }

  @Test(
    arguments: [
      ("MJPG", "jpegenc"), ("H264", "x264enc ! video/x-h264,stream-format=byte-stream"),
    ])
  func encodedPicturesAreDecodedByTheOtherProgram(encoding: String, encoder: String) throws {
    let world = try CameraWorld()
    let options = try world.picture(encoded: encoding, by: encoder) + ["lie=late"]
    let capture = try world.capture(
      ["--json", "--control", "brightness=7", "--orientation", "6"], before: options)
    let pictures = try world.pictures(count: 10)
    // Red, in the range of video or of JPEG.
    #expect(pictures.allSatisfy { abs(Int($0.firstLuma) - 78) < 8 }, "\(pictures)")
    for (earlier, later) in zip(pictures, pictures.dropFirst()) {
      #expect(later.ptsNs > earlier.ptsNs)
    }
    // The driver's time, which is two seconds ago, not that of the decoder.
    #expect(pictures.allSatisfy { Int64($0.capturedAtNs) == $0.ptsNs })
    #expect(pictures.allSatisfy { $0.receivedAtNs > $0.capturedAtNs + 1_900_000_000 })
    #expect(pictures.allSatisfy { $0.orientation.rawValue == 6 })
    let result = try capture.end(with: SIGINT)
    #expect(result.status == .exited(130), "\(result.errors)")
    #expect(result.output.contains("\"copies_per_frame\":0,"), "\(result.output)")
    let journal = try world.journal()
    #expect(journal.contains("brightness 7") && journal.contains("request mmap 4"))
    #expect(!journal.contains { $0.contains("wrong") }, "\(journal)")
  }

  @Test func lossesOfEncodedCameraAreCountedAndItIsUnpluggedAndBack() throws {
    let world = try CameraWorld()
    let capture = try world.capture(
      ["--json"],
      before: world.picture(encoded: "MJPG", by: "jpegenc") + [
        "gap=5", "damage=4", "unplug=20", "absences=2",
      ])
    var subscriber = try world.subscriber()
    var lastNs: Int64 = 0
    for _ in 0..<6 { lastNs = try world.picture(from: &subscriber).ptsNs }
    try capture.waitForErrors("the stream is paused until the camera is back: /dev/video77")
    try capture.waitForErrors("the camera is back")
    for _ in 0..<20 {
      let picture = try world.picture(from: &subscriber)
      #expect(picture.ptsNs > lastNs)
      lastNs = picture.ptsNs
    }
    let result = try capture.end(with: SIGINT)
    #expect(result.status == .exited(130), "\(result.errors)")
    // For 26 whole pictures, the driver delivers 34: 6 follow a gap and 8 are damaged.
    #expect(try world.drops(of: result) >= 14, "\(result.output)")
    #expect(try world.journal().contains("back"))
  }

  /// As a driver writes into the slots, and as it hands encoded pictures to a decoder.
  @Test(arguments: ["slots", "memory"])
  func thousandCyclesLeaveDescriptorsAndMemoryAsTheyWere(way: String) throws {
    let world = try CameraWorld()
    let options =
      way == "slots" ? ["memory=userptr"] : try world.picture(encoded: "MJPG", by: "jpegenc")
    let cycler = try RunningProgram(
      "FakeCamera",
      options + ["fps=5000", "--", try pathOfProgram("CameraCycler"), "/dev/video77", "1000"]
        + (way == "slots" ? [world.root.path, "240"] : []))
    let result = try cycler.finish()
    let lines = result.output.split(separator: "\n").map {
      $0.split(separator: " ").map { Int($0)! }
    }
    try #require(lines.count == 2, "\(result.errors)")
    #expect(lines[0][0] == lines[1][0], "descriptors: \(lines)")
    #expect(lines[0][1] == lines[1][1], "mappings: \(lines)")
    #expect(lines[1][2] - lines[0][2] < 1024, "kilobytes: \(lines)")
  }

  /// It ends as one that is silent, with the stream paused, and not the process.
  @Test func picturesThatCannotBeDecodedAreNotPublished() throws {
    let world = try CameraWorld()
    let file = world.root.file("picture")
    try Data((0..<50_000).map { _ in UInt8.random(in: 0...255) }).write(to: URL(filePath: file))
    let capture = try world.capture(before: ["encoding=MJPG", "picture=\(file)", "fps=200"])
    let result = try capture.finish()
    #expect(result.status == .exited(1), "\(result.errors)")
    #expect(result.errors.contains("error: "), "\(result.errors)")
  }

  @Test(.enabled(if: currentUserID() == 0, "only root can give a program its own /dev"))
  func camerasAreListedWithModesAndControls() throws {
    let world = try CameraWorld()
    let text = try world.run(["cameras"], before: [])
    #expect(
      text.output == """
        camera:/dev/video77: Fake Camera (fake, test:1)
          mode     yuyv 320x240 at 30
          control  brightness=0…255, is 128

        """, "\(text.errors)")
    let json = try world.run(["cameras", "--json"], before: [])
    #expect(json.output.contains("\"format\":\"yuyv\"") || json.output.contains("\"format\" :"))
    // By a part of its name, whatever its number.
    let named = try world.run(
      ["capture", "camera:fake cam", "--frames", "1", "--duration", "1"], before: [])
    #expect(named.status == .exited(0), "\(named.errors)")
    let unknown = try world.run(["capture", "camera:other"], before: [])
    #expect(unknown.errors.contains("there is no camera “other”"))
    #expect(unknown.errors.contains("camera:Fake Camera"))
  }
}

/// A subscriber's events.
private final class CameraEvents: Sendable {
  private let list = Mutex<[StreamEvent]>([])

  func add(_ event: StreamEvent) { list.withLock { $0.append(event) } }
  var all: [StreamEvent] { list.withLock { $0 } }
}

/// A group, and captures before a camera that is made up.
struct CameraWorld {
  let root: TemporaryRoot
  private let group: AppGroup

  init() throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(.local, root: root.path)
  }

  func capture(
    _ arguments: [String] = [], before camera: [String] = []
  ) throws -> RunningProgram {
    try start(["capture", "camera:/dev/video77"] + arguments, before: camera)
  }

  func run(_ arguments: [String], before camera: [String]) throws -> ProgramResult {
    try start(arguments, before: camera).finish()
  }

  private func start(_ arguments: [String], before camera: [String]) throws -> RunningProgram {
    try RunningProgram(
      "FakeCamera",
      camera + ["journal=\(root.file("journal"))", "--", try pathOfProgram("framebus")]
        + arguments + ["--root", root.path])
  }

  /// A camera with encoded pictures, each the same red one.
  func picture(encoded encoding: String, by encoder: String) throws -> [String] {
    let file = root.file("picture")
    try output(
      of: "gst-launch-1.0",
      "-q videotestsrc num-buffers=1 pattern=red ! video/x-raw,width=320,height=240 ! \(encoder)"
        .split(separator: " ").map(String.init) + ["!", "filesink", "location=\(file)"])
    return ["encoding=\(encoding)", "picture=\(file)"]
  }

  /// The pictures that a capture with `--json` counts as lost.
  func drops(of result: ProgramResult) throws -> Int {
    let text = result.output.split(separator: "\"missedDeadlines\":").last ?? ""
    return Int(text.prefix { $0.isNumber }) ?? 0
  }

  /// What the programs did with the camera.
  func journal() throws -> [String] {
    let path = root.file("journal")
    let file = try ReadableFile(path: path)
    let bytes = try file.bytes(at: 0, count: file.byteCount)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  func subscriber(
    of stream: String = "camera", waiting limit: Duration = .seconds(60),
    needing demand: Demand = .everything, onEvent: (@Sendable (StreamEvent) -> Void)? = nil
  ) throws -> Subscriber {
    var options = SubscriberOptions()
    options.onEvent = onEvent
    options.demand = demand
    options.policy = .keepLatest(2)
    return try Subscriber(
      StreamName(stream), in: group, options: options, waitingForPublisherUntil: .after(limit))
  }

  struct Picture {
    let firstLuma: UInt8
    let lastLuma: UInt8
    let ptsNs: Int64
    let capturedAtNs: UInt64
    let orientation: Orientation
    let receivedAtNs = monotonicNowNs()
  }

  func picture(from subscriber: inout Subscriber) throws -> Picture {
    guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(60))) else {
      throw HarnessError("no picture comes")
    }
    // SAFETY: the bytes are read while the lease holds them.
    let (first, last) = unsafe lease.withUnsafeBytes { bytes in
      unsafe (bytes[0], bytes[bytes.count - 2])
    }
    return Picture(
      firstLuma: first, lastLuma: last, ptsNs: lease.metadata.ptsNs,
      capturedAtNs: lease.metadata.capturedAtNs, orientation: lease.metadata.orientation)
  }

  func pictures(count: Int) throws -> [Picture] {
    var subscriber = try subscriber()
    var pictures: [Picture] = []
    while pictures.count < count { pictures.append(try picture(from: &subscriber)) }
    return pictures
  }
}
