import AppGroup
import Platform
import Synchronization

/// What a running capture reports to its session: that it captures only silence, and why.
package final class SoundReport: Sendable {
  private let board: SessionBoard
  private let session: SessionID
  private let type: SampleBufferType
  private let reported = Mutex<String?>(nil)

  /// - Returns: nil if the text is not a session's.
  package init?(
    session text: String, _ type: SampleBufferType, in group: AppGroup
  ) throws(BroadcastError) {
    guard let session = SessionID(text) else { return nil }
    self.session = session
    self.type = type
    board = try SessionBoard(group, as: .capture)
  }

  /// - Parameter why: nil if there is sound again. The session's host writes other reasons, which
  ///   stay.
  package func set(missing why: String?) throws(BroadcastError) {
    let before = reported.withLock { reported in
      defer { reported = why }
      return reported
    }
    try board.change(session) { record in
      guard record.phase != .finished else { return }
      if let why {
        record.missingSound[type] = why
      } else if record.missingSound[type] == before {
        record.missingSound[type] = nil
      }
    }
  }
}
