import FrameBus
import Platform
import Upload

/// Writes a line for each frame to standard output: its sequence number, time and size.
public final class LinesDestination: Destination {
  public let output = "standard output"
  public let heldFrames = 1
  public let wantsRepeatedFrames = false
  public private(set) var byteCount: UInt64 = 0

  public init() {}

  public func prepare() throws(DestinationError) {}

  public func waitForRoom(
    until deadline: Deadline, stop: StopSignal?
  ) throws(DestinationError) -> Bool { true }

  public func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
    let milliseconds = ptsNs / 1_000_000
    let line = "\(frame.lease.sequence): \(milliseconds) ms, \(frame.lease.byteCount) bytes\n"
    do { try writeFully(Array(line.utf8), to: 1) } catch { throw .cannotWrite(error) }
    byteCount += UInt64(line.utf8.count)
  }

  public func finish() throws(DestinationError) {}
  public func abandon() {}
}

extension DestinationMaker {
  public static let lines = DestinationMaker([.lines]) { _, _ in LinesDestination() }
}
