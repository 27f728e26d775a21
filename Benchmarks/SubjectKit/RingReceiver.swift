import Platform
import RingKit
import Synchronization

// The common part of subjects in Swift whose observers are closures. It refuses to know how they
// are notified.

/// Counts deliveries until the last, on the thread that runs closures.
package final class RingReceiver: @unchecked Sendable {
  // because `run` is set before `isReady` and read after it

  private let job: UnsafePointer<ring_job>
  private var run: UnsafeMutablePointer<ring_receiving>?
  private let isReady = Atomic<Bool>(false)
  private let end: StopSignal

  package init(_ job: UnsafePointer<ring_job>) throws {
    self.job = job
    end = try StopSignal()
  }

  /// Starts counting.
  package func begin() {
    run = ring_begin_receiving(job)
    isReady.store(true, ordering: .releasing)
  }

  package func take() {
    guard isReady.load(ordering: .acquiring), let run else { return }
    if !ring_take(run, run.pointee.page) { end.raise() }
    ring_work(run)
  }

  package func waitForEnd() {
    _ = try? waitUntilReadable([end.descriptorNumber], until: .never)
    ring_report_receiving(run)
  }
}
