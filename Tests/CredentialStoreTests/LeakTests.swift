import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// Places where a secret must not be: memory that no longer needs it, core dumps, arguments, and
/// system calls other than those that read and write the secret.
@Suite struct LeakTests {
  private static let canary = "canary-4711-\(UInt64.random(in: .min ... .max))-of-this-run"
  private let world: CredentialWorld

  init() throws { world = try CredentialWorld() }

  /// Starts a worker whose descriptor 3 is the other end of the gate. Swift's crash handler is off,
  /// so that a signal causes a core dump.
  private func worker(
    _ verb: String, in directory: String? = nil
  ) throws -> (RunningProgram, gate: FileHandle) {
    let pipe = Pipe()
    let program = try RunningProgram(
      "sh",
      [
        "-c", "ulimit -c unlimited; exec \"$@\"", "sh", try pathOfProgram("SecretHolder"), verb,
        world.root.path, CredentialWorld.groupName,
      ], environment: ["SWIFT_BACKTRACE": "enable=no"], directory: directory,
      inherited: [pipe.fileHandleForReading.fileDescriptor])
    try pipe.fileHandleForReading.close()
    return (program, pipe.fileHandleForWriting)
  }

  @Test(
    .enabled(
      if: ProcessFacts.readsProtectedMemory,
      "only root, if the kernel allows it, reads protected memory"))
  func secretIsInMemoryOnlyWhileItIsHeld() throws {
    let (host, given) = try worker("seal")
    given.write(Data(Self.canary.utf8))
    try given.close()
    try host.waitForOutput("is done")
    #expect(try !ProcessFacts(host.processID).memoryHolds(Self.canary))
    let (uploader, gate) = try worker("open")
    try uploader.waitForOutput("holds \(Self.canary.utf8.count) bytes")
    // Finding it here shows that the search works.
    #expect(try ProcessFacts(uploader.processID).memoryHolds(Self.canary))
    #expect(try !ProcessFacts(host.processID).memoryHolds(Self.canary))
    try gate.close()
    try uploader.waitForOutput("is done")
    #expect(try !ProcessFacts(uploader.processID).memoryHolds(Self.canary))
    for program in [host, uploader] { try program.end(with: SIGKILL) }
  }

  /// Even if a program allows core dumps, they do not contain the secret.
  @Test func noCoreDumpHasTheSecret() throws {
    try world.store.set(
      CredentialWorld.name, secret(Self.canary),
      options: CredentialOptions(recipients: [.extension])
    )
    let folder = world.root.file("cores")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let (uploader, gate) = try worker("open", in: folder)
    defer { try? gate.close() }
    try uploader.waitForOutput("holds")
    #expect(try uploader.end(with: SIGABRT).status == .killed(signal: SIGABRT))
    let text = try run("grep", ["-rl", Self.canary, folder])
    #expect(text.output == "" && text.status == .exited(1))
    // If the kernel writes cores to the working directory, there is one, with unprotected data.
    let pattern = try String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
    guard pattern.hasPrefix("core") else { return }
    let cores = try plainFiles(below: folder).filter { $0.hasPrefix("core") }
    #expect(cores.count == 1)
    let known = try run("grep", ["-c", "whip.example.com", folder + "/" + (cores.first ?? "")])
    #expect(known.status == .exited(0))
  }

  /// Traces all system calls with their data: the secret appears only in the `read` of the input
  /// and the `write` to the output.
  @Test func secretAppearsOnlyInTheReadAndTheWriteOfIt() throws {
    let program = try pathOfProgram("framebus")
    let location = "--root \(world.root.path) --group \(CredentialWorld.groupName)"
    let trace = world.root.file("trace")
    func calls(_ command: String) throws -> [Substring] {
      let line = command.replacing(
        "FRAMEBUS", with: "strace -f -s 65536 -v -o \(trace) \(program) credential")
      let result = try run("sh", ["-c", line + " " + location])
      #expect(!result.errors.contains(Self.canary))
      let text = try String(contentsOfFile: trace, encoding: .utf8)
      #expect(text.contains("exited with"))
      return text.split(separator: "\n").filter { $0.contains(Self.canary) }
    }
    let kept = try calls("printf \(Self.canary) | FRAMEBUS set whip.example.com studio")
    #expect(!kept.isEmpty && kept.allSatisfy { $0.contains(" read(0, ") }, "\(kept)")
    let given = try calls("FRAMEBUS get whip.example.com studio")
    #expect(given.count == 1 && given.allSatisfy { $0.contains(" write(1, ") }, "\(given)")
    #expect(try calls("FRAMEBUS rotate whip.example.com studio").isEmpty)
    #expect(try calls("FRAMEBUS show whip.example.com studio --json").isEmpty)
    #expect(try calls("FRAMEBUS audit --json").isEmpty)
    // An error does not repeat the refused secret.
    let refused = try calls("printf \(Self.canary) | FRAMEBUS add whip.example.com studio")
    #expect(refused.allSatisfy { $0.contains(" read(0, ") }, "\(refused)")
  }
}
