// Swift written for Apple's Core Foundation, copied from notes on ReplayKit token for token: only
// the import differs, and a class was added around it.
import DarwinNotifications

final class OTCAppealVC {
  func sendNotificationForMessageWithIdentifier(identifier: String) {
    let center: CFNotificationCenter = CFNotificationCenterGetDarwinNotifyCenter()
    let identifierRef: CFNotificationName = CFNotificationName(identifier as CFString)
    CFNotificationCenterPostNotification(center, identifierRef, nil, nil, true)
  }

  func callback(_ name: String) {
    print("received notification: \(name)")
  }

  func registerObserver() {
    let observer = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    CFNotificationCenterAddObserver(
      CFNotificationCenterGetDarwinNotifyCenter(), observer,
      { (_, observer, name, _, _) -> Void in
        if let observer = observer, let name = name {
          // Extract pointer to `self` from void pointer:
          let mySelf = Unmanaged<OTCAppealVC>.fromOpaque(observer).takeUnretainedValue()
          // Call instance method:
          mySelf.callback(name.rawValue as String)
        }
      }, "broadcastFinished" as CFString, nil, .deliverImmediately)
  }

  deinit {
    let observer = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    let cfName: CFNotificationName = CFNotificationName("broadcastFinished" as CFString)
    CFNotificationCenterRemoveObserver(
      CFNotificationCenterGetDarwinNotifyCenter(), observer, cfName, nil)
  }
}
