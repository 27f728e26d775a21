#if Media
  import Upload

  /// A kind of file that plays up to its last bytes when its writer is killed.
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

    /// What players expect in it.
    var soundEncoder: SoundEncoder {
      switch self {
      case .matroska: .opus
      case .mp4: .aac
      }
    }

    var muxer: ElementDescription {
      switch self {
      case .matroska:
        // Blocks go out as they come, in clusters of yet unknown length; a complete end adds the
        // duration and an index.
        ElementDescription(
          factory: "matroskamux", package: "gstreamer1.0-plugins-good",
          properties: [.init("writing-app", "FrameBus")], soundPad: "audio_%u")
      case .mp4:
        // A fragment every half second; a complete end turns them into one plain index. The time
        // base holds the frame times of film and video alike.
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
