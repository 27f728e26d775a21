import FrameBus
import Platform
import Sound

/// Receives and counts frames without encoding them: measures the cost of the bus alone.
public final class NullDestination: Destination {
  public let output = "null"
  public let heldFrames = 1
  public let wantsRepeatedFrames = false
  public let takesSound = true
  public private(set) var byteCount: UInt64 = 0

  public init() {}

  public func prepare() throws(DestinationError) {}

  public func waitForRoom(
    until deadline: Deadline, stop: StopSignal?
  ) throws(DestinationError) -> Bool { true }

  public func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
    byteCount += UInt64(frame.lease.byteCount)
  }

  public func accept(_ sound: SoundChunk, ptsNs: UInt64) throws(DestinationError) {
    byteCount += UInt64(sound.samples.count * MemoryLayout<Float>.size)
  }

  public func finish() throws(DestinationError) {}
  public func abandon() {}
}

extension DestinationMaker {
  public static let null = DestinationMaker([.null]) { _, _ in NullDestination() }
}
