import AppGroup
import FrameBus
import Platform
import TestSupport

/// A group in a temporary root, and short ways to make both sides of a stream in it.
struct World {
  let root: TemporaryRoot
  let group: AppGroup
  let stream: StreamName

  static let groupName = "org.example.test"

  init(_ stream: String = "screen") throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(GroupID(Self.groupName), root: root.path)
    self.stream = try StreamName(stream)
  }

  func publisher(
    width: Int = 64, height: Int = 4, _ change: (inout PublisherOptions) -> Void = { _ in }
  ) throws -> Publisher {
    var options = PublisherOptions()
    change(&options)
    return try Publisher(
      stream, in: group, format: try .video(.xrgb8888, width: width, height: height),
      options: options)
  }

  func subscriber(
    _ policy: SubscriberPolicy = .latest,
    _ change: (inout SubscriberOptions) -> Void = { _ in }
  ) throws -> Subscriber {
    var options = SubscriberOptions()
    options.policy = policy
    change(&options)
    return try Subscriber(stream, in: group, options: options)
  }

  /// Starts a `BusWorker` in this world.
  func worker(_ role: String, _ settings: String...) throws -> RunningProgram {
    try RunningProgram(
      "BusWorker", [role, root.path, Self.groupName, stream.text] + settings)
  }
}

/// Publishes a frame whose first word is its number.
@discardableResult
func publishNumbered(_ publisher: inout Publisher) throws -> SequenceNumber {
  let number = publisher.publishedCount + 1
  var loan = try publisher.loan()
  var bytes = loan.bytes
  bytes.storeBytes(of: number, as: UInt64.self)
  loan.metadata.ptsNs = Int64(number) * 1000
  return loan.publish()
}

/// The first word of a frame.
func number(of lease: borrowing FrameLease) -> UInt64 {
  // SAFETY: every frame of these tests is longer than a word.
  unsafe lease.bytes.unsafeLoad(as: UInt64.self)
}
