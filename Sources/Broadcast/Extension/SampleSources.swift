import FrameBus

/// The stream of each kind of samples that an extension receives.
struct SampleSources: Hashable, Sendable, CustomStringConvertible {
  private(set) var streams: [SampleBufferType: StreamName] = [:]

  init(_ streams: [SampleBufferType: StreamName]) { self.streams = streams }

  /// - Parameter text: in the form of ``description``.
  init?(_ text: String) {
    for part in text.split(separator: ",") {
      let sides = part.split(separator: "=", maxSplits: 1)
      guard sides.count == 2, let type = SampleBufferType(rawValue: String(sides[0])),
        let stream = try? StreamName(String(sides[1])), streams[type] == nil
      else { return nil }
      streams[type] = stream
    }
  }

  /// In a fixed order: pictures first, because they decide whether the broadcast pauses.
  var inOrder: [(type: SampleBufferType, stream: StreamName)] {
    SampleBufferType.allCases.compactMap { type in streams[type].map { (type, $0) } }
  }

  var description: String {
    inOrder.map { "\($0.type.rawValue)=\($0.stream)" }.joined(separator: ",")
  }
}
