import FrameBus
import Platform
import Sound

/// Publishes a test tone in real time, stamped by the monotonic clock. Idle while there are no
/// subscribers.
public struct ToneSource: FrameSource {
  private let tone: Tone
  private let gate: SilenceGate

  /// A tone; the gate leaves out silence.
  public init(_ tone: Tone, gate: SilenceGate = SilenceGate()) {
    self.tone = tone
    self.gate = gate
  }

  /// Publishes the tone until the session ends.
  public mutating func run(in session: CaptureSession) throws(PublishingError) {
    var output = try SoundOutput(session.soundKind(), gate: gate, in: session)
    let publisher = try output.publisher(of: session.stream, in: session)
    try session.drive(publisher) { (publisher) throws(PublishingError) in
      try publish(&output, with: &publisher, in: session)
    }
  }

  private func publish(
    _ output: inout SoundOutput, with publisher: inout Publisher, in session: CaptureSession
  ) throws(PublishingError) {
    var nextNs: UInt64 = 0
    while !session.isOver {
      let isIdle = publisher.subscriberCount == 0
      guard session.waitForSubscriber(of: publisher) else { return }
      let nowNs = monotonicNowNs()
      // Chunks begin at whole hundredths of a second. After an idle period, or when half a second
      // late, the next chunk is the current one.
      if isIdle || nowNs > nextNs &+ 500_000_000 {
        nextNs = nowNs - nowNs % SoundChunk.durationNs
      }
      // A chunk is published when its time is over, as captured sound is.
      let endNs = nextNs &+ SoundChunk.durationNs
      guard session.sleep(until: Deadline(monotonicNs: endNs)) else { return }
      if let format = publisher.format.audio { session.noteSoundFormat(format) }
      try output.publish(
        tone.chunk(atNs: nextNs), ptsNs: Int64(nextNs), with: &publisher, in: session)
      nextNs = endNs
    }
  }
}
