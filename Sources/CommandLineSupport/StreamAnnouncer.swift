import AppGroup
import FrameBus
import NotifyCenter
import SharedLog

/// Logs what becomes of a stream, and posts it as the notification `framebus.stream.NAME`, whose
/// state says what it is now: 0 while there is none, else 1, with the width of its pictures from
/// bit 32 on and their height from bit 48 on. A publisher that is killed leaves the state as it
/// was.
///
/// A stream is worth more than the news of it: where that cannot be posted, a warning says so.
public struct StreamAnnouncer: Sendable {
  private let stream: StreamName
  private let news: News?
  private let terminal: Terminal

  /// Announces in the role of `--role`, or any other in which this process may publish.
  public init(of stream: StreamName, in group: AppGroup, _ global: GlobalOptions) {
    self.stream = stream
    terminal = global.terminal
    do {
      news = try News(of: stream, in: group, global)
    } catch {
      news = nil
      warn(error)
    }
  }

  public func announce(_ change: StreamChange) {
    log(change)
    do { try news?.post(change) } catch { warn(error) }
  }

  private func log(_ change: StreamChange) {
    switch change {
    case .up(let format): ProductLog.append(.info, "stream up", fields(format))
    case .format(let format): ProductLog.append(.info, "stream changed", fields(format))
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
private struct News {
  let center: NotifyCenter
  let name: NotificationName

  init(of stream: StreamName, in group: AppGroup, _ global: GlobalOptions) throws {
    let own = group.ownRoles.first { Role.publishing.contains($0) }
    center = try NotifyCenter(
      group, role: try global.role(default: own ?? .capture), isSystem: true)
    name = try NotificationName("framebus.stream.\(stream)")
  }

  func post(_ change: StreamChange) throws(NotifyError) {
    // First, so that whoever is told finds it.
    try center.setState(Self.state(after: change), of: name)
    try center.post(name)
  }

  private static func state(after change: StreamChange) -> UInt64 {
    switch change {
    case .up(let format), .format(let format):
      1 | UInt64(UInt16(clamping: format.width)) << 32
        | UInt64(UInt16(clamping: format.height)) << 48
    case .down: 0
    }
  }
}
