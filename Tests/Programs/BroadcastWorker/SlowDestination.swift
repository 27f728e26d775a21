import Broadcast
import Platform
import Synchronization

/// A destination that copies its samples and sends them more slowly than they arrive.
final class SlowDestination: Sendable {
  private let waiting = Mutex<[[UInt8]]>([])

  /// - Parameter interval: the time between two sent samples.
  init(sendingEvery interval: Duration) throws {
    try startThread(named: "slow") { [self] in
      while true {
        // Simulates the time that sending takes.
        sleep(until: .after(interval))
        waiting.withLock { if !$0.isEmpty { $0.removeFirst() } }
      }
    }
  }

  func add(_ sample: borrowing SampleBuffer) {
    let copy = sample.withBytes { bytes in
      // SAFETY: each byte of the span is read as a byte.
      unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    }
    waiting.withLock { $0.append(copy) }
  }
}
