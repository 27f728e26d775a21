import FrameBus
import Platform

/// The name of an application that publishes its own frames. A capture follows a setting of the
/// group; an application knows only its publisher, which takes the name from the host.
extension HostRun {
  /// How long a publisher may take to answer.
  private static let answerTimeout = Duration.seconds(1)

  /// Passes on a name that a host has set. While nobody publishes the stream it stays in the
  /// record, which the extension changes once somebody does.
  func deliverApplication(of record: BroadcastRecord) {
    // Checked, because any publishing member can write the record.
    guard let stream = starter?.request.publishedStream,
      let name = ApplicationID(record.undeliveredApplication),
      StreamAnnotation.set(name, of: stream, in: board.group, until: .after(Self.answerTimeout))
    else { return }
    // If that cannot be written, the name is passed on again, which changes nothing.
    _ = try? board.change(session) { record in
      if record.undeliveredApplication == name.text { record.undeliveredApplication = "" }
    }
  }
}
