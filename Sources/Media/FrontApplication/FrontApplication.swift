// FrontApplication: the setting in which a capture and a host name the frontmost application of a
// stream. The later one wins, and the capture annotates its stream with it.
//
// This module refuses to determine it, which CaptureX11 does, and to authenticate it: windows name
// themselves, so use a name for display, never for a decision.
import AppGroup
import FrameBus
import SharedDefaults

/// The frontmost application of one stream, a setting that the stream's capture maintains.
package final class FrontApplication: Sendable {
  private let suite: SharedDefaults
  private let key: String

  private static let suiteName = "framebus.front"

  package init(of stream: StreamName, in group: AppGroup) throws(DefaultsError) {
    key = stream.text
    // The name of a stream is not a secret, even if it looks like one.
    suite = try SharedDefaults(suiteName: Self.suiteName, in: group, plainKeys: [key])
  }

  /// Nil if no application is in front, or if no capture reports it.
  package var current: ApplicationID? { suite.string(forKey: key).flatMap(ApplicationID.init) }

  package func set(_ application: ApplicationID?) throws(DefaultsError) {
    if application == current { return }
    if let application {
      try suite.set(application.text, forKey: key)
    } else {
      try suite.removeObject(forKey: key)
    }
  }

  /// Calls a closure after each change, on a thread shared by all observers of the process.
  package func observe(
    _ changed: @escaping @Sendable () -> Void
  ) throws(DefaultsError) -> DefaultsObservation {
    try suite.observe(key) { _ in changed() }
  }
}
