import TestSupport

@testable import CredentialStore
@testable import Platform

/// A running `CredentialWorker`.
final class HandedChild {
  let program: RunningProgram
  private let input: Descriptor
  private var asked = 0

  /// Starts the worker as a child that inherits a descriptor.
  convenience init(_ world: CredentialWorld, handed number: Int32) throws {
    try self.init(
      "CredentialWorker", [world.root.path, CredentialWorld.groupName],
      environment: [HandOver.variable: "3"], inherited: [number])
  }

  /// Starts a program that starts the worker.
  init(
    _ program: String, _ arguments: [String], environment: [String: String?] = [:],
    inherited: [Int32] = []
  ) throws {
    let pipe = try OneWayPipe()
    self.program = try RunningProgram(
      program, arguments, environment: environment, input: .descriptor(pipe.readEnd.number),
      inherited: inherited)
    input = pipe.takeWriteEnd()
  }

  func ask(_ line: String) throws -> String {
    try writeFully(Array((line + "\n").utf8), to: input.number)
    asked += 1
    let start = "answer \(asked) "
    let isAnswered = program.output.wait(until: .after(.seconds(60))) { text in
      text.hasSuffix("\n") && text.contains(start)
    }
    guard isAnswered, let answer = program.output.text.split(separator: "\n").last else {
      throw HarnessError("no answer to “\(line)”\n\(program.transcript)")
    }
    return String(answer.dropFirst(start.utf8.count))
  }
}
