import AppGroup

/// What a running capture reports to its session: that it captures only silence, and why.
package final class SoundReport: Sendable {
  private let board: SessionBoard
  private let session: SessionID
  private let type: SampleBufferType

  /// - Returns: nil if the text is not a session's.
  package init?(
    session text: String, _ type: SampleBufferType, in group: AppGroup
  ) throws(BroadcastError) {
    guard let session = SessionID(text) else { return nil }
    self.session = session
    self.type = type
    board = try SessionBoard(group, as: .capture)
  }

  /// - Parameter why: nil if there is sound again.
  package func set(missing why: String?) throws(BroadcastError) {
    try board.change(session) { if $0.phase != .finished { $0.silentSound[type] = why } }
  }
}
