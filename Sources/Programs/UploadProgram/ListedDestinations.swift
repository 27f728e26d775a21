import CommandLineSupport
import SharedDefaults
import Upload
import UploadGStreamer

/// The list of the setting `uploadDestinations`. Any member may write it.
struct ListedDestinations: Equatable {
  private static let maximumCount = 16
  private static let maximumBytes = 2048

  /// In the order in which they were added.
  private(set) var added: [String] = []
  /// Of the command line's.
  private(set) var removed: [String] = []

  init() {}

  init(_ value: DefaultsValue?) throws(MalformedSetting) {
    guard let value else { return }
    let malformed = MalformedSetting(
      .destinations,
      "a list of at most \(Self.maximumCount) destinations, each as text; “-” removes one")
    guard case .array(let values) = value, values.count <= Self.maximumCount else {
      throw malformed
    }
    for value in values {
      guard case .string(let text) = value, text.utf8.count <= Self.maximumBytes else {
        throw malformed
      }
      if text.hasPrefix("-") {
        removed.append(String(text.dropFirst()))
      } else {
        added.append(text)
      }
    }
  }
}

#if Media
  extension Send {
    /// Adds and removes what has changed. What cannot be added does not keep the rest.
    /// - Returns: the changes in words.
    func change(
      _ destination: any Destination, from former: ListedDestinations, to next: ListedDestinations,
      _ display: ProgressDisplay
    ) throws -> String {
      guard let shared = destination as? SharedDestination else { return "" }
      var done: [String] = []
      let gone = former.added.filter { !next.added.contains($0) }
      for text in gone + next.removed.filter({ !former.removed.contains($0) }) {
        guard shared.remove(Self.output(of: text)) else { continue }
        done.append("removed \(LoggedText.address(text))")
      }
      var failure: (any Error)?
      for text in next.added where !former.added.contains(text) {
        do {
          try shared.add(added(text, display))
          done.append("added \(LoggedText.address(text))")
        } catch {
          failure = error
        }
      }
      if let failure { throw failure }
      return done.isEmpty ? "the list of destinations has changed" : done.joined(separator: ", ")
    }

    /// How a destination names itself.
    private static func output(of text: String) -> String {
      let made = try? DestinationCatalog(DestinationMaker.media()).make(text)
      return made?.output ?? text
    }
  }
#endif
