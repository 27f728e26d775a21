import AppGroup
import Foundation
import FrameBus
import Platform
import Synchronization
import TestSupport

/// Gives a world, which lasts as long as the body runs, under a watchdog.
func withWorld(
  _ size: String = "320x240", from installation: String? = nil, what: String = #function,
  _ body: (WaylandWorld) throws -> Void
) throws {
  try withWatchdog(what) {
    let world = try WaylandWorld(size, from: installation)
    try withExtendedLifetime(world) { try body(world) }
  }
}

/// A Wayland session of its own, a group, and the program that captures an output into the group.
struct WaylandWorld {
  let root: TemporaryRoot
  let group: AppGroup
  let session: SwaySession
  let stream: StreamName

  init(_ size: String = "320x240", from installation: String? = nil) throws {
    session = try SwaySession(size, from: installation)
    root = try TemporaryRoot()
    group = try AppGroup.create(GroupID("org.example.test"), root: root.path)
    stream = try StreamName("screen")
  }

  /// Starts `framebus-capture`.
  func capture(
    _ arguments: String..., source: String = "wayland", environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(
      "framebus-capture",
      [source, "--root", root.path, "--group", "org.example.test"] + arguments,
      environment: session.environment.merging(environment) { _, new in new })
  }

  func subscriber(
    onEvent: (@Sendable (StreamEvent) -> Void)? = nil
  ) throws -> Subscriber {
    var options = SubscriberOptions()
    options.start = .newest
    options.onEvent = onEvent
    return try Subscriber(
      stream, in: group, options: options, waitingForPublisherUntil: .after(.seconds(60)))
  }

  /// The error with which a capture fails.
  func failure(
    _ arguments: String..., source: String = "wayland", environment: [String: String?] = [:]
  ) throws -> String {
    let result = try RunningProgram(
      "framebus",
      ["capture", source, "--root", root.path, "--group", "org.example.test"] + arguments,
      environment: session.environment.merging(environment) { _, new in new }
    ).finish()
    guard !result.status.isSuccess else { throw HarnessError("the capture did not fail") }
    return result.errors
  }
}

/// A frame, copied from its lease, as a viewer shows it.
struct Picture {
  let width: Int
  let height: Int
  /// 0xRRGGBB, upright, row by row.
  let pixels: [UInt32]
  let orientation: Orientation
  let damage: DamageRegion

  init(_ lease: borrowing FrameLease) {
    let format = lease.format
    let orientation = lease.metadata.orientation
    let stride = format.planes[0].stride
    let (columns, rows) = (format.width, format.height)
    let sides = orientation.swapsSides ? (rows, columns) : (columns, rows)
    // SAFETY: the bytes are read while the lease lives.
    pixels = unsafe lease.withUnsafeBytes { bytes in
      var pixels = [UInt32](repeating: 0, count: columns * rows)
      for row in 0..<rows {
        for column in 0..<columns {
          let place = orientation.upright(
            PixelRect(x: column, y: row, width: 1, height: 1), width: columns, height: rows)
          pixels[place.y * sides.0 + place.x] =
            unsafe bytes.loadUnaligned(fromByteOffset: row * stride + column * 4, as: UInt32.self)
            & 0xFF_FFFF
        }
      }
      return pixels
    }
    (width, height) = sides
    self.orientation = orientation
    damage = lease.damage
  }

  subscript(x: Int, y: Int) -> UInt32 { pixels[y * width + x] }

  /// Whether it is what an independent program saw.
  func equals(_ grab: (width: Int, height: Int, pixels: [UInt8])) -> Bool {
    guard (width, height) == (grab.width, grab.height) else { return false }
    return pixels.indices.allSatisfy { index in
      let bytes = grab.pixels[index * 3..<index * 3 + 3].map(UInt32.init)
      return pixels[index] == bytes.reduce(0) { $0 << 8 | $1 }
    }
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
      guard let frame = try take() else { continue }
      if try isWanted(frame) { return frame }
      last = "\(frame.width)x\(frame.height), \(String(frame[0, 0], radix: 16)) at its corner"
    }
    throw HarnessError("no such frame came; the last is \(last)")
  }
}

extension Subscriber {
  /// Receives until the publisher ends the stream.
  mutating func ending() throws -> FinishReason {
    let deadline = Deadline.after(.seconds(90))
    while !deadline.isPast {
      if case .finished(let reason) = try next(until: .after(.seconds(1))) { return reason }
    }
    throw HarnessError("the stream does not end")
  }
}

/// A subscriber's events.
final class StreamEvents: Sendable {
  private let list = Mutex<[StreamEvent]>([])

  func add(_ event: StreamEvent) { list.withLock { $0.append(event) } }
  var all: [StreamEvent] { list.withLock { $0 } }
}
