import Foundation
import RingKit

// Foundation's UserDefaults as a subject of `framebus bench defaults`. On Linux it tells no other
// process of a change, and writes its file when it is told to synchronize.

/// `UserSettings publish PLACE key=value…`, as RingKit.h says.
@main
struct Program {
  static func main() {
    let job = ring_job_from(CommandLine.argc, CommandLine.unsafeArgv)
    ring_say_version("Foundation UserDefaults")
    setenv("HOME", job.place, 1)
    // For as long as the process lives: runs point to it.
    let kept = UnsafeMutablePointer<ring_job>.allocate(capacity: 1)
    kept.initialize(to: job)
    guard let defaults = UserDefaults(suiteName: "org.framebus.bench"),
      let run = ring_begin_publishing(kept), let page = run.pointee.page
    else { fatalError("no suite") }
    let key = "number"
    defaults.set(1, forKey: key)
    var sum = 0
    while ring_next(run) {
      ring_write(run, page)
      if job.checks {
        sum &+= defaults.integer(forKey: key)
      } else {
        defaults.set(Int(page.pointee.head.number), forKey: key)
        _ = defaults.synchronize()
      }
      ring_posted(run, page)
    }
    precondition(!job.checks || sum > 0)
    ring_report_publishing(run)
  }
}
