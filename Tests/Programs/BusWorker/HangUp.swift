import Foundation

/// Shuts down every socket of this process without the knowledge of the code that uses it.
func hangUpAllSockets() throws {
  for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
    let target = try? FileManager.default.destinationOfSymbolicLink(
      atPath: "/proc/self/fd/\(name)")
    if let target, target.hasPrefix("socket:"), let number = Int32(name) {
      shutdown(number, Int32(SHUT_RDWR))
    }
  }
}
