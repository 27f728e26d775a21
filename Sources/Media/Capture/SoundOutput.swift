import FrameBus
import Platform
import SharedDefaults
import Sound

/// Publishes chunks of sound as frames of ten milliseconds: 16 bits, stereo, 48,000 Hz.
///
/// Continued silence is not published, nor is sound that the group has switched off: none of that
/// sound reaches memory that another process can read.
package struct SoundOutput {
  private let kind: FrameFormat.Kind
  private var gate: SilenceGate
  private let switched: SwitchedSound
  private var fader = SoundFader()
  private var reportedState: Bool?

  /// - Parameter kind: `appAudio` or `micAudio`.
  package init(
    _ kind: FrameFormat.Kind, gate: SilenceGate, in session: CaptureSession
  ) throws(PublishingError) {
    self.kind = kind
    self.gate = gate
    do throws(DefaultsError) {
      switched = try SwitchedSound(kind, in: session.group)
    } catch {
      throw .settings(error)
    }
    report(switched.isOn, session)
  }

  static func format(_ kind: FrameFormat.Kind) throws(PublishingError) -> FrameFormat {
    do throws(FrameFormatError) {
      let audio = try AudioFormat(
        .s16le, sampleRate: SoundChunk.sampleRate, channelCount: SoundChunk.channelCount)
      return try .audio(kind, audio, maximumSampleFrameCount: SoundChunk.sampleFrameCount)
    } catch {
      throw .format(error)
    }
  }

  /// Creates the publisher of a sound stream.
  /// - Parameter change: changes the default options.
  package func publisher(
    of stream: StreamName, in session: CaptureSession,
    options change: (inout PublisherOptions) -> Void = { _ in }
  ) throws(PublishingError) -> Publisher {
    var options = PublisherOptions()
    // A subscriber may be two thirds of a second late without losing a frame.
    options.ringDepth = 64
    options.streamChanged = session.streamChanged
    change(&options)
    let format = try Self.format(kind)
    do throws(PublisherError) {
      return try Publisher(stream, in: session.group, format: format, options: options)
    } catch {
      throw .publisher(error)
    }
  }

  /// Whether there is nothing to capture: sound is switched off and has been faded out.
  package var isOff: Bool { !switched.isOn && fader.isSilent }

  /// Blocks the thread while sound is switched off.
  /// - Returns: false if the run is over.
  package mutating func waitUntilOn(in session: CaptureSession) -> Bool {
    let isOn = switched.waitUntilOn(stop: session.stop, until: session.deadline)
    report(switched.isOn, session)
    return isOn && !session.isOver
  }

  /// Publishes a chunk, unless sound is switched off or silence has lasted too long.
  package mutating func publish(
    _ chunk: SoundChunk, ptsNs: Int64, with publisher: inout Publisher, in session: CaptureSession
  ) throws(PublishingError) {
    let isOn = switched.isOn
    report(isOn, session)
    guard let chunk = fader.fade(chunk, isOn: isOn), gate.passes(isSilent: chunk.isSilent) else {
      return session.countUnchanged()
    }
    var loan: FrameLoan
    do { loan = try publisher.loan() } catch { throw .loan(error) }
    fill(&loan, chunk, ptsNs: ptsNs)
    loan.metadata.capturedAtNs = monotonicNowNs()
    _ = loan.publish()
    session.countFrame()
  }

  private func fill(_ loan: inout FrameLoan, _ chunk: SoundChunk, ptsNs: Int64) {
    loan.metadata.ptsNs = ptsNs
    loan.metadata.durationNs = SoundChunk.durationNs
    if chunk.isSilent { loan.metadata.flags.insert(.silence) }
    var bytes = loan.bytes
    for (index, sample) in chunk.samples.enumerated() {
      let value = Int16(clamping: Int((sample * 32_768).rounded()))
      // SAFETY: a slot holds a whole chunk of two bytes a sample.
      unsafe bytes.storeBytes(
        of: value.littleEndian, toUncheckedByteOffset: index * 2, as: Int16.self)
    }
  }

  /// Reports once that sound is off, and every later change.
  private mutating func report(_ isOn: Bool, _ session: CaptureSession) {
    guard isOn != reportedState else { return }
    if reportedState != nil || !isOn { session.soundSwitched?(kind, isOn) }
    reportedState = isOn
  }
}

extension SoundOutput {
  /// Publishes a chunk that was read from a file, once every lossless subscriber has room for it.
  /// Sound that is switched off becomes silence: a file's sound has no gaps.
  package mutating func publishRead(
    _ chunk: SoundChunk, ptsNs: Int64, with publisher: inout Publisher, in session: CaptureSession
  ) throws(PublishingError) {
    let isOn = switched.isOn
    report(isOn, session)
    var loan: FrameLoan
    do {
      loan = try publisher.loan(waitingUntil: session.deadline, stop: session.stop)
    } catch {
      if session.isOver { return }
      throw .loan(error)
    }
    fill(&loan, fader.fade(chunk, isOn: isOn) ?? .silence, ptsNs: ptsNs)
    // It was not captured: its time is the file's.
    loan.metadata.capturedAtNs = 0
    _ = loan.publish()
  }
}
