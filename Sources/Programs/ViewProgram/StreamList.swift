#if Media
  import AppGroup
  import FrameBus
  import Platform
  import Synchronization

  /// The streams that viewers may choose: those that `--also` names, and the first one.
  final class StreamList: Sendable {
    /// Pages ask once a second, each for itself.
    private static let longestAge = Duration.milliseconds(900)
    private static let timeout = Duration.milliseconds(200)

    private let patterns: [String]
    private let first: StreamName
    private let sound: [StreamName]
    private let poll: Mutex<Poll>

    private struct Poll {
      let inspector: StreamInspector
      var names: [String] = []
      var freshUntil = Deadline(monotonicNs: 0)
    }

    /// - Parameters:
    ///   - patterns: names, or their beginnings followed by `*`.
    ///   - streams: those of the command line; the first one has the pictures.
    init(_ patterns: [String], beside streams: [StreamName], in group: AppGroup) {
      self.patterns = patterns
      first = streams[0]
      sound = Array(streams.dropFirst())
      poll = Mutex(Poll(inspector: StreamInspector(group)))
    }

    /// - Returns: nil if viewers may not see that stream, or no stream has such a name.
    func permitted(_ text: String) -> StreamName? {
      guard let name = try? StreamName(text), !sound.contains(name) else { return nil }
      let isOffered = patterns.contains { pattern in
        pattern.hasSuffix("*") ? text.hasPrefix(pattern.dropLast()) : text == pattern
      }
      return name == first || isOffered ? name : nil
    }

    /// The names of those that have a publisher, in order; nil without `--also`.
    func present() -> [String]? {
      if patterns.isEmpty { return nil }
      return poll.withLock { poll in
        guard poll.freshUntil.isPast else { return poll.names }
        let reports = (try? poll.inspector.poll(timeout: Self.timeout)) ?? []
        poll.names = reports.filter(Self.mayBePicture).map(\.name.text)
          .filter { permitted($0) != nil }.sorted()
        poll.freshUntil = .after(Self.longestAge)
        return poll.names
      }
    }

    /// A stream without a format has published nothing yet.
    private static func mayBePicture(_ report: StreamReport) -> Bool {
      guard case .answered(let status) = report, let format = status.format else { return true }
      return format.kind == .video
    }
  }
#endif
