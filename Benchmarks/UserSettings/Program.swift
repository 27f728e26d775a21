import Foundation
import RingKit

// Foundation's UserDefaults as a subject of `framebus bench defaults`. On Linux it does not notify
// other processes of a change, and writes its file only in `synchronize()`.

/// `UserSettings publish DIRECTORY key=value…`, see RingKit.h.
@main
struct Program {
  static func main() {
    let job = ring_job_from(CommandLine.argc, CommandLine.unsafeArgv)
    ring_print_version("Foundation UserDefaults")
    setenv("HOME", job.directory, 1)
    // Never freed: runs point to it.
    let jobPointer = UnsafeMutablePointer<ring_job>.allocate(capacity: 1)
    jobPointer.initialize(to: job)
    guard let defaults = UserDefaults(suiteName: "org.framebus.bench"),
      let run = ring_begin_publishing(jobPointer), let page = run.pointee.page
    else { fatalError("cannot open the suite") }
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
