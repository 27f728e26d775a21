import Foundation
import Platform
import TestSupport
import Testing

/// A program that listens on a socket that everybody can reach, until it is killed.
private struct Listener {
  let program: RunningProgram
  let path: String

  init(_ start: (String, [String]) throws -> RunningProgram) throws {
    let script = """
      import os, signal, socket, tempfile
      folder = tempfile.mkdtemp()
      os.chmod(folder, 0o755)
      listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
      listener.bind(folder + "/s")
      os.chmod(folder + "/s", 0o777)
      listener.listen()
      print(folder + "/s", flush=True)
      signal.pause()
      """
    program = try start("/usr/bin/python3", ["-c", script])
    try program.waitForOutput("\n")
    path = program.output.text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  func remove() throws {
    try program.end(with: SIGKILL)
    try FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
  }
}

/// A program of one user that signals the process that listens at a path.
private final class Signaller {
  private let program: RunningProgram
  private let input: Descriptor

  init(_ user: TestUser, at path: String) throws {
    let pipe = try OneWayPipe()
    program = try user.start("PeerSignaller", [path], input: .descriptor(pipe.readEnd.number))
    input = pipe.takeWriteEnd()
    try program.waitForOutput("connected\n")
  }

  func signal() throws -> Substring? {
    let before = program.output.text.split(separator: "\n").count
    try writeFully([UInt8(ascii: "\n")], to: input.number)
    try waitUntil("the signaller answers") {
      program.output.text.split(separator: "\n").count > before
    }
    return program.output.text.split(separator: "\n").last
  }
}

@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct PeerProcessTests {
  @Test func signalToAnotherUsersProcessIsRefusedAndToAnEndedOneHasNoEffect() throws {
    try withWatchdog {
      let user = try TestUser()
      let own = try Listener { try user.start($0, $1) }
      let other = try Listener { try RunningProgram($0, $1) }
      let toOwn = try Signaller(user, at: own.path)
      let toOther = try Signaller(user, at: other.path)
      #expect(try toOwn.signal() == "sent")
      #expect(try toOther.signal() == "refused")
      try own.remove()
      try other.remove()
      #expect(try toOwn.signal() == "gone")
      #expect(try toOther.signal() == "gone")
    }
  }
}
