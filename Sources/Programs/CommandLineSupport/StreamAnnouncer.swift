import AppGroup
import FrameBus
import NotifyCenter
import SharedLog

/// Logs changes of a stream, and posts them as the notification `framebus.stream.NAME`. Its state
/// is 0 without a stream, and otherwise 1 with the picture width from bit 32 and the height from
/// bit 48; in a pause, bits 8–15 have the number of its `PauseReason`. A killed publisher leaves
/// the state as it was. A pause is also reported on the terminal.
///
/// A notification that cannot be posted only causes a warning; the stream continues.
public struct StreamAnnouncer: Sendable {
  private let stream: StreamName
  private let notification: StreamNotification?
  private let terminal: Terminal

  /// Posts in the role of `--role`, or else in a role in which this process may publish.
  public init(of stream: StreamName, in group: AppGroup, _ global: GlobalOptions) {
    self.stream = stream
    terminal = global.terminal
    do {
      notification = try StreamNotification(of: stream, in: group, global)
    } catch {
      notification = nil
      warn(error)
    }
  }

  public func announce(_ change: StreamChange) {
    log(change)
    do { try notification?.post(change) } catch { warn(error) }
  }

  private func log(_ change: StreamChange) {
    switch change {
    case .up(let format): ProductLog.append(.info, "stream up", fields(format))
    case .format(let format): ProductLog.append(.info, "stream changed", fields(format))
    case .paused(let reason):
      ProductLog.append(
        .notice, "stream paused: \(reason.explanation)",
        [LogField("stream", stream.text), LogField("reason", "\(reason)")])
      terminal.report("paused: \(reason.explanation)")
    case .resumed:
      ProductLog.append(.notice, "stream resumed", [LogField("stream", stream.text)])
      terminal.report("resumed")
    case .down: ProductLog.append(.info, "stream gone", [LogField("stream", stream.text)])
    }
  }

  private func fields(_ format: FrameFormat) -> [LogField] {
    [
      LogField("stream", stream.text), LogField("size", "\(format.width)x\(format.height)"),
      LogField("format", "\(format.fourcc)"),
    ]
  }

  private func warn(_ error: any Error) { terminal.warn("the stream is not announced: \(error)") }
}

/// One stream's notification.
private struct StreamNotification {
  let center: NotifyCenter
  let name: NotificationName

  init(of stream: StreamName, in group: AppGroup, _ global: GlobalOptions) throws {
    let own = group.ownRoles.first { Role.publishing.contains($0) }
    center = try NotifyCenter(
      group, role: try global.role(default: own ?? .capture), isSystem: true)
    name = try NotificationName("framebus.stream.\(stream)")
  }

  func post(_ change: StreamChange) throws(NotifyError) {
    // State first, so that an observer of the notification reads the new state.
    try center.setState(Self.state(after: change, center.state(of: name)), of: name)
    try center.post(name)
  }

  private static func state(after change: StreamChange, _ before: UInt64) -> UInt64 {
    let live = before & ~0xff00
    return switch change {
    case .up(let format), .format(let format):
      1 | UInt64(UInt16(clamping: format.width)) << 32
        | UInt64(UInt16(clamping: format.height)) << 48
    case .paused(let reason): live | UInt64(reason.rawValue) << 8
    case .resumed: live
    case .down: 0
    }
  }
}
