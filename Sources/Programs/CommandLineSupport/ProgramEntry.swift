import ArgumentParser
import CVersion
import Confinement
import Platform

// Common to all programs of this package: global options, output rules, and exit statuses. This
// module refuses to know any verb.

/// The version of the package.
let packageVersion = "0.1.0"

/// The version that `--version` prints: the package's, and the commit of an installed build, such
/// as 0.1.0+1a2b3c4d5e6f.
public let programVersion: String = {
  // SAFETY: the call returns a string constant.
  let commit = unsafe String(cString: framebus_commit())
  return commit.isEmpty ? packageVersion : packageVersion + "+" + commit
}()

/// An invalid command line: exit status 2.
public struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}

/// Thrown by a verb that Ctrl-C has stopped cleanly: exit status 130.
public struct Interrupted: Error, Hashable, Sendable {
  public init() {}
}

/// Thrown by a verb that has already printed its error: exit status 1, without further output.
public struct AlreadyReported: Error, Hashable, Sendable {
  public init() {}
}

/// Parses the command line, runs the command, and exits: 0 done, 1 failed, 2 usage, 130 stopped by
/// Ctrl-C. Prints any other error's description as one line that begins with `error:`. A closed
/// standard output is not an error.
public func runProgram(_ program: any ParsableCommand.Type) -> Never {
  let status = run(program)
  ProductLog.end(status: status)
  exitProcess(status)
}

private func run(_ program: any ParsableCommand.Type) -> Int32 {
  do {
    Signal.ignoreFailedWrites()
    // First, so that no file is opened as a standard stream.
    try occupyStandardDescriptors()
    try ConfinedProcess.keepOwnMeasures()
    ChangeWatch.onShortage { Terminal().warn($0) }
    let words = ownCommandLine()
    // A missing command line differs from an empty one.
    if words.isEmpty {
      throw UsageError("the command line is missing; start this program from a shell")
    }
    var command = try program.parseAsRoot(hoistedGlobalOptions(words.dropFirst()))
    try command.run()
    return 0
  } catch let error as SystemError where error.isClosedOutput {
    return 0
  } catch is Interrupted {
    return 130
  } catch is AlreadyReported {
    return 1
  } catch let error as UsageError {
    Terminal().error(error.description)
    return 2
  } catch {
    return report(error, of: program)
  }
}

/// Prints an error of the argument parser (help, version and usage among them) or of a verb.
private func report(_ error: any Error, of program: any ParsableCommand.Type) -> Int32 {
  let status = program.exitCode(for: error)
  let words = hoistedGlobalOptions(ownCommandLine().dropFirst())
  if status == .success {
    // The parser would show all verbs.
    let topic = words.first == "help" ? Array(words.dropFirst()) : []
    if let word = SuggestedVerb.unknownVerb(in: topic, of: program) {
      let verb = SuggestedVerb.suggestion(for: topic, of: program)
      Terminal().usageError(
        "there is no verb “\(word)”; "
          + (verb.map { "did you mean `\($0)`?" } ?? "`\(program._commandName) help` lists them"))
      return 2
    }
    let message = program.fullMessage(for: error) + "\n"
    do { try Terminal().write(Array(message.plainLines.utf8)) } catch {
      if error.isClosedOutput { return 0 }
      Terminal().error(error.explained)
      return 1
    }
    return 0
  }
  if status == .validationFailure {
    let message = program.fullMessage(for: error)
    var lines = message.trimmingPrefix("Error: ").split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    if let verb = SuggestedVerb.suggestion(for: words, of: program) {
      lines[0] += "; did you mean `\(verb)`?"
    }
    Terminal().usageError(lines.joined(separator: "\n"))
    return 2
  }
  if !(error is ExitCode) {
    Terminal().error((error as? SystemError)?.explained ?? "\(error)")
  }
  return status.rawValue
}

/// Moves global options before the verb to the end, because each verb parses them itself:
/// `framebus --root DIR group list` means `framebus group list --root DIR`.
func hoistedGlobalOptions(_ arguments: some Sequence<String>) -> [String] {
  var options: [String] = []
  var rest = Array(arguments)[...]
  while let first = rest.first {
    if ["--group", "--root", "--role"].contains(first), rest.count >= 2 {
      options += rest.prefix(2)
      rest = rest.dropFirst(2)
    } else if ["--json", "--quiet", "-q", "--verbose", "-v"].contains(first)
      || ["--group=", "--root=", "--role="].contains(where: first.hasPrefix)
    {
      options.append(first)
      rest = rest.dropFirst()
    } else {
      break
    }
  }
  // Options without a verb stay, and the parser reports them.
  if rest.isEmpty { return options }
  let end = rest.firstIndex(of: "--") ?? rest.endIndex
  return Array(rest[..<end]) + options + Array(rest[end...])
}
