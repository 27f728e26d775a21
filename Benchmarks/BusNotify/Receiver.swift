import Platform
import RingKit
import Synchronization

/// Counts deliveries, on the thread that runs closures, until the last.
final class Receiver: @unchecked Sendable {  // because `run` is set before and read after `isReady`
  private let job: UnsafePointer<ring_job>
  private var run: UnsafeMutablePointer<ring_receiving>?
  private let isReady = Atomic<Bool>(false)
  private let end: StopSignal

  init(_ job: UnsafePointer<ring_job>) throws {
    self.job = job
    end = try StopSignal()
  }

  /// Says that it observes.
  func begin() {
    run = ring_begin_receiving(job)
    isReady.store(true, ordering: .releasing)
  }

  func take() {
    guard isReady.load(ordering: .acquiring), let run else { return }
    if !ring_take(run, run.pointee.page) { end.raise() }
    ring_work(run)
  }

  func waitForEnd() {
    _ = try? waitUntilReadable([end.descriptorNumber], until: .never)
    ring_report_receiving(run)
  }
}
