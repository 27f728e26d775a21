import CSessionBus
import Platform

/// Why the portal gives no pictures, and what to do.
package enum ScreenCastError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The run was stopped.
  case stopped
  case noLibrary
  case noBus(String)
  case noPortal(String)
  case unsupported
  /// The user closed the dialog.
  case declined
  case ended(String)
  case refused(String)
  case malformed(String)
  case silent

  package var description: String {
    switch self {
    case .stopped: "stopped"
    case .noLibrary:
      "the desktop's portal cannot be asked: libsystemd.so.0 cannot be loaded; install libsystemd0"
    case .noBus(let why):
      "the desktop's portal cannot be asked: \(why); run in the desktop's session, or start one"
        + " with `dbus-run-session`"
    case .noPortal(let why):
      "no desktop portal offers pictures of the screen (\(why)); install xdg-desktop-portal and the"
        + " backend of your desktop, such as xdg-desktop-portal-wlr, and set XDG_CURRENT_DESKTOP"
    case .unsupported:
      "this desktop's portal does not offer such a source; try portal:monitor, and"
        + " `framebus doctor` lists what it offers"
    case .declined:
      "the user declined: the desktop's dialog was closed without a choice; capture again, and"
        + " choose"
    case .ended(let why): "the desktop's portal ended the session: \(why); capture again"
    case .refused(let why):
      "the desktop's portal refused: \(why); its log says more: `journalctl --user -u"
        + " xdg-desktop-portal`"
    case .malformed(let why):
      "the desktop's portal gave an answer that cannot be used: \(why); update xdg-desktop-portal"
    case .silent:
      "the desktop's portal does not answer; check it with `systemctl --user status"
        + " xdg-desktop-portal`"
    }
  }
}

extension ScreenCastError {
  /// What happened, without what to do.
  package var cause: String {
    switch self {
    case .noBus(let why): why
    case .noPortal(let why): "no portal offers pictures of the screen (\(why))"
    default: "\(self)"
    }
  }

  /// Whether it may be otherwise in a while. What the user decided is not asked again.
  package var mayPass: Bool {
    switch self {
    case .noBus, .noPortal, .ended, .silent: true
    case .stopped, .noLibrary, .unsupported, .declined, .refused, .malformed: false
    }
  }

  /// - Returns: nil for a success.
  init?(_ result: screencast_result, of screencast: OpaquePointer) {
    // SAFETY: the text is copied at once, and its owner lives.
    let why = unsafe String(cString: screencast_failure(screencast)).plain
    switch result {
    case SCREENCAST_OK: return nil
    case SCREENCAST_STOPPED: self = .stopped
    case SCREENCAST_NO_LIBRARY: self = .noLibrary
    case SCREENCAST_NO_BUS: self = .noBus(why)
    case SCREENCAST_NO_PORTAL: self = .noPortal(why)
    case SCREENCAST_UNSUPPORTED: self = .unsupported
    case SCREENCAST_DECLINED: self = .declined
    case SCREENCAST_ENDED: self = .ended(why)
    case SCREENCAST_REFUSED: self = .refused(why)
    case SCREENCAST_SILENT: self = .silent
    default: self = .malformed(why)
    }
  }
}
