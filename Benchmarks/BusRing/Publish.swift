import AppGroup
import FrameBus
import RingKit

func publish(
  _ stream: StreamName, _ group: AppGroup, _ job: UnsafePointer<ring_job>
) throws {
  var options = PublisherOptions()
  options.ringDepth = Int(job.pointee.depth)
  options.allowsLossless = job.pointee.lossless
  let format = try FrameFormat(
    kind: .data, fourcc: FourCC(rawValue: 0), width: 0, height: 0, planes: [],
    byteCount: job.pointee.bytes)
  var publisher = try Publisher(stream, in: group, format: format, options: options)
  var own: Subscriber? = job.pointee.receives ? try Subscriber(stream, in: group) : nil
  let run = ring_begin_publishing(job)
  while ring_next(run) {
    var loan = try nextLoan(from: &publisher, job.pointee)
    var bytes = loan.bytes
    bytes.withUnsafeMutableBytes { ring_write(run, $0.baseAddress) }
    loan.publish()
    if own != nil { try receive(&own) }
  }
  while ring_unreleased(run) {
    // A loan that finds no free slot is retried: a subscriber has yet to receive a frame.
    guard var loan = try? publisher.loan() else { continue }
    var bytes = loan.bytes
    bytes.withUnsafeMutableBytes { ring_write_end($0.baseAddress) }
    loan.publish()
  }
  ring_report_publishing(run)
  publisher.finish(.ended)
}

/// Receives the frame that this thread has published.
@inline(__always)
private func receive(_ subscriber: inout Subscriber?) throws(ReceiveError) {
  guard let lease = try subscriber?.poll() else { fatalError("the frame was not received") }
  let first = lease.withUnsafeBytes { $0.load(as: UInt64.self) }
  precondition(first != UInt64(RING_END))
}

@inline(__always)
private func nextLoan(
  from publisher: inout Publisher, _ job: ring_job
) throws(LoanError) -> FrameLoan {
  guard job.lossless else { return try publisher.loan() }
  guard job.polls else { return try publisher.loan(waitingUntil: .never) }
  while true {
    do throws(LoanError) { return try publisher.loan() } catch {
      guard case .backpressure = error else { throw error }
      ring_relax()
    }
  }
}
