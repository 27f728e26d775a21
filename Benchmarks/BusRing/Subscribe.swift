import AppGroup
import FrameBus
import RingKit

func subscribe(
  _ stream: StreamName, _ group: AppGroup, _ job: UnsafePointer<ring_job>
) throws {
  var options = SubscriberOptions()
  options.start = .next
  if job.pointee.lossless { options.policy = .lossless(deadline: .seconds(30)) }
  var subscriber = try Subscriber(stream, in: group, options: options)
  let run = ring_begin_receiving(job)
  if !ring_idles(run) {
    if job.pointee.polls {
      while try poll(&subscriber, run) { continue }
    } else {
      while try next(&subscriber, run) { continue }
    }
  }
  ring_report_receiving(run)
}

/// - Returns: false after the last frame.
@inline(__always)
private func poll(
  _ subscriber: inout Subscriber, _ run: UnsafeMutablePointer<ring_receiving>?
) throws(ReceiveError) -> Bool {
  guard let lease = try subscriber.poll() else {
    ring_relax()
    return true
  }
  return lease.withUnsafeBytes { ring_take(run, $0.baseAddress) }
}

@inline(__always)
private func next(
  _ subscriber: inout Subscriber, _ run: UnsafeMutablePointer<ring_receiving>?
) throws(ReceiveError) -> Bool {
  guard case .frame(let lease) = try subscriber.next() else { return false }
  return lease.withUnsafeBytes { ring_take(run, $0.baseAddress) }
}
