import FrameBus
import Platform
import Sound

/// Publishes chunks of sound as frames of ten milliseconds: 16 bits, stereo, 48,000 a second.
/// Silence that goes on is held back.
package struct SoundOutput {
  private var gate: SilenceGate

  package init(_ gate: SilenceGate) { self.gate = gate }

  /// - Parameter kind: `appAudio` or `micAudio`.
  static func format(_ kind: FrameFormat.Kind) throws(PublishingError) -> FrameFormat {
    do throws(FrameFormatError) {
      let audio = try AudioFormat(
        .s16le, sampleRate: SoundChunk.sampleRate, channelCount: SoundChunk.channelCount)
      return try .audio(kind, audio, maximumSampleFrameCount: SoundChunk.sampleFrameCount)
    } catch {
      throw .format(error)
    }
  }

  /// Makes the publisher of a stream of sound.
  package static func publisher(
    _ kind: FrameFormat.Kind, in session: CaptureSession
  ) throws(PublishingError) -> Publisher {
    var options = PublisherOptions()
    // A subscriber may be two thirds of a second late and miss nothing.
    options.ringDepth = 64
    options.streamChanged = session.streamChanged
    let format = try format(kind)
    do throws(PublisherError) {
      return try Publisher(session.stream, in: session.group, format: format, options: options)
    } catch {
      throw .publisher(error)
    }
  }

  /// Publishes a chunk, unless silence has gone on for too long.
  package mutating func publish(
    _ chunk: SoundChunk, ptsNs: Int64, with publisher: inout Publisher, in session: CaptureSession
  ) throws(PublishingError) {
    let isSilent = chunk.isSilent
    guard gate.passes(isSilent: isSilent) else { return session.countUnchanged() }
    var loan: FrameLoan
    do { loan = try publisher.loan() } catch { throw .loan(error) }
    loan.metadata.ptsNs = ptsNs
    loan.metadata.durationNs = SoundChunk.durationNs
    loan.metadata.capturedAtNs = monotonicNowNs()
    if isSilent { loan.metadata.flags.insert(.silence) }
    var bytes = loan.bytes
    for (index, sample) in chunk.samples.enumerated() {
      let value = Int16(clamping: Int((sample * 32_768).rounded()))
      // SAFETY: a slot holds a whole chunk of two bytes a sample.
      unsafe bytes.storeBytes(
        of: value.littleEndian, toUncheckedByteOffset: index * 2, as: Int16.self)
    }
    _ = loan.publish()
    session.countFrame()
  }
}
