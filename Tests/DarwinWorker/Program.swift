import DarwinNotifications
import Platform

/// A process that uses the seed's class: `DarwinWorker send NAME`, or `DarwinWorker observe`, which
/// has two observers and drops one before it says so. It goes by the group of its environment.
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
