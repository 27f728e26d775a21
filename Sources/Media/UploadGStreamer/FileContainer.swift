#if Media
  import Upload

  /// A container format that stays playable up to its last bytes if the writer is killed.
  enum FileContainer: String, CaseIterable {
    case matroska = "mkv"
    case mp4

    init(path: String) throws(DestinationError) {
      let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
      guard let dot = name.lastIndex(of: "."), dot != name.startIndex,
        let container = FileContainer(rawValue: name[name.index(after: dot)...].lowercased())
      else { throw .wrongExtension(path: path, known: Self.allCases.map(\.rawValue)) }
      self = container
    }

    var codecs: [VideoCodec] {
      switch self {
      case .matroska: VideoCodec.allCases
      // mp4mux 1.22 has no VP8, and of VP9 without a chroma site it dereferences a null pointer.
      case .mp4: [.h264, .h265, .av1]
      }
    }

    /// The sound format that players expect in this container.
    var soundEncoder: SoundEncoder {
      switch self {
      case .matroska: .opus
      case .mp4: .aac
      }
    }

    var muxer: ElementDescription {
      switch self {
      case .matroska:
        // Blocks are written at once, in clusters of unknown length; a regular end adds the
        // duration and an index.
        ElementDescription(
          factory: "matroskamux", package: "gstreamer1.0-plugins-good",
          properties: [.init("writing-app", "FrameBus")], soundPad: "audio_%u")
      case .mp4:
        // A fragment every half second; a regular end replaces them by one index. The time scale
        // represents the frame times of both film and video exactly.
        ElementDescription(
          factory: "mp4mux", package: "gstreamer1.0-plugins-good",
          properties: [
            .init("fragment-duration", "500"),
            .init("fragment-mode", "first-moov-then-finalise"),
          ],
          padProperties: [.init("trak-timescale", "90000")], soundPad: "audio_%u")
      }
    }
  }
#endif
