// FrontApplication: which application is in front of what a stream shows.
//
// The stream's capture tells, its group reads. This module refuses to find out, which CaptureX11
// does, and to vouch: windows name themselves, so a name is there to be shown, never to decide by.
import AppGroup
import FrameBus
import SharedDefaults

/// The application in front of one stream, a setting that its capture keeps.
package final class FrontApplication: Sendable {
  private let suite: SharedDefaults
  private let key: String

  private static let suiteName = "framebus.front"

  package init(of stream: StreamName, in group: AppGroup) throws(DefaultsError) {
    key = stream.text
    // The name of a stream is no secret, whatever it looks like.
    suite = try SharedDefaults(suiteName: Self.suiteName, in: group, plainKeys: [key])
  }

  /// Nil if none is in front, or nobody tells.
  package var current: ApplicationID? { suite.string(forKey: key).flatMap(ApplicationID.init) }

  package func set(_ application: ApplicationID?) throws(DefaultsError) {
    if application == current { return }
    if let application {
      try suite.set(application.text, forKey: key)
    } else {
      try suite.removeObject(forKey: key)
    }
  }

  /// Calls a closure after each change, on a thread that all observers of the process share.
  package func observe(
    _ changed: @escaping @Sendable () -> Void
  ) throws(DefaultsError) -> DefaultsObservation {
    try suite.observe(key) { _ in changed() }
  }
}
