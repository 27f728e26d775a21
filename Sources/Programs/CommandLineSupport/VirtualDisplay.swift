import Platform

/// An X server without a monitor (Xvfb), on a display number that the server picks.
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
    let limit = Deadline.after(.seconds(20))
    // Read to the newline: the number and its newline are separate writes, and a reader that closes
    // the pipe between them ends the server.
    var text = ""
    while !text.contains("\n") {
      let ready = try waitUntilReadable([answer.number, stop.descriptorNumber], until: limit)
      let bytes = ready[0] ? try readSome(answer.number) : []
      if bytes.isEmpty { break }
      text += String(decoding: bytes, as: UTF8.self)
    }
    guard text.hasSuffix("\n"), let number = Int(text.dropLast()) else {
      let error = StartedProgramError.screenDidNotStart(lastWords: server.lastWords)
      server.stop()
      throw error
    }
    name = ":\(number)"
  }
}
