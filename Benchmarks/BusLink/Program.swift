import AppGroup
import Bridge
import LinkKit
import NotifyCenter
import Platform
import RingKit
import SubjectKit

// Notifications between machines as a subject of `framebus bench link`: each program is a machine,
// with a group of its own, a bridge, and one process that posts or observes.

/// `BusLink publish|subscribe DIRECTORY key=value…`, see RingKit.h.
@main
struct Program {
  static func main() { runSubject(run) }

  private static func run() throws {
    let job = ringJob(measuring: "framebus bridge, NotifyCenter")
    let isPoster = job.pointee.publishes
    let port = isPoster ? link_start_server(job) : link_server_port(job)
    let center = try NotifyCenter(machine(job, connectedTo: port), role: .host)
    let name = try NotificationName("bench")
    if isPoster { try post(name, center, job) } else { try observe(name, center, job) }
  }
}

/// Makes this machine's group, and waits until its bridge is connected.
private func machine(_ job: UnsafePointer<ring_job>, connectedTo port: Int32) throws -> AppGroup {
  let name = "m\(currentProcessID())"
  let directory = link_make_directory(job, name)
  let root = directory.map { String(cString: $0) } ?? ""
  let id = try GroupID("org.example.bench")
  _ = try AppGroup.create(id, root: root)
  link_append(
    "\(root)/state/\(id)/manifest.toml", "\n[bridge]\nnotifications = [\"bench\"]\n")
  let group = try AppGroup.open(id, root: root)
  let arguments = [
    siblingProgram(named: "framebus-bridge") ?? "framebus-bridge", "nats://127.0.0.1:\(port)",
    "--machine=\(name)", "--quiet", "--root=\(root)", "--group=\(id)",
  ]
  withCStrings(arguments) { ring_start_daemon($0, "\(root)/run/\(id)/bridge/lock") }
  let state = try BridgeState(in: group)
  while state.connection?.isConnected != true { sleep(until: .after(.milliseconds(2))) }
  return group
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

private func observe(
  _ name: NotificationName, _ center: NotifyCenter, _ job: UnsafePointer<ring_job>
) throws {
  let receiver = try RingReceiver(job)
  let observation = try center.observe(name) { _ in receiver.take() }
  receiver.begin()
  withExtendedLifetime(observation) { receiver.waitForEnd() }
}
