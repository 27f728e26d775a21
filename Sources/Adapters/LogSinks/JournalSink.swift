import Platform
import SharedLog
import Synchronization

// Further destinations for the lines of a SharedLog: systemd's journal, and files of JSON lines.
// Private values in the lines stay in the group. This module refuses to block a caller that logs:
// lines that a sink does not accept are dropped and counted.

/// Sends lines to journald by its native protocol (systemd's “Native Journal Protocol”): a datagram
/// of fields, or a sealed memory file if they do not fit into one.
///
/// A line's fields are `MESSAGE`, `PRIORITY`, `SYSLOG_IDENTIFIER`, `CODE_FILE` and `CODE_LINE`, and
/// FrameBus's own `FRAMEBUS_LABEL`, and `FRAMEBUS_FIELD_KEY` for each key of the metadata.
public final class JournalSink: LogSink {
  /// Where systemd's journal listens.
  public static let usualPath = "/run/systemd/journal/socket"

  private struct State: ~Copyable {
    var sender: DatagramSender?
    var droppedCount: UInt64 = 0
  }

  private let identifier: String
  private let path: String
  private let state: Mutex<State>

  /// - Parameter identifier: the program's name in the journal.
  /// - Throws: if no journal listens at the path.
  public init(
    identifier: String, path: String = JournalSink.usualPath
  ) throws(SystemError) {
    self.identifier = identifier
    self.path = path
    state = Mutex(State(sender: try DatagramSender(to: path)))
  }

  /// Lines that the journal did not accept: its queue was full, or it was not running.
  public var droppedCount: UInt64 { state.withLock { $0.droppedCount } }

  /// Sends a line; one that the journal does not take at once is counted as dropped.
  public func append(_ line: LogLine) {
    let bytes = JournalFields(line, identifier: identifier).bytes
    state.withLock { state in
      if send(bytes, &state) { return }
      // A journal that was restarted without its socket listens on a new one at the same path.
      state.sender = try? DatagramSender(to: path)
      if !send(bytes, &state) { state.droppedCount += 1 }
    }
  }

  /// - Returns: false if sending failed and may succeed with a new connection.
  private func send(_ bytes: [UInt8], _ state: inout State) -> Bool {
    switch state.sender?.send(bytes) {
    case .sent: return true
    case .tooLarge: return sendSealed(bytes, &state)
    case .full:
      state.droppedCount += 1
      return true
    case .gone, nil: return false
    }
  }

  private func sendSealed(_ bytes: [UInt8], _ state: inout State) -> Bool {
    // The journal of systemd 252 rejects a file with a seal that it does not know.
    let file = try? MemoryFile(named: "framebus-log", byteCount: bytes.count, isExecutable: true)
    guard let file else { return false }
    do {
      // SAFETY: UInt8 has no padding.
      try file.initialize(from: unsafe bytes.span.bytes)
      try file.add([.size, .writes, .seals])
    } catch { return false }
    if case .sent = state.sender?.send(file) { return true }
    return false
  }
}
