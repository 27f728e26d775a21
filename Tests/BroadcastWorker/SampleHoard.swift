import Broadcast
import Platform
import Synchronization

/// A destination that copies what it is to send, and is slower than what comes.
final class SampleHoard: Sendable {
  private let waiting = Mutex<[[UInt8]]>([])

  /// - Parameter interval: one sample is sent so often.
  init(sendingEvery interval: Duration) throws {
    try startThread(named: "slow") { [self] in
      while true {
        // How slow it is.
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
