import Foundation

/// Ends every connection of this process as no program should: without telling who uses it.
func hangUpAllSockets() throws {
  for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
    let target = try? FileManager.default.destinationOfSymbolicLink(
      atPath: "/proc/self/fd/\(name)")
    if let target, target.hasPrefix("socket:"), let number = Int32(name) {
      shutdown(number, Int32(SHUT_RDWR))
    }
  }
}
