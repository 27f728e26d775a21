import AppGroup
import Capture
import CredentialStore
import FrameBus
import Platform
import ScreenCast
import SharedLog

/// The desktop's portal. The host talks to it, because a program that may use the session bus can
/// have it start others: the capture gets a connection to PipeWire that sees one node.
extension RoleStarter {
  /// Has the user choose, or restores the choice.
  /// - Parameter portal: the session so far; then the new one, to be kept as long as the capture.
  /// - Returns: the capture's connection; nil for a source of another kind.
  func openPortal(
    _ portal: inout ScreenCastSession?, _ settings: CaptureSettings, stop: StopSignal
  ) throws(BroadcastError) -> Descriptor? {
    guard case .portal(let picture)? = try? SourceSpecification(request.source) else { return nil }
    if let former = portal.take(), case .closed = former.news() { throw .sharingEnded }
    do {
      let stream = try sources.streams[.video] ?? StreamName("screen")
      let asked = ScreenCastRequest(
        sourceType: picture.rawValue, drawsCursor: settings.drawsCursor ?? true)
      let opened = try ScreenCastSession.open(
        asked, keptIn: try RestoreToken(of: stream, in: group, request.credentials), stop: stop,
        noticed: { log.append(.warning, $0, label: Self.label) })
      portal = opened
      return opened.takeRemote()
    } catch let error as ScreenCastError {
      throw .portal("\(error)", mayPass: error.mayPass)
    } catch {
      throw .portal("\(error)", mayPass: false)
    }
  }
}

extension BroadcastError {
  static let sharingEnded = BroadcastError.portal(
    "the desktop ended the sharing, as its user asked; start the broadcast again to share",
    mayPass: false)
}
