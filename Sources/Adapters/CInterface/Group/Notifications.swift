import AppGroup
import CFrameBus
import NotifyCenter
import Platform

/// SAFETY: as of all pointers of C (CStructures.swift), in this file.

final class NotificationsBox: Handled {
  static let kind = HandleKind.notifications
  let center: NotifyCenter
  init(_ center: NotifyCenter) { self.center = center }

  /// The name that C passes.
  func name(_ pointer: UnsafePointer<CChar>?) throws(CFailure) -> NotificationName {
    let name = try unsafe text(pointer, "name")
    return try NotifyError.converted(try NotificationName(name))
  }
}

final class ObservationBox: Handled {
  static let kind = HandleKind.observation
  let observation: Observation
  init(_ observation: Observation) { self.observation = observation }
}

@c @implementation
public func framebus_notifications_open(
  _ group: OpaquePointer!, _ role: UnsafePointer<CChar>!,
  _ notifications: UnsafeMutablePointer<OpaquePointer?>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(group, GroupBox.self, error) { box throws(CFailure) in
    try unsafe require(notifications)
    let role = try unsafe CInterface.role(role)
    let center = try NotifyError.converted(try NotifyCenter(box.group, role: role))
    try unsafe set(notifications, NotificationsBox(center))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_notifications_close(_ notifications: OpaquePointer!) -> Int32 {
  unsafe closeHandle(notifications, NotificationsBox.self)
}

@c @implementation
public func framebus_notifications_post(
  _ notifications: OpaquePointer!, _ name: UnsafePointer<CChar>!,
  _ total_count: UnsafeMutablePointer<UInt64>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(notifications, NotificationsBox.self, error) { box throws(CFailure) in
    let name = try unsafe box.name(name)
    let total = try NotifyError.converted(try box.center.post(name))
    if let total_count = unsafe total_count { unsafe total_count.pointee = total }
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_notifications_get_state(
  _ notifications: OpaquePointer!, _ name: UnsafePointer<CChar>!,
  _ state: UnsafeMutablePointer<UInt64>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(notifications, NotificationsBox.self, error) { box throws(CFailure) in
    let name = try unsafe box.name(name)
    try unsafe set(state, "state", to: try NotifyError.converted(try box.center.state(of: name)))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_notifications_set_state(
  _ notifications: OpaquePointer!, _ name: UnsafePointer<CChar>!, _ state: UInt64,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(notifications, NotificationsBox.self, error) { box throws(CFailure) in
    let name = try unsafe box.name(name)
    try NotifyError.converted(try box.center.setState(state, of: name))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_observation_open(
  _ notifications: OpaquePointer!, _ name: UnsafePointer<CChar>!,
  _ observation: UnsafeMutablePointer<OpaquePointer?>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(notifications, NotificationsBox.self, error) { box throws(CFailure) in
    try unsafe require(observation)
    let name = try unsafe box.name(name)
    let made = try NotifyError.converted(try box.center.observeByDescriptor(name))
    try unsafe set(observation, ObservationBox(made))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_observation_close(_ observation: OpaquePointer!) -> Int32 {
  unsafe closeHandle(observation, ObservationBox.self)
}

@c @implementation
public func framebus_observation_descriptor(_ observation: OpaquePointer!) -> Int32 {
  unsafe using(observation, ObservationBox.self) { box throws(CFailure) in
    Int(box.observation.descriptor ?? -1)
  }
}

@c @implementation
public func framebus_observation_next(
  _ observation: OpaquePointer!, _ deadline_ns: UInt64, _ stop: OpaquePointer!,
  _ delivery: UnsafeMutablePointer<framebus_delivery>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(observation, ObservationBox.self, error) { box throws(CFailure) in
    let stop = try unsafe stopSignal(stop)
    try unsafe require(delivery, "delivery")
    let deadline = Deadline(monotonicNs: deadline_ns)
    while true {
      if let taken = try NotifyError.converted(try box.observation.take()) {
        try unsafe store(framebus_delivery(taken), into: delivery)
        return FRAMEBUS_OK
      }
      if stop?.isRaised == true { return FRAMEBUS_STOPPED }
      if deadline.isPast { return FRAMEBUS_TIMED_OUT }
      guard let number = box.observation.descriptor else { return FRAMEBUS_TIMED_OUT }
      _ = Platform.poll(number, stop?.descriptorNumber, until: deadline)
    }
  }
}

extension framebus_delivery {
  fileprivate init(_ delivery: Delivery) {
    self.init(
      size: 0, total_count: delivery.generation, coalesced_count: delivery.coalesced,
      state: delivery.state, poster_pid: delivery.poster?.pid ?? 0,
      poster_uid: delivery.poster?.uid ?? 0, has_poster: delivery.poster == nil ? 0 : 1,
      is_reset: delivery.isReset ? 1 : 0)
  }
}
