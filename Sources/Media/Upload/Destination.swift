// The module Upload: receives frames from a stream and passes them to a destination.
//
// It refuses to know an encoder, a container or a network protocol, and to link a media library:
// other modules add those as conformances to `Destination`, without a change here.

import AppGroup
import FrameBus
import Platform
import Sound

/// The target of a stream's frames: a file, a network peer, or nothing.
///
/// Calls come from one thread, in the order `prepare`, then `waitForRoom` and `accept` for each
/// frame, then `finish` or `abandon`. A destination opens its output with the first frame, so
/// that a run without frames leaves no output behind.
public protocol Destination: AnyObject {
  /// The output's name in the summary: a path, a URL, or a word.
  var output: String { get }

  /// The maximum number of frames that it keeps at once. The subscriber requests one more hold
  /// from the publisher, because the runner keeps the newest frame itself.
  var heldFrames: Int { get }

  /// What it can use of the pictures. Asked before each frame, and at least once a second: the
  /// source may publish less if no other subscriber needs more.
  var pictureDemand: Demand { get }

  /// Whether the newest frame should be sent again while the screen stands still, so that players
  /// see at least one frame a second.
  var wantsRepeatedFrames: Bool { get }

  /// The number of frames it takes before it is full; nil for no limit.
  var frameLimit: Int? { get }

  /// Bytes sent or written so far.
  var byteCount: UInt64 { get }

  /// Frames that were accepted but not delivered, such as the first frames of a connection that
  /// is never established.
  var lostFrames: Int { get }

  /// The network to its peer; nil if there is none, or nothing is known of it.
  var network: NetworkFigures? { get }

  /// Whether it connects to a peer, and reports by `DestinationSetup.onLive` and `onLoss` whether
  /// that accepts samples.
  var connects: Bool { get }

  /// Why no peer has accepted anything yet; nil once one has, and for an output without a peer.
  var unconnected: DestinationError? { get }

  /// Whether it takes no pictures, such as an endpoint whose answer refuses them. They are lost,
  /// but a limit of frames counts them.
  var refusesPictures: Bool { get }

  /// What it consists of, if it is several.
  var parts: [DestinationFigures] { get }

  /// Whether it can carry sound beside the pictures. Asked once, before `prepare`.
  var takesSound: Bool { get }

  /// Called before `prepare` if streams of sound were requested, whether or not they exist yet: an
  /// output whose first bytes list its tracks then includes a sound track.
  func expectSound()

  /// Fails early on an unusable configuration: a path that cannot be written, an encoder that is
  /// not installed. Leaves nothing behind.
  func prepare() throws(DestinationError)

  /// Waits until `accept` can take a frame without waiting.
  /// - Returns: false if the deadline passed or the signal was raised first.
  func waitForRoom(until deadline: Deadline, stop: StopSignal?) throws(DestinationError) -> Bool

  /// Takes a frame, and keeps it until it has been read. Its format may differ from that of the
  /// previous frame.
  /// - Parameter ptsNs: nanoseconds since the first frame, strictly increasing.
  func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError)

  /// Takes the next ten milliseconds of sound; never blocks. Called only after `expectSound`.
  ///
  /// Chunks arrive in order and without gaps, with silence where no stream has sound. Pictures
  /// arrive first, if there are any; then a chunk arrives as soon as every active stream has
  /// contributed to it, which may be before or after the pictures of its time.
  /// - Parameter ptsNs: on the pictures' timeline; a multiple of 10 ms.
  func accept(_ sound: SoundChunk, ptsNs: UInt64) throws(DestinationError)

  /// Changes the bitrate of the pictures, at once and for later connections.
  /// - Parameter bitsPerSecond: nil to derive it from the frame size.
  func use(bitsPerSecond: Int?)

  /// Sends to another address of the same kind from the next frame on. The old address stays if
  /// this throws.
  /// - Returns: false if it is the present address.
  func move(to address: String) throws(DestinationError) -> Bool

  /// Sends the remaining data and closes the output, complete.
  func finish() throws(DestinationError)

  /// Stops at once and releases every frame. Data already written remains, as playable as it is;
  /// an empty output is removed.
  func abandon()
}

extension Destination {
  public var pictureDemand: Demand { .everything }
  public var frameLimit: Int? { nil }
  public var lostFrames: Int { 0 }
  public var network: NetworkFigures? { nil }
  public var connects: Bool { false }
  public var unconnected: DestinationError? { nil }
  public var refusesPictures: Bool { false }
  public var parts: [DestinationFigures] { [] }
  public var takesSound: Bool { false }
  public func expectSound() {}
  public func accept(_ sound: SoundChunk, ptsNs: UInt64) throws(DestinationError) {}
  public func use(bitsPerSecond: Int?) {}
  public func move(to address: String) throws(DestinationError) -> Bool {
    throw .peer(reason: "the address of \(output) cannot change", isMisuse: true)
  }
}

/// A row's destination: how the address of a kind becomes a destination.
public struct DestinationMaker: Sendable {
  public typealias Make =
    @Sendable (DestinationSpecification, DestinationSetup) throws(DestinationError)
    -> any Destination

  public let kinds: [DestinationKind]
  let make: Make

  public init(_ kinds: [DestinationKind], _ make: @escaping Make) {
    self.kinds = kinds
    self.make = make
  }
}

/// What a destination is made from, besides its address.
public struct DestinationSetup: Sendable {
  public var encoder = EncoderSettings()
  /// The passphrase or stream key, of kinds that have one.
  public var secret: String?
  /// Where a replay is kept; nil outside of a group.
  public var replay: ReplayPlace?
  /// An inherited connection to PipeWire that can offer a camera; nil to connect to the user's.
  public var cameraConnection: Int32?
  /// Whether a first attempt that failed is repeated, as after a lost connection: nobody waits at
  /// a terminal to correct the cause.
  public var retriesFirst = false
  /// How long to try to reconnect to a lost peer.
  public var reconnectsFor = Duration.seconds(120)
  /// Called on any thread when the peer has accepted a sample over a new connection.
  public var onLive: @Sendable () -> Void = {}
  /// Called on the uploading thread with a failed or lost connection's error and the time until the
  /// next attempt.
  public var onLoss: @Sendable (DestinationError, Duration) -> Void = { _, _ in }

  public init(encoder: EncoderSettings = EncoderSettings()) { self.encoder = encoder }
}

/// Where the uploader keeps the newest seconds of a stream.
public struct ReplayPlace: Hashable, Sendable {
  /// The group's directory of streams.
  public let directoryPath: String
  public let stream: StreamName

  public init(_ stream: StreamName, in group: AppGroup) {
    self.stream = stream
    directoryPath = group.streamsPath
  }
}
