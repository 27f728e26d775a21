/// The center of the process's group: that of `FRAMEBUS_GROUP` if it is set, otherwise the local
/// group. For another group, use ``CFNotificationCenter/init(_:)``.
public func CFNotificationCenterGetDarwinNotifyCenter() -> CFNotificationCenter { .darwin }

/// Calls `callBack` after each post of a name, on a thread shared by all observers of the process.
/// - Parameters:
///   - observer: passed to the callback, and identifies the registration for removal; never
///     dereferenced. It must stay valid until `CFNotificationCenterRemoveObserver` has returned.
///   - name: nil, which means every name, does nothing; the Darwin center does not allow it.
///   - object: ignored, as by the Darwin center.
///   - suspensionBehavior: ignored, as by the Darwin center.
public func CFNotificationCenterAddObserver(
  _ center: CFNotificationCenter?, _ observer: UnsafeRawPointer?,
  _ callBack: CFNotificationCallback?, _ name: CFString?, _ object: UnsafeRawPointer?,
  _ suspensionBehavior: CFNotificationSuspensionBehavior
) {
  guard let center, let callBack = unsafe callBack, let name else { return }
  let number = UInt(bitPattern: observer)
  center.observe(name, as: number) { [weak center] in
    // SAFETY: the pointer is only passed on; the caller that added the observer keeps it valid
    // until it is removed.
    unsafe callBack(
      center, UnsafeMutableRawPointer(bitPattern: number), CFNotificationName(name), nil, nil)
  }
}

/// Posts a notification to its observers, always at once.
/// - Parameters:
///   - object: ignored, as by the Darwin center.
///   - userInfo: ignored, as by the Darwin center.
///   - deliverImmediately: ignored, as by the Darwin center.
public func CFNotificationCenterPostNotification(
  _ center: CFNotificationCenter?, _ name: CFNotificationName?, _ object: UnsafeRawPointer?,
  _ userInfo: CFDictionary?, _ deliverImmediately: Bool
) {
  guard let center, let name else { return }
  center.post(name.rawValue)
}

/// Removes the registration of an observer for a name, or all of the observer's if `name` is nil.
/// When this returns, the callback is not running, unless it is the caller, and is never called
/// again.
public func CFNotificationCenterRemoveObserver(
  _ center: CFNotificationCenter?, _ observer: UnsafeRawPointer?, _ name: CFNotificationName?,
  _ object: UnsafeRawPointer?
) {
  center?.remove(UInt(bitPattern: observer), name?.rawValue)
}

/// Removes all registrations of an observer.
public func CFNotificationCenterRemoveEveryObserver(
  _ center: CFNotificationCenter?, _ observer: UnsafeRawPointer?
) {
  center?.remove(UInt(bitPattern: observer), nil)
}
