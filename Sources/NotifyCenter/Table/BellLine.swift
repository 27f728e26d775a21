import Platform
import Synchronization

/// This process's record of ringing one registration. It is private memory, so no other process can
/// make this one believe that an observer was rung.
final class BellLine: Sendable {
  /// The registration's `armed` word at the last ring.
  let rung = Atomic<UInt64>(0)
  /// Whether the wake thread is going to ring.
  let isQueued = Atomic<Bool>(false)
  /// Whether the last ring was slow: an observer can make it wake thousands of threads.
  let isSlow = Atomic<Bool>(false)
  /// Whether the last ring took long, by the clock.
  let mayBeSlow = Atomic<Bool>(false)
  let rungAtNs = Atomic<UInt64>(0)
  let connection = Mutex(Connection())

  static let slowNs: UInt64 = 100_000
  /// A registration that was rung more recently receives many posts: the wake thread rings it.
  static let calmNs: UInt64 = 20_000

  struct Connection: ~Copyable {
    private let socket: DatagramSocket?
    let tenure: UInt64

    init() {
      socket = nil
      tenure = 0
    }

    init(socket: consuming DatagramSocket, tenure: UInt64) {
      self.socket = consume socket
      self.tenure = tenure
    }

    /// - Returns: nil without a connection.
    borrowing func send(_ words: DatagramSocket.Words) -> DatagramSocket.SendResult? {
      socket == nil ? nil : socket!.send(words)
    }

    // Relaxed: only a bound; no other data depends on it.
    deinit { if socket != nil { BellLine.keptConnections.subtract(1, ordering: .relaxed) } }
  }

  /// Maximum connections kept open; further observers are reached by new ones.
  private static let maximumConnections = 256
  fileprivate static let keptConnections = Atomic<Int>(0)

  static func mayKeepConnection() -> Bool {
    // Relaxed: exceeding the bound by a few is harmless.
    if keptConnections.load(ordering: .relaxed) >= maximumConnections { return false }
    keptConnections.wrappingAdd(1, ordering: .relaxed)
    return true
  }
}
