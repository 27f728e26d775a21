import Platform

/// One observation of a name, to suspend, resume and cancel it. Releasing the last reference
/// cancels it.
public final class Observation: Sendable {
  let core: ObservationCore

  init(_ core: ObservationCore) { self.core = core }

  /// The name of the notification.
  public var name: NotificationName { core.name }

  /// A descriptor that is readable from a post until ``take()``; nil unless the observation is by
  /// ``NotifyCenter/observeByDescriptor(_:)``. This object owns it: never close it or read from it.
  public var descriptor: Int32? { core.counter?.number }

  /// Whether the name was posted since the last check; true for the first check. Makes no system
  /// call, and does not affect deliveries.
  public func check() -> Bool { core.check() }

  /// Takes the pending delivery, for observers by descriptor, signal or check.
  /// - Returns: nil if there was no post since the last delivery, or the observation is suspended.
  public func take() throws(NotifyError) -> Delivery? { try core.take() }

  /// Holds deliveries back until ``resume()`` was called as many times.
  public func suspend() throws(NotifyError) { try core.suspend() }

  /// Ends a ``suspend()``. Posts made meanwhile are delivered as one.
  public func resume() throws(NotifyError) { try core.resume() }

  /// Whether deliveries wait for `resume`.
  public var isSuspended: Bool { core.isSuspended }

  /// Ends the observation. When this returns, its closure is not running, unless this was called
  /// from it, and will not be called again. Further calls do nothing.
  public func cancel() { core.cancel() }

  deinit { core.cancel() }
}
