#if Media
  import CPipeWire
  import Capture
  import FrameBus
  import Platform
  import Sound

  /// The sound of one node, which is found by its name. Confined to one thread.
  @safe struct PipeWireSound: ~Copyable {
    enum State { case listing, absent, present, linked, noServer(String), failed(String) }

    /// SAFETY: lives until deinit, which alone frees it.
    @unsafe private let sound: OpaquePointer
    private var converter: SoundConverter
    private let format: FrameFormat
    private var samples: [Float]

    /// Longer pieces are taken in parts.
    private static let pieceFrames = 4096
    private static let channelCount = Int(FB_PIPEWIRE_SOUND_CHANNELS)

    /// Connects to the user's server.
    init(_ name: String) throws(PipeWireSoundError) {
      if let why = unsafe fb_pipewire_load() { throw .noLibrary(unsafe String(cString: why)) }
      let format: FrameFormat
      do throws(FrameFormatError) {
        let audio = try AudioFormat(
          .f32le, sampleRate: Int(FB_PIPEWIRE_SOUND_RATE), channelCount: Self.channelCount)
        format = try .audio(.appAudio, audio, maximumSampleFrameCount: Self.pieceFrames)
      } catch { throw .publishing(.format(error)) }
      guard let sound = unsafe fb_pipewire_sound_new(name) else { throw .noServer("no connection") }
      unsafe self.sound = sound
      self.format = format
      converter = SoundConverter()
      samples = [Float](repeating: 0, count: Self.pieceFrames * Self.channelCount)
    }

    deinit { unsafe fb_pipewire_sound_free(sound) }

    /// Readable when `iterate` has something to do.
    var descriptorNumber: Int32 { unsafe fb_pipewire_sound_descriptor(sound) }

    /// Handles what has arrived.
    mutating func iterate() -> State {
      let state = unsafe fb_pipewire_sound_iterate(sound)
      return switch state {
      case FB_PIPEWIRE_SOUND_LISTING: .listing
      case FB_PIPEWIRE_SOUND_ABSENT: .absent
      case FB_PIPEWIRE_SOUND_PRESENT: .present
      case FB_PIPEWIRE_SOUND_LINKED: .linked
      case FB_PIPEWIRE_SOUND_NO_SERVER: .noServer(failure)
      default: .failed(failure)
      }
    }

    // SAFETY: the text is copied at once.
    private var failure: String {
      unsafe String(cString: fb_pipewire_sound_failure(sound)).plain
    }

    /// Nodes with sound, as text for people.
    var names: String {
      // SAFETY: the text is copied at once.
      unsafe String(cString: fb_pipewire_sound_names(sound)).plain
    }

    /// Takes the oldest piece: stereo samples, and the time of the first one.
    mutating func next() throws(PipeWireSoundError) -> (samples: [Float], ptsNs: Int64)? {
      var firstNs: UInt64 = 0
      // SAFETY: the call writes at most the given number of sample frames.
      let count = unsafe samples.withUnsafeMutableBufferPointer {
        unsafe fb_pipewire_sound_take(sound, $0.baseAddress, Self.pieceFrames, &firstNs)
      }
      if count == 0 { return nil }
      do throws(SoundConverter.Refusal) {
        let piece = Array(samples.prefix(count * Self.channelCount))
        // The converter makes silence of what is not a number.
        // SAFETY: the array outlives the call.
        return (
          try unsafe converter.convert(piece.span.bytes, of: format), Int64(clamping: firstNs)
        )
      } catch { throw .failed("\(error)") }
    }

    var format48k: AudioFormat? { format.audio }

    /// Sample frames that were lost because nobody took them in time.
    var lostCount: UInt64 { unsafe fb_pipewire_sound_lost(sound) }
  }

  /// Why a node's sound could not be captured, and what to do.
  public enum PipeWireSoundError: Error, CustomStringConvertible {
    case noLibrary(String)
    case noServer(String)
    /// No node has the name; the others have sound.
    case absent(String, others: String)
    case notLinked(String)
    case failed(String)
    case system(SystemError)
    case publishing(PublishingError)

    public var description: String {
      switch self {
      case .noLibrary(let why): "PipeWire cannot be used: \(why); install libpipewire-0.3-0"
      case .noServer(let why):
        "cannot connect to PipeWire: \(why); check it with `systemctl --user status pipewire`"
      case .absent(let name, let others):
        "PipeWire has no node with sound named “\(name)”; "
          + (others.isEmpty ? "it has none at all: `pw-cli ls Node`" : "nodes are \(others)")
      case .notLinked(let name):
        "nobody linked “\(name)” with the capture: no session manager runs; check"
          + " `systemctl --user status wireplumber`"
      case .failed(let why): "PipeWire's sound cannot be captured: \(why); capture again"
      case .system(let error): "\(error)"
      case .publishing(let error): "\(error)"
      }
    }
  }
#endif
