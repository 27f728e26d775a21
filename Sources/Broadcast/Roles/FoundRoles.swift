import AppGroup
import FrameBus
import Platform

/// The running processes of a session, found by a new host.
struct FoundRoles {
  let capture: PeerProcess?
  /// The process that listens as the extension, or else one that was started as it.
  let extensionProcess: PeerProcess?
  /// Sound captures; without the other roles they do not make a session.
  let sound: [SampleBufferType: PeerProcess]
  /// Whether no process makes a session. An extension that does not listen does not.
  let isEmpty: Bool

  init(of record: BroadcastRecord, in group: AppGroup) {
    func publisher(of stream: StreamName) -> PeerProcess? {
      RolePresence.capture(of: record.session, publishing: stream, in: group)
    }
    capture = record.capturedStream.flatMap(publisher)
    sound = record.sound.streams.compactMapValues(publisher)
    let listening = RolePresence.process(of: .extension, in: group)
    extensionProcess = listening ?? record.session.extensions(in: group).first
    isEmpty = capture == nil && listening == nil
  }

  /// The processes that run as each role, except sound captures.
  var named: [Role: PeerProcess] {
    var named: [Role: PeerProcess] = [:]
    named[.capture] = capture
    named[.extension] = extensionProcess
    return named
  }

  /// As text for people.
  var text: String {
    named.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.key), process \($0.value.credentials.pid)" }.joined(separator: "; ")
      + ", which another host started"
  }

  var processes: [RoleProcess] {
    ([capture, extensionProcess].compactMap(\.self) + sound.values).map { .adopted($0) }
  }
}
