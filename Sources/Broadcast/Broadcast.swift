// A broadcast: a host that decides, a capture that publishes, an extension that takes the samples
// somewhere, each a process of its own, as ReplayKit's upload extensions have it.
//
// What is so, and what is wanted, stands in one small record that any member reads; a notification
// tells of each change. So nobody has to be alive for another to know, and a host may die and come
// back. This module refuses to encode, to know a network protocol, and to draw a picker.
// Protocol and failures: docs/design/broadcast.md.

import Sound

/// The names under which a broadcast is found in its group.
public enum BroadcastNames {
  /// The notification that is posted at each change; its state is a ``StateWord``.
  public static let state = "framebus.broadcast"
  /// The notification that tells whether the screen is being captured: state 1 or 0.
  public static let captured = "framebus.captured"
  /// The suite of settings in which the record lies, beside the switch of sound.
  static let suite = SoundSwitch.suiteName
  static let recordKey = "record"
}

/// How a host tells the extension that it starts what there is to know at once.
enum ExtensionEnvironment {
  /// The session, which the log of the process is filed under too.
  static let session = "FRAMEBUS_SESSION"
  static let identifier = "FRAMEBUS_EXTENSION"
  /// `video=screen,audio-app=audio.app`: where the samples that it wants come from.
  static let streams = "FRAMEBUS_STREAMS"
}

/// What a sample is of.
public enum SampleBufferType: String, Hashable, Sendable, CaseIterable {
  case video
  case audioApp = "audio-app"
  case audioMic = "audio-mic"

  /// The stream that has such samples where nobody names another.
  public var usualStream: String {
    switch self {
    case .video: "screen"
    case .audioApp: "audio.app"
    case .audioMic: "audio.mic"
    }
  }
}
