#if Media
  import Capture
  import FrameBus
  import Platform
  import Sound

  /// Publishes the sound of another machine beside its pictures, on their thread: neither waits for
  /// subscribers. The stream exists from the first sound on, through all connections.
  final class NetworkSound: PipelineFeed {
    private let part: PipelineSource.SoundPart
    private let sender: SenderClock
    private var sink: SoundSink?
    private var output: SoundOutput?
    private var publisher: Publisher?
    private var rechunker = Rechunker()
    private var isPaused = false
    /// Whether the sound is left out, because its stream cannot be published.
    private var isRefused = false

    init(_ part: PipelineSource.SoundPart, _ sender: SenderClock) {
      self.part = part
      self.sender = sender
    }

    var subscriberCount: Int { publisher?.subscriberCount ?? 0 }

    /// Takes the sound of the next connection.
    func connect(_ sink: consuming SoundSink) {
      self.sink = consume sink
      rechunker = Rechunker()
    }

    /// Call it when the connection's pipeline has stopped.
    func disconnect() { sink = nil }

    func pause() {
      publisher?.pause(.unavailable)
      isPaused = true
    }

    func finish(_ reason: FinishReason) {
      disconnect()
      publisher.take()?.finish(reason)
    }

    var descriptorNumber: Int32 { sink?.descriptorNumber ?? -1 }

    func push(into input: borrowing PipelineInput) throws(OriginError) -> UInt64 {
      do throws(PipelineError) { try publishArrived() } catch { throw .failed("\(error)") }
      return 0
    }

    /// Publishes what has arrived. Never waits.
    func publishArrived() throws(PipelineError) {
      while let item = try sink?.arrived() {
        switch item {
        case .format(let format): part.session.noteSoundFormat(format)
        case .sound(let samples, let ptsNs):
          rechunker.add(samples, ptsNs: sender.place(ptsNs, arrivedAtNs: monotonicNowNs()))
        case .ended, .nothing: continue
        }
        while let next = rechunker.next() { publish(next.chunk, ptsNs: next.ptsNs) }
      }
    }

    private func publish(_ chunk: SoundChunk, ptsNs: Int64) {
      guard !isRefused else { return }
      do throws(PublishingError) {
        if publisher == nil { try open() }
        guard var current = publisher.take() else { return }
        if isPaused { current.resume() }
        isPaused = false
        do throws(PublishingError) {
          try output?.publish(chunk, ptsNs: ptsNs, with: &current, in: part.session)
        } catch {
          current.finish(.failed)
          throw error
        }
        publisher = consume current
      } catch {
        isRefused = true
        part.refused("\(error)")
      }
    }

    private func open() throws(PublishingError) {
      let output = try SoundOutput(
        part.session.soundKind(knownAs: .appAudio), gate: SilenceGate(limit: nil),
        in: part.session)
      publisher = try output.publisher(of: part.session.stream, in: part.session)
      self.output = output
    }
  }
#endif
