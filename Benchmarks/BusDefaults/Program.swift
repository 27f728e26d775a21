import AppGroup
import RingKit
import SharedDefaults
import SubjectKit

// SharedDefaults as a subject of `framebus bench defaults`: a user's program, with the public API
// alone. A change carries a number; its time is in the page that the programs share.

/// `BusDefaults publish|subscribe DIRECTORY key=value…`, see RingKit.h. DIRECTORY is the root of a
/// group.
@main
struct Program {
  private static let key = "number"

  static func main() { runSubject(run) }

  private static func run() throws {
    let job = ringJob(measuring: "SharedDefaults")
    let defaults = try SharedDefaults(in: job.openGroup())
    if job.pointee.checks {
      try read(defaults, job)
    } else if job.pointee.publishes {
      try set(defaults, job)
    } else {
      try observe(defaults, job)
    }
  }

  private static func set(
    _ defaults: SharedDefaults, _ job: UnsafePointer<ring_job>
  ) throws {
    guard let run = ring_begin_publishing(job), let page = run.pointee.page else { return }
    while ring_next(run) {
      ring_write(run, page)
      try defaults.set(Int(page.pointee.head.number), forKey: key)
      ring_posted(run, page)
    }
    var number = Int(page.pointee.head.number)
    while ring_unreleased(run) {
      number += 1
      ring_write_end(page)
      try defaults.set(number, forKey: key)
    }
    ring_report_publishing(run)
  }

  private static func read(
    _ defaults: SharedDefaults, _ job: UnsafePointer<ring_job>
  ) throws {
    try defaults.set(1, forKey: key)
    guard let run = ring_begin_publishing(job) else { return }
    var sum = 0
    while ring_next(run) { sum &+= defaults.integer(forKey: key) }
    precondition(sum > 0)
    ring_report_publishing(run)
  }

  private static func observe(
    _ defaults: SharedDefaults, _ job: UnsafePointer<ring_job>
  ) throws {
    let receiver = try RingReceiver(job)
    let observation = try defaults.observe(key) { _ in receiver.take() }
    receiver.begin()
    withExtendedLifetime(observation) { receiver.waitForEnd() }
  }
}
