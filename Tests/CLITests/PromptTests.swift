import Foundation
import TestSupport
import Testing

@testable import Platform

/// A terminal on which a secret is asked for, and signals that somebody sends meanwhile.
@Suite struct PromptTests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot()
    try output(of: pathOfProgram("framebus"), ["group", "create"] + group)
  }

  private var group: [String] { ["--root", root.path, "--group", "a.b"] }

  private func signalled(
    _ signal: String, at question: String = "Secret of a/b: ", _ arguments: String...
  ) throws -> String {
    try output(
      of: "python3",
      [tool("prompt_signal.py"), signal, question, "secret", pathOfProgram("framebus")] + arguments)
  }

  @Test(arguments: ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGUSR1"])
  func signalEndsThePromptAndLeavesTheTerminalAsItWas(_ signal: String) throws {
    let observed = try signalled(
      signal, "credential", "set", "a", "b", "--root", root.path, "--group", "a.b")
    #expect(observed == "asked: silent\nended by \(signal): echo\n")
  }

  @Test(arguments: ["SIGTSTP", "SIGTTIN"])
  func stoppedPromptGivesTheTerminalBackAndHidesTypingOnceContinued(_ signal: String) throws {
    let observed = try signalled(
      signal, "credential", "set", "a", "b", "--root", root.path, "--group", "a.b")
    #expect(
      observed
        == "asked: silent\nstopped by \(signal): echo\ncontinued: silent\nexited 0: echo\n")
    let got = try output(of: pathOfProgram("framebus"), ["credential", "get", "a", "b"] + group)
    #expect(got == "secret")
  }

  /// `credential run` waits for signals on a thread of its own, which the kernel may prefer.
  @Test(arguments: ["SIGTERM", "SIGINT", "SIGHUP", "SIGTERM@signals"])
  func signalEndsThePromptOfAVerbThatWatchesForSignals(_ signal: String) throws {
    let passphrase = root.file("passphrase")
    try Data("open sesame".utf8).write(to: URL(fileURLWithPath: passphrase))
    let script =
      #"printf secret | "$0" credential set a b --passphrase-fd 3 "$@" 3< \#(passphrase)"#
    try output(of: "sh", ["-c", script, pathOfProgram("framebus")] + group)
    let observed = try signalled(
      signal, at: "Passphrase of the role host: ", "credential", "run", "--root", root.path,
      "--group", "a.b", "--", "true")
    let name = signal.prefix { $0 != "@" }
    #expect(observed == "asked: silent\nended by \(name): echo\n")
  }
}
