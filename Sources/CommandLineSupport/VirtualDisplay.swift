import Platform

/// An X server without a monitor (Xvfb), on a display number that it chooses itself.
package struct VirtualDisplay: Sendable {
  /// Such as `:3`.
  package let name: String
  package let server: StartedProgram

  package init(width: Int, height: Int, stop: StopSignal) throws {
    guard let path = programInPath(named: "Xvfb") else {
      throw StartedProgramError.missing("Xvfb", package: "xvfb")
    }
    let pipe = try OneWayPipe()
    server = try StartedProgram(
      "Xvfb", path,
      ["-displayfd", "3", "-screen", "0", "\(width)x\(height)x24", "-nolisten", "tcp", "-noreset"],
      inherited: [pipe.writeEnd.number])
    let answer = pipe.takeReadEnd()
    let ready = try waitUntilReadable(
      [answer.number, stop.descriptorNumber], until: .after(.seconds(20)))
    let text = ready[0] ? String(decoding: try readSome(answer.number), as: UTF8.self) : ""
    guard let number = Int(text.filter(\.isNumber)) else {
      let error = StartedProgramError.screenDidNotStart(lastWords: server.lastWords)
      server.stop()
      throw error
    }
    name = ":\(number)"
  }
}
