import AppGroup
import FrameBus
import Platform
import Synchronization
import TestSupport

/// A group in a temporary root, and short ways to make both sides of a stream in it.
struct World {
  let root: TemporaryRoot
  let group: AppGroup
  let stream: StreamName
  /// What its workers see as /dev/shm, if not the machine's.
  private let sharedMemory: OwnSharedMemory?

  static let groupName = "org.example.test"

  init(_ stream: String = "screen", sharedMemory: OwnSharedMemory? = nil) throws {
    self.sharedMemory = sharedMemory
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
    try worker(role, settings: settings)
  }

  /// Starts a `BusWorker` for another stream of this world.
  func worker(_ role: String, stream: String, _ settings: String...) throws -> RunningProgram {
    try worker(role, stream: stream, settings: settings)
  }

  func worker(
    _ role: String, stream: String? = nil, settings: [String]
  ) throws -> RunningProgram {
    try RunningProgram(
      "BusWorker", [role, root.path, Self.groupName, stream ?? self.stream.text] + settings,
      seeing: sharedMemory)
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

/// Values on their way from one thread to another.
final class Channel<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])
  private let changes = PrivateFutexWord()

  func send(_ value: Value) {
    values.withLock { $0.append(value) }
    changes.increment()
    changes.wakeAll()
  }

  /// Waits for the next value, for a minute at most.
  @discardableResult
  func receive(within limit: Duration = .seconds(60)) throws -> Value {
    let deadline = Deadline.after(limit)
    while true {
      let change = changes.load()
      if let value = values.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return value }
      if deadline.isPast { throw HarnessError("waited \(limit) for a value") }
      // SAFETY: watches only a word of this process.
      unsafe sleepOnFutexes(
        shared: nil, expecting: 0, privates: (changes, change), until: deadline)
    }
  }
}

extension Shelf {
  /// The number of the next frame, or nil at the end. Blocks.
  func nextNumber() -> UInt64? {
    guard case .frame(let lease)? = try? next() else { return nil }
    return number(of: lease)
  }
}
