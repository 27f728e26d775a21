import AppGroup
import NotifyCenter
import Platform
import RingKit
import RingReceiver

// NotifyCenter as a subject of `framebus bench notify`: a user's program, with the public API
// alone. A post carries no bytes, so the time of a post lies in the page that the programs share.

/// `BusNotify publish|subscribe PLACE key=value…`, as RingKit.h says. PLACE is the root of a group.
@main
struct Program {
  static func main() {
    do { try run() } catch {
      try? writeFully(Array("error: \(error)\n".utf8), to: 2)
      exitProcess(1)
    }
  }

  private static func run() throws {
    let job = ring_job_from(CommandLine.argc, CommandLine.unsafeArgv)
    ring_say_version("NotifyCenter")
    // For as long as the process lives: runs point to it.
    let kept = UnsafeMutablePointer<ring_job>.allocate(capacity: 1)
    kept.initialize(to: job)
    let group = try AppGroup.open(.local, root: String(cString: job.place))
    let center = try NotifyCenter(group, role: .host)
    let name = try NotificationName("bench")
    if job.checks {
      try check(name, center, kept)
    } else if job.publishes {
      try post(name, center, kept)
    } else {
      try observe(name, center, kept)
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
