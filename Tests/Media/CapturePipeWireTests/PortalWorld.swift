import AppGroup
import Foundation
import FrameBus
import Platform
import Synchronization
import TestSupport
import Testing

/// A session without a desktop, a portal for one node, and the program that captures into a group.
struct PortalWorld {
  let session: PipeWireSession
  let root: TemporaryRoot
  let group: AppGroup
  let stream: StreamName

  init(hasManager: Bool = true) throws {
    session = try PipeWireSession(hasManager: hasManager)
    root = try TemporaryRoot()
    group = try AppGroup.create(GroupID("org.example.test"), root: root.path)
    stream = try StreamName("screen")
  }

  /// Starts a portal (Tests/Tools/fake_portal.py).
  func portal(_ fault: String = "") throws -> CommandedProgram {
    let portal = try CommandedProgram(
      "/usr/bin/python3", [tool("fake_portal.py"), "picture", fault],
      environment: session.environment)
    try portal.program.waitForOutput("ready\n")
    return portal
  }

  /// Starts the node that the portal offers (Tests/Programs/PictureSource).
  func producer(
    _ memory: String = "sealed", size: String = "64x48"
  ) throws -> CommandedProgram {
    let producer = try CommandedProgram(
      "PictureSource", ["picture", size, memory], environment: session.environment)
    try producer.program.waitForOutput("paused")
    return producer
  }

  /// Starts `framebus-capture`.
  func capture(
    _ arguments: String..., source: String = "portal", environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(
      "framebus-capture",
      [source, "--root", root.path, "--group", "org.example.test"] + arguments,
      environment: session.environment.merging(environment) { _, new in new })
  }

  /// Expects that a capture fails with an error that contains a text.
  func expectFailure(
    _ text: String, _ arguments: String..., source: String = "portal",
    environment: [String: String?] = [:], note: String = ""
  ) throws {
    let result = try RunningProgram(
      "framebus-capture",
      [source, "--root", root.path, "--group", "org.example.test"] + arguments,
      environment: session.environment.merging(environment) { _, new in new }
    ).finish()
    #expect(
      !result.status.isSuccess && result.errors.contains(text),
      "\(note) \(result.status): \(result.errors)")
  }

  func subscriber(onEvent: (@Sendable (StreamEvent) -> Void)? = nil) throws -> Subscriber {
    var options = SubscriberOptions()
    options.start = .newest
    options.onEvent = onEvent
    return try Subscriber(
      stream, in: group, options: options, waitingForPublisherUntil: .after(.seconds(60)))
  }
}

/// A frame, copied from its lease.
struct Picture {
  let width: Int
  let height: Int
  /// 0xRRGGBB, row by row.
  let pixels: [UInt32]
  let damage: DamageRegion
  let ptsNs: Int64
  let orientation: Orientation

  init(_ lease: borrowing FrameLease) {
    let format = lease.format
    (width, height) = (format.width, format.height)
    let (columns, rows, stride) = (format.width, format.height, format.planes[0].stride)
    // SAFETY: the bytes are read while the lease lives.
    pixels = unsafe lease.withUnsafeBytes { bytes in
      var pixels: [UInt32] = []
      for row in 0..<rows {
        for column in 0..<columns {
          pixels.append(
            unsafe bytes.loadUnaligned(fromByteOffset: row * stride + column * 4, as: UInt32.self)
              & 0xFF_FFFF)
        }
      }
      return pixels
    }
    damage = lease.damage
    ptsNs = lease.metadata.ptsNs
    orientation = lease.metadata.orientation
  }

  subscript(x: Int, y: Int) -> UInt32 { pixels[y * width + x] }

  /// The number of a picture that has one number in all pixels; nil for another one.
  var number: UInt32? {
    pixels.allSatisfy { $0 == pixels[0] } ? pixels[0] : nil
  }
}

extension Subscriber {
  /// The next frame; nil if none arrived in time or the stream ended.
  mutating func take(within limit: Duration = .seconds(30)) throws -> Picture? {
    switch try next(until: .after(limit)) {
    case .frame(let lease): Picture(lease)
    default: nil
    }
  }

  /// Receives frames until one matches; the watchdog is the deadline.
  @discardableResult
  mutating func take(where isWanted: (Picture) throws -> Bool) throws -> Picture {
    let deadline = Deadline.after(.seconds(90))
    var last = "none"
    while !deadline.isPast {
      guard let picture = try take(within: .seconds(1)) else { continue }
      if try isWanted(picture) { return picture }
      last = "\(picture.width)x\(picture.height), \(picture[0, 0]) at its corner"
    }
    throw HarnessError("no such frame came; the last is \(last)")
  }
}

/// A subscriber's events.
final class StreamEvents: Sendable {
  private let list = Mutex<[StreamEvent]>([])

  func add(_ event: StreamEvent) { list.withLock { $0.append(event) } }
  var all: [StreamEvent] { list.withLock { $0 } }
  func count(_ event: StreamEvent) -> Int { all.filter { $0 == event }.count }
}
