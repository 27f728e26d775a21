/// The center of the process's group: of the one in `FRAMEBUS_GROUP`, else of the local one. A
/// program that wants another makes one with ``CFNotificationCenter/init(_:)``.
public func CFNotificationCenterGetDarwinNotifyCenter() -> CFNotificationCenter { .darwin }

/// Calls `callBack` after each post of a name, on a thread that all observers of the process share.
/// - Parameters:
///   - observer: handed to the callback, and by which to remove it; never followed. It is to stay
///     valid until `CFNotificationCenterRemoveObserver` has returned.
///   - name: nil, which asks for every name, is refused by the Darwin center, and does nothing.
///   - object, suspensionBehavior: ignored, as the Darwin center does.
public func CFNotificationCenterAddObserver(
  _ center: CFNotificationCenter?, _ observer: UnsafeRawPointer?,
  _ callBack: CFNotificationCallback?, _ name: CFString?, _ object: UnsafeRawPointer?,
  _ suspensionBehavior: CFNotificationSuspensionBehavior
) {
  guard let center, let callBack = unsafe callBack, let name else { return }
  let number = UInt(bitPattern: observer)
  center.observe(name, as: number) { [weak center] in
    // SAFETY: the pointer is only passed on; who added the observer keeps it valid until it is
    // removed.
    unsafe callBack(
      center, UnsafeMutableRawPointer(bitPattern: number), CFNotificationName(name), nil, nil)
  }
}

/// Posts a name. Whoever observes it is told soon, whatever `deliverImmediately` says.
/// - Parameters:
///   - object, userInfo, deliverImmediately: ignored, as the Darwin center does.
public func CFNotificationCenterPostNotification(
  _ center: CFNotificationCenter?, _ name: CFNotificationName?, _ object: UnsafeRawPointer?,
  _ userInfo: CFDictionary?, _ deliverImmediately: Bool
) {
  guard let center, let name else { return }
  center.post(name.rawValue)
}

/// Removes what was added with an observer and a name; with no name, all of the observer's. When
/// this returns its callback is not running, unless this was called from it, and is never called
/// again.
public func CFNotificationCenterRemoveObserver(
  _ center: CFNotificationCenter?, _ observer: UnsafeRawPointer?, _ name: CFNotificationName?,
  _ object: UnsafeRawPointer?
) {
  center?.remove(UInt(bitPattern: observer), name?.rawValue)
}

/// Removes all that was added with an observer.
public func CFNotificationCenterRemoveEveryObserver(
  _ center: CFNotificationCenter?, _ observer: UnsafeRawPointer?
) {
  center?.remove(UInt(bitPattern: observer), nil)
}
