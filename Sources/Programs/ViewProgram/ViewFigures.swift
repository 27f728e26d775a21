#if Media
  import FoundationEssentials
  import FrameBus
  import Synchronization
  import Upload
  import UploadGStreamer

  /// The current figures of the streams, for the page and the terminal.
  final class ViewFigures: Sendable {
    private struct Record: Encodable {
      enum State: String, Encodable { case waiting, live, gone }
      var state = State.waiting
      /// Why the stream is paused, in words; nil if it is not.
      var pause: String?
      /// The application in front of the pictures; nil if it is unknown.
      var application: String?
      var viewers = 0
      var framesPerSecond = 0.0
      var bitsPerSecond = 0.0
      /// The median latency from capture to encoded.
      var latencyMs = 0.0
      /// Frames published but not received since reading began.
      var drops: UInt64 = 0
      /// The streams that viewers may choose now; nil if they may not.
      var streams: [String]?

      var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Encoding numbers and words cannot fail.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
      }
    }

    private struct Values {
      var record = Record()
      var frames = 0
      var framesBefore = 0
    }

    private let values = Mutex(Values())
    private let viewers: Viewers
    private let pictures: StreamName

    /// - Parameter pictures: the stream whose pauses the page shows.
    init(_ viewers: Viewers, of pictures: StreamName) {
      self.viewers = viewers
      self.pictures = pictures
    }

    /// The number of frames sent so far.
    var frames: Int { values.withLock { $0.framesBefore + $0.frames } }

    func take(_ report: UploadReport, _ takeLatencyP50Ns: () -> UInt64) {
      values.withLock { values in
        switch report {
        case .progress(let progress):
          values.frames = progress.frames
          values.record.framesPerSecond = progress.framesPerSecond
          values.record.bitsPerSecond = progress.bitsPerSecond
          values.record.drops = progress.drops
          values.record.latencyMs = Double(takeLatencyP50Ns()) / 1e6
        case .format, .publisherBack: values.record.state = .live
        case .publisherGone: (values.record.state, values.record.pause) = (.gone, nil)
        case .paused(pictures, let reason): values.record.pause = reason.explanation
        case .resumed(pictures): values.record.pause = nil
        case .annotated(pictures, let application): values.record.application = application?.text
        case .waitingForStream, .attached, .losslessEnded, .soundRefused, .paused, .resumed,
          .annotated, .oldPicture:
          break
        }
      }
    }

    /// Resets the figures when reading stops.
    func rest() {
      values.withLock {
        $0.framesBefore += $0.frames
        $0.frames = 0
        $0.record = Record()
      }
    }

    /// - Parameter streams: the streams that viewers may choose now; nil if they may not.
    func json(_ streams: [String]?) -> String {
      var record = values.withLock { $0.record }
      record.viewers = viewers.count
      record.streams = streams
      return record.json
    }

    /// The figures of a stream that nobody has watched.
    static func jsonOfIdle(_ streams: [String]?) -> String { Record(streams: streams).json }

    var line: String {
      let record = values.withLock { $0.record }
      let count = viewers.count
      return
        "\(count) \(count == 1 ? "viewer" : "viewers"), \(tenths(record.framesPerSecond)) fps, "
        + "\(tenths(record.bitsPerSecond / 1e6)) Mbit/s, \(record.drops) drops, encoded after "
        + "\(tenths(record.latencyMs)) ms"
    }

    private func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
  }
#endif
