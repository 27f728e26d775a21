import ArgumentParser
import Capture
import CommandLineSupport
import FoundationEssentials
import Platform

/// A source that names a window by its title, its program or a click, with the window's ID instead.
/// It then stays the same window, however often its capture is restarted and whatever its title.
/// - Parameter stop: ends the wait for the click.
func sourceWithWindowID(_ source: String, stop: StopSignal) throws -> String {
  guard case .window(let selector)? = try? SourceSpecification(source) else { return source }
  if case .id = selector { return source }
  guard let path = siblingProgram(named: SourceKind.plainProgram) else {
    throw MissingProgram(name: SourceKind.plainProgram)
  }
  let pipe = try OneWayPipe()
  var options = LaunchOptions(path, ["windows", "--json", "--", "\(selector)"])
  options.output = .descriptor(pipe.writeEnd.number)
  let program = try ChildProcess(options)
  let output = pipe.takeReadEnd()
  var bytes: [UInt8] = []
  while try !waitUntilReadable([stop.descriptorNumber, output.number], until: .never)[0] {
    let more = try readSome(output.number)
    if more.isEmpty { break }
    bytes += more
  }
  if stop.isRaised {
    program.end()
    throw Interrupted()
  }
  // It has said why on this terminal.
  guard program.wait()?.isSuccess == true else { throw AlreadyReported() }
  let windows = try JSONDecoder().decode([ChosenWindow].self, from: Data(bytes))
  guard let window = windows.first else { throw AlreadyReported() }
  return window.source
}

/// What is needed of a window that `framebus windows --json` lists.
private struct ChosenWindow: Decodable {
  let source: String
}
