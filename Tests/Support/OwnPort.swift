import Foundation
import Platform

/// A port of 127.0.0.1 for a server of one test, which other tests and programs leave alone until
/// this object is released (Tests/Tools/hold_port.py).
package final class OwnPort: Sendable {
  package let number: Int
  private let holder: RunningProgram
  private let input: Descriptor

  package init() throws {
    let pipe = try OneWayPipe()
    holder = try RunningProgram(
      "/usr/bin/python3", [tool("hold_port.py")], input: .descriptor(pipe.readEnd.number))
    input = pipe.takeWriteEnd()
    try holder.waitForOutput("\n")
    guard let number = Int(holder.output.text.prefix { $0.isNumber }) else {
      throw HarnessError("no port is free\n\(holder.transcript)")
    }
    self.number = number
  }
}
