import Platform
import Upload

extension DestinationFigures {
  /// The figures as a line for people.
  package var line: String {
    "\(output.plain): \(state), \(tenths(Double(byteCount) / 1e6)) MB, \(counted(drops, "drop"))"
      + (state == .delivering ? ", \(tenths(Double(bitsPerSecond) / 1e6)) Mbit/s" : "")
      + (network?.line ?? "")
  }
}

extension NetworkFigures {
  /// The end of a line.
  package var line: String {
    ", target \(tenths(Double(targetBitsPerSecond) / 1e6)) Mbit/s"
      + (roundTripNs.map { ", RTT \(tenths(Double($0) / 1e6)) ms" } ?? "")
      + (lostShare.map { ", \(tenths($0 * 100)) % lost" } ?? "")
      + ", \(retransmittedPackets) retransmitted"
  }
}

/// A number with one decimal place.
package func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
