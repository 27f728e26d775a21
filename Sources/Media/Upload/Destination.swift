// The module Upload: takes frames off a stream and hands them to a destination.
//
// It refuses to know an encoder, a container or a network protocol, and to link a media library:
// those join as further conformances to `Destination`, without a change here.

import FrameBus
import Platform
import Sound

/// Where a stream's frames go: a file, a network peer, or nowhere.
///
/// Calls come from one thread, in the order `prepare`, then `waitForRoom` and `accept` for each
/// frame, then `finish` or `abandon`. A destination opens its output only with the first frame,
/// so that one which never gets a frame leaves nothing behind.
public protocol Destination: AnyObject {
  /// What the summary calls the output: a path, a URL, or a word.
  var output: String { get }

  /// Frames it may keep at once. The subscriber asks the publisher for so many holds and one
  /// more, since the runner keeps the newest frame itself.
  var heldFrames: Int { get }

  /// Whether the newest frame should be sent again while the screen stands still, so that players
  /// see at least one frame a second.
  var wantsRepeatedFrames: Bool { get }

  /// Frames it takes before it is full; nil for any number.
  var frameLimit: Int? { get }

  /// Bytes sent or written so far.
  var byteCount: UInt64 { get }

  /// Frames that it accepted and that went nowhere, as those do that begin a connection which does
  /// not come about.
  var lostFrames: Int { get }

  /// Whether it can carry sound beside the pictures. Asked once, before `prepare`.
  var takesSound: Bool { get }

  /// Called before `prepare` if streams of sound were asked for, whether or not they exist yet:
  /// an output that says in its first bytes what it holds then says that it holds sound.
  func expectSound()

  /// Fails early on what cannot work: a path that cannot be written, an encoder that is not
  /// installed. Leaves nothing behind.
  func prepare() throws(DestinationError)

  /// Waits until `accept` can take a frame without waiting.
  /// - Returns: false if the deadline passed or the signal was raised first.
  func waitForRoom(until deadline: Deadline, stop: StopSignal?) throws(DestinationError) -> Bool

  /// Takes a frame, and keeps it for as long as it is read. Its format may differ from the frame
  /// before.
  /// - Parameter ptsNs: nanoseconds since the first frame, strictly rising.
  func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError)

  /// Takes the next ten milliseconds of sound; never waits. Only called if sound was expected.
  ///
  /// Chunks come without a gap, in order, and silence where no stream has sound. Pictures come
  /// first, if any will; then a chunk comes as soon as all streams that are heard have had their
  /// say, which may be before or after the pictures of its time.
  /// - Parameter ptsNs: on the pictures' timeline; a multiple of 10 ms.
  func accept(_ sound: SoundChunk, ptsNs: UInt64) throws(DestinationError)

  /// Sends what is still on its way and closes the output, complete.
  func finish() throws(DestinationError)

  /// Stops at once and releases every frame. What was written stays as playable as it is; an
  /// output that holds nothing is removed.
  func abandon()
}

extension Destination {
  public var frameLimit: Int? { nil }
  public var lostFrames: Int { 0 }
  public var takesSound: Bool { false }
  public func expectSound() {}
  public func accept(_ sound: SoundChunk, ptsNs: UInt64) throws(DestinationError) {}
}

/// Makes destinations of one kind, and says how a user names them.
public protocol DestinationMaker: Sendable {
  /// The word before the colon, such as `file`.
  var scheme: String { get }
  /// The spellings listed when a destination is not known, such as `file:PATH.mkv`.
  var spellings: [String] { get }

  func make(
    _ specification: DestinationSpecification, encoder: EncoderSettings
  ) throws(DestinationError) -> any Destination
}
