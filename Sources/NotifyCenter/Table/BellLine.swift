import Platform
import Synchronization

/// What this process knows of its ringing one seat. It is the process's own memory, so no other
/// process can make it believe that an observer was rung.
final class BellLine: Sendable {
  /// The seat's `armed` word as of the last ring.
  let rung = Atomic<UInt64>(0)
  /// Whether the wake thread is going to ring.
  let isLeft = Atomic<Bool>(false)
  /// Whether the last ring took long: the observer can have thousands of threads woken by it.
  let isSlow = Atomic<Bool>(false)
  let rungAtNs = Atomic<UInt64>(0)
  let connection = Mutex(Connection())

  static let slowNs: UInt64 = 100_000
  /// A seat that was rung more recently is in a storm: the wake thread rings it, at its pace.
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

    /// - Returns: nil if there is none.
    borrowing func send(_ words: DatagramSocket.Words) -> DatagramSocket.SendResult? {
      socket == nil ? nil : socket!.send(words)
    }

    // Relaxed: a bound, on which nothing else depends.
    deinit { if socket != nil { BellLine.keptConnections.subtract(1, ordering: .relaxed) } }
  }

  /// How many connections a process keeps; more observers are reached by new ones.
  private static let mostConnections = 256
  fileprivate static let keptConnections = Atomic<Int>(0)

  static func mayKeepConnection() -> Bool {
    // Relaxed: a few more do no harm.
    if keptConnections.load(ordering: .relaxed) >= mostConnections { return false }
    keptConnections.wrappingAdd(1, ordering: .relaxed)
    return true
  }
}
