import DarwinNotifications
import Platform

/// A process that uses the sample's class: `DarwinWorker send NAME`, or `DarwinWorker observe`,
/// which adds two observers and releases one before it prints `observing`. The environment selects
/// its group.
@main
struct Program {
  static func main() {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case "send":
      OTCAppealVC().sendNotificationForMessageWithIdentifier(identifier: arguments[2])
    case "observe":
      let kept = OTCAppealVC()
      kept.registerObserver()
      do {
        let dropped = OTCAppealVC()
        dropped.registerObserver()
      }
      print("observing")
      withExtendedLifetime(kept) { sleep(until: .never) }
    default: fatalError("usage: DarwinWorker send NAME | observe")
    }
  }
}
