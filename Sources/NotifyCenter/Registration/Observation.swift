import Platform

/// An observer's registration, by which it is suspended, resumed and cancelled. When the last
/// reference to it goes, it is cancelled.
public final class Observation: Sendable {
  let core: ObservationCore

  init(_ core: ObservationCore) { self.core = core }

  public var name: NotificationName { core.name }

  /// A descriptor that is readable from a post until ``take()``; nil unless it was asked for by
  /// ``NotifyCenter/observeByDescriptor(_:)``. It stays this object's: never close it, and never
  /// read from it.
  public var descriptor: Int32? { core.counter?.number }

  /// Whether the name was posted since the last check, or this is the first one. Makes no system
  /// call, and neither waits for deliveries nor takes any away.
  public func check() -> Bool { core.check() }

  /// Takes what is to be delivered, for observers by descriptor, signal or check.
  /// - Returns: nil if there was no post since the last delivery, or it is suspended.
  public func take() throws(NotifyError) -> Delivery? { try core.take() }

  /// Holds deliveries back until ``resume()`` was called as often.
  public func suspend() throws(NotifyError) { try core.suspend() }

  /// Ends a ``suspend()``; the posts that came meanwhile are delivered as one.
  public func resume() throws(NotifyError) { try core.resume() }

  public var isSuspended: Bool { core.isSuspended }

  /// Ends the observation. When this returns, its closure is not running, unless this was called
  /// from it, and is never called again. Calling it again does nothing.
  public func cancel() { core.cancel() }

  deinit { core.cancel() }
}
