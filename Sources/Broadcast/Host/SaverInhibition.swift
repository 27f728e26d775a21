import CSessionBus
import Platform
import SharedLog

/// Asks the desktop to keep its screen saver and its locker off, as a video player does: they have
/// timers of their own beside the X server's.
///
/// The host holds it, because a capture's sandbox has no session bus, and no other process lasts as
/// long. It ends with the host's connection to the bus, so also if the host is killed. A thread of
/// its own asks: a service may take its time.
struct SaverInhibition {
  private let stop: StopSignal
  private let ended: StopSignal

  /// How long an end may take. The connection ends with the process at the latest.
  private static let endTimeout = Duration.seconds(2)

  init(_ log: SharedLog) throws(SystemError) {
    let (stop, ended) = (try StopSignal(), try StopSignal())
    self.stop = stop
    self.ended = ended
    try startThread(named: "saver") {
      Self.hold(until: stop, log)
      ended.raise()
    }
  }

  func end() {
    stop.raise()
    _ = try? firstReadable(ended.descriptorNumber, until: .after(Self.endTimeout))
  }

  private static func hold(until stop: StopSignal, _ log: SharedLog) {
    // SAFETY: this thread alone has the inhibition, and ends it once.
    guard
      let inhibition = unsafe session_inhibit_saver("FrameBus", "A broadcast shows the screen")
    else { return }
    defer { unsafe session_inhibition_end(inhibition) }
    // SAFETY: the text is copied while the inhibition lives.
    if let failure = unsafe session_inhibition_failure(inhibition) {
      let why = unsafe String(cString: failure).plain
      return log.append(
        .info,
        "the desktop is not asked to keep its screen saver and locker off (\(why)); "
          + "the X server's saver is off", label: HostRun.label)
    }
    log.append(
      .info, "the desktop keeps its screen saver and locker off", label: HostRun.label)
    _ = try? firstReadable(stop.descriptorNumber, until: .never)
  }
}

extension RoleStarter {
  /// Whether nobody's absence may hide the captured screen.
  var inhibitsSaver: Bool { request.captureSettings(for: manifest).whileSaver == .inhibit }
}
