import AppGroup
import FrameBus
import Platform
import WorkerSupport

/// Publishes frames in which every word identifies its frame.
///
/// Settings: `width`, `height`, `frames` (0: for ever), `intervalUs`, `lossless` (0/1),
/// `halfway` (a frame in which to stop half filled, and wait to be killed), `depth`,
/// `content` (screen), `wait` (1: for the first subscriber), `pauseUs` (pauses of a random length
/// up to this, spent awake), `application` (that the frames show), `grow` (a frame from which on
/// the picture is twice as wide).
func publish(_ stream: StreamName, _ group: AppGroup, _ settings: Settings) throws {
  var options = PublisherOptions()
  options.allowsLossless = settings.number("lossless", 0) == 1
  if settings.text("content", "other") == "screen" { options.content = .screen }
  options.ringDepth = settings.number("depth", 2)
  options.losslessStallLimit = .milliseconds(settings.number("stallMs", 10_000))
  // Under a sanitizer the slower side is the subscriber, for minutes together.
  options.losslessStallBudget = nil
  let width = settings.number("width", 320)
  let height = settings.number("height", 200)
  var publisher = try Publisher(
    stream, in: group,
    format: try .video(.xrgb8888, width: width, height: height), options: options)
  publisher.annotation.application = ApplicationID(settings.text("application", ""))
  say("publishing \(stream)")
  if settings.number("wait", 0) == 1 { _ = publisher.waitForSubscriber(until: .never) }
  let frames = settings.number("frames", 0)
  let interval = UInt64(settings.number("intervalUs", 1000)) * 1000
  let pauseNs = UInt64(settings.number("pauseUs", 0)) * 1000
  var due = monotonicNowNs()
  var number: UInt64 = 0
  while frames == 0 || number < UInt64(frames) {
    number += 1
    if number == UInt64(settings.number("grow", -1).magnitude), settings.number("grow", -1) > 0 {
      try publisher.setFormat(try .video(.xrgb8888, width: width * 2, height: height))
    }
    var loan = try publisher.loan(waitingUntil: .never)
    if number == UInt64(settings.number("halfway", 0)) {
      fill(&loan, with: number, half: true)
      say("halfway")
      sleep(until: .never)
    }
    fill(&loan, with: number, half: false)
    loan.metadata.ptsNs = Int64(number) * 1_000_000
    loan.publish()
    if number == 1 || number.isMultiple(of: 100) { say("published \(number)") }
    if pauseNs > 0 {
      let end = monotonicNowNs() + UInt64.random(in: 0...pauseNs)
      while monotonicNowNs() < end { spinHint() }
    } else {
      due += interval
      sleep(until: Deadline(monotonicNs: due))
    }
  }
  publisher.finish(.ended)
  say("finished")
}

private func fill(_ loan: inout FrameLoan, with number: UInt64, half: Bool) {
  var bytes = loan.bytes
  let count = half ? bytes.byteCount / 2 : bytes.byteCount
  for offset in stride(from: 0, to: count & ~7, by: 8) {
    bytes.storeBytes(of: number, toByteOffset: offset, as: UInt64.self)
  }
}
