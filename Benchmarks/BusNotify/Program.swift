import AppGroup
import NotifyCenter
import RingKit
import SubjectKit

// NotifyCenter as a subject of `framebus bench notify`: a user's program, with the public API
// alone. A post carries no bytes, so its time is in the page that the programs share.

/// `BusNotify publish|subscribe DIRECTORY key=value…`, see RingKit.h. DIRECTORY is the root of a
/// group.
@main
struct Program {
  static func main() { runSubject(run) }

  private static func run() throws {
    let job = ringJob(measuring: "NotifyCenter")
    let center = try NotifyCenter(job.openGroup(), role: .host)
    let name = try NotificationName("bench")
    if job.pointee.checks {
      try check(name, center, job)
    } else if job.pointee.publishes {
      try post(name, center, job)
    } else {
      try observe(name, center, job)
    }
  }
}

private func post(
  _ name: NotificationName, _ center: NotifyCenter, _ job: UnsafePointer<ring_job>
) throws {
  let poster = try center.poster(of: name)
  guard let run = ring_begin_publishing(job), let page = run.pointee.page else { return }
  while ring_next(run) {
    ring_write(run, page)
    try poster.post()
    ring_posted(run, page)
  }
  while ring_unreleased(run) {
    ring_write_end(page)
    try poster.post()
  }
  ring_report_publishing(run)
}

private func check(
  _ name: NotificationName, _ center: NotifyCenter, _ job: UnsafePointer<ring_job>
) throws {
  let observation = try center.observeByCheck(name)
  guard let run = ring_begin_publishing(job) else { return }
  while ring_next(run) {
    if observation.check() { _ = try observation.take() }
  }
  ring_report_publishing(run)
}

private func observe(
  _ name: NotificationName, _ center: NotifyCenter, _ job: UnsafePointer<ring_job>
) throws {
  let receiver = try RingReceiver(job)
  let observation = try center.observe(name) { _ in receiver.take() }
  receiver.begin()
  withExtendedLifetime(observation) { receiver.waitForEnd() }
}
