import Platform
import RingKit
import Synchronization

// What subjects written in Swift have in common whose observers are told by closures. It refuses to
// know how they are told.

/// Counts deliveries, on the thread that runs closures, until the last.
package final class RingReceiver: @unchecked Sendable {
  // because `run` is set before and read after `isReady`

  private let job: UnsafePointer<ring_job>
  private var run: UnsafeMutablePointer<ring_receiving>?
  private let isReady = Atomic<Bool>(false)
  private let end: StopSignal

  package init(_ job: UnsafePointer<ring_job>) throws {
    self.job = job
    end = try StopSignal()
  }

  /// Says that it observes.
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
