import AppGroup
import Platform
import RingKit
import RingReceiver
import SharedDefaults

// SharedDefaults as a subject of `framebus bench defaults`: a user's program, with the public API
// alone. A change carries a number; the time of it lies in the page that the programs share.

/// `BusDefaults publish|subscribe PLACE key=value…`, as RingKit.h says. PLACE is the root of a group.
@main
struct Program {
  private static let key = "number"

  static func main() {
    do { try run() } catch {
      try? writeFully(Array("error: \(error)\n".utf8), to: 2)
      exitProcess(1)
    }
  }

  private static func run() throws {
    let job = ring_job_from(CommandLine.argc, CommandLine.unsafeArgv)
    ring_say_version("SharedDefaults")
    // For as long as the process lives: runs point to it.
    let kept = UnsafeMutablePointer<ring_job>.allocate(capacity: 1)
    kept.initialize(to: job)
    let defaults = try SharedDefaults(in: AppGroup.open(.local, root: String(cString: job.place)))
    if job.checks {
      try read(defaults, kept)
    } else if job.publishes {
      try set(defaults, kept)
    } else {
      try observe(defaults, kept)
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
