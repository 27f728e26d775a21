import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// Where a secret must not be: in memory that nobody needs it in, in core dumps, in arguments, and
/// in whatever the program tells the kernel but the secret's own way in and out.
@Suite struct LeakTests {
  private static let canary = "canary-4711-\(UInt64.random(in: .min ... .max))-of-this-run"
  private let world: CredentialWorld

  init() throws { world = try CredentialWorld() }

  /// Starts a worker whose descriptor 3 is the other end of the gate. It dies of a signal as C
  /// programs do, without a debugger of Swift's that would stand between it and its core dump.
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

  /// Whether the bytes are anywhere in a process's memory, protected pages too.
  private func memory(of process: Int32, has text: String) throws -> Bool {
    let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(process)/mem"))
    defer { try? memory.close() }
    let wanted = Data(text.utf8)
    for line in try ProcessFacts(process).mappings {
      let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap {
        UInt64($0, radix: 16)
      }
      // Of the kernel's own pages nothing can be read.
      guard bounds.count == 2, !line.hasSuffix("[vvar]"), !line.contains("[vsyscall]") else {
        continue
      }
      guard bounds[1] - bounds[0] < 1 << 30, (try? memory.seek(toOffset: bounds[0])) != nil,
        let bytes = try? memory.read(upToCount: Int(bounds[1] - bounds[0]))
      else { continue }
      if bytes.range(of: wanted) != nil { return true }
    }
    return false
  }

  @Test(.enabled(if: geteuid() == 0, "another process's memory is read by root"))
  func aSecretIsInTheMemoryOfWhoHoldsItAndOfNobodyAfterwards() throws {
    let (host, given) = try worker("seal")
    given.write(Data(Self.canary.utf8))
    try given.close()
    try host.waitForOutput("is done")
    #expect(try !memory(of: host.processID, has: Self.canary))
    let (uploader, gate) = try worker("open")
    try uploader.waitForOutput("holds \(Self.canary.utf8.count) bytes")
    // That it is found here says that the other findings mean something.
    #expect(try memory(of: uploader.processID, has: Self.canary))
    #expect(try !memory(of: host.processID, has: Self.canary))
    try gate.close()
    try uploader.waitForOutput("is done")
    #expect(try !memory(of: uploader.processID, has: Self.canary))
    for program in [host, uploader] { try program.end(with: SIGKILL) }
  }

  /// Even a program that allows core dumps leaves the secret out of them.
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
    // Where the kernel writes cores into the working directory there is one, with what is open.
    let pattern = try String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
    guard pattern.hasPrefix("core") else { return }
    let cores = try plainFiles(below: folder).filter { $0.hasPrefix("core") }
    #expect(cores.count == 1)
    let known = try run("grep", ["-c", "whip.example.com", folder + "/" + (cores.first ?? "")])
    #expect(known.status == .exited(0))
  }

  /// Each system call of the program with all that it passes: the secret comes by `read` and goes
  /// by `write` to the output, and stands nowhere else.
  @Test func theKernelSeesTheSecretOnlyOnItsWayInAndOut() throws {
    let program = try pathOfProgram("framebus")
    let place = "--root \(world.root.path) --group \(CredentialWorld.groupName)"
    let trace = world.root.file("trace")
    func calls(_ command: String) throws -> [Substring] {
      let line = command.replacing(
        "FRAMEBUS", with: "strace -f -s 65536 -v -o \(trace) \(program) credential")
      let result = try run("sh", ["-c", line + " " + place])
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
    // What it refuses it does not repeat either.
    let refused = try calls("printf \(Self.canary) | FRAMEBUS add whip.example.com studio")
    #expect(refused.allSatisfy { $0.contains(" read(0, ") }, "\(refused)")
  }
}
