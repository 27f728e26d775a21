// A broadcast has three roles, each in its own process, as with ReplayKit's upload extensions: a
// host that controls it, a capture that publishes, and an extension that receives the samples.
//
// One small record, which any member can read, holds the actual and the requested state; a
// notification follows each change. No process needs to be alive for another to know the state, so
// a host can die and be replaced. This module refuses to encode, to implement a network protocol,
// and to draw a picker. Protocol and failures: docs/design/broadcast.md.

import Capture
import FrameBus
import Sound

/// The names by which members find a group's broadcast.
public enum BroadcastNames {
  /// The notification posted at each change; its state is a ``StateWord``.
  public static let state = "framebus.broadcast"
  /// The notification of whether a subscriber sees a screen or window; its state is 1 or 0, as
  /// `ScreenCapturedState` says.
  public static let captured = CapturedAnnouncer.name
  /// Posted once at the start of each broadcast, as ReplayKit's extensions do by convention. These
  /// four names belong to no prefix, so the group's manifest says who may post them.
  public static let started = "broadcastStarted"
  /// Posted once each time that a broadcast pauses.
  public static let paused = "broadcastPaused"
  /// Posted once each time that a broadcast resumes.
  public static let resumed = "broadcastResumed"
  /// Posted once at the end of each broadcast, whatever its ending.
  public static let finished = "broadcastFinished"
  /// The settings suite of the record, which also holds the sound switch.
  static let suite = SoundSwitch.suiteName
  static let recordKey = "record"
  static let destinationsKey = "destinations"
}

/// The environment variables by which a host describes the broadcast to its extension.
enum ExtensionEnvironment {
  /// The session, under which the process's log is filed.
  static let session = "FRAMEBUS_SESSION"
  static let identifier = "FRAMEBUS_EXTENSION"
  /// The streams of the samples, such as `video=screen,audio-app=audio.app`.
  static let streams = "FRAMEBUS_STREAMS"
  /// The server that `framebus-upload` follows in settings, to which somebody has agreed.
  static let server = "FRAMEBUS_SERVER"
  /// The descriptor of a connection to PipeWire, with which the extension can offer a camera.
  static let camera = "FRAMEBUS_CAMERA"
}

/// The kind of a sample.
public enum SampleBufferType: String, Hashable, Sendable, CaseIterable {
  /// Pictures.
  case video
  /// Sound of applications.
  case audioApp = "audio-app"
  /// Sound of the microphone.
  case audioMic = "audio-mic"

  /// The default stream of this kind.
  public var usualStream: String {
    switch self {
    case .video: "screen"
    case .audioApp: "audio.app"
    case .audioMic: "audio.mic"
    }
  }

  /// The stream of this kind in a broadcast whose pictures have the given stream.
  package func stream(beside pictures: StreamName) throws(StreamNameError) -> StreamName {
    self == .video ? pictures : try StreamName("\(pictures).\(usualStream)")
  }
}

extension SoundSwitch {
  func isOn(_ type: SampleBufferType) -> Bool { type == .audioMic ? mic : app }
}
