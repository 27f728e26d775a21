import Foundation
import Platform

/// A failure of the test harness, or of a child to do what the test waits for.
package struct HarnessError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// The status and output of a program that has ended.
package struct ProgramResult: Sendable {
  package let status: ChildStatus
  private let outputStream: ProgramOutput
  private let errorStream: ProgramOutput

  init(_ status: ChildStatus, output: ProgramOutput, errors: ProgramOutput) {
    self.status = status
    outputStream = output
    errorStream = errors
  }

  // Converted on demand: a decoder writes megabytes that are not text.
  package var output: String { outputStream.text }
  package var errors: String { errorStream.text }
}

/// A child process under test, with its output collected. It is killed when its last reference is
/// released, and when a watchdog expires.
package final class RunningProgram: Sendable {
  package let name: String
  package let process: ChildProcess
  package let output: ProgramOutput
  package let errors: ProgramOutput

  /// - Parameters:
  ///   - program: one of this package's programs by name, a path, or a name in PATH.
  ///   - environment: variables to change; nil removes one.
  ///   - inherited: descriptors that become 3, 4 … in the child.
  package init(
    _ program: String, _ arguments: [String] = [], environment: [String: String?] = [:],
    directory: String? = nil, input: LaunchOptions.Stream = .null, inherited: [Int32] = []
  ) throws {
    let output = try OneWayPipe()
    let errors = try OneWayPipe()
    var options = LaunchOptions(try pathOfProgram(program), arguments)
    options.environment = environment
    options.directory = directory
    options.input = input
    options.output = .descriptor(output.writeEnd.number)
    options.errors = .descriptor(errors.writeEnd.number)
    options.inherited = inherited
    name = ([program] + arguments).joined(separator: " ")
    process = try ChildProcess(options)
    self.output = try ProgramOutput(reading: output.takeReadEnd())
    self.errors = try ProgramOutput(reading: errors.takeReadEnd())
  }

  package var processID: Int32 { process.processID }

  /// Waits until standard output (or error) contains the text.
  package func waitForOutput(_ text: String, within limit: Duration = .seconds(120)) throws {
    try wait(for: text, in: output, named: "standard output", within: limit)
  }

  package func waitForErrors(_ text: String, within limit: Duration = .seconds(120)) throws {
    try wait(for: text, in: errors, named: "standard error", within: limit)
  }

  /// Waits for the end; after `limit` the watchdog kills the process and the test fails.
  @discardableResult
  package func finish(within limit: Duration = .seconds(120)) throws -> ProgramResult {
    let limit = limit * timeoutFactor
    guard let status = process.wait(until: .after(limit)) else {
      process.end(with: SIGKILL)
      throw HarnessError("watchdog: `\(name)` still ran after \(limit)\n\(transcript)")
    }
    // A grandchild may keep the pipes open; the program's own output is already complete.
    output.waitForEnd(until: .after(.seconds(5)))
    errors.waitForEnd(until: .after(.seconds(5)))
    return ProgramResult(status, output: output, errors: errors)
  }

  /// Sends a signal, then waits for the end.
  @discardableResult
  package func end(with signal: Int32) throws -> ProgramResult {
    process.send(signal: signal)
    return try finish()
  }

  package var transcript: String {
    "--- standard output\n\(output.text)\n--- standard error\n\(errors.text)"
  }

  private func wait(
    for text: String, in stream: ProgramOutput, named streamName: String, within limit: Duration
  ) throws {
    guard stream.wait(until: .after(limit * timeoutFactor), for: { $0.contains(text) }) else {
      throw HarnessError("`\(name)` never wrote “\(text)” to \(streamName)\n\(transcript)")
    }
  }
}

/// Runs a program to its end.
package func run(
  _ program: String, _ arguments: [String] = [], environment: [String: String?] = [:],
  directory: String? = nil, within limit: Duration = .seconds(120)
) throws -> ProgramResult {
  try RunningProgram(program, arguments, environment: environment, directory: directory)
    .finish(within: limit)
}

/// Runs a tool that must succeed, such as ffprobe, and returns what it wrote.
@discardableResult
package func output(of program: String, _ arguments: [String]) throws -> String {
  let result = try run(program, arguments)
  guard result.status.isSuccess else {
    throw HarnessError("`\(program) \(arguments)` \(result.status): \(result.errors)")
  }
  return result.output
}

package func pathOfProgram(_ name: String) throws -> String {
  if name.contains("/") { return name }
  if let path = siblingProgram(named: name) ?? programInPath(named: name) { return path }
  throw HarnessError("program \(name) not found: run `swift build` and `scripts/setup --test`")
}
