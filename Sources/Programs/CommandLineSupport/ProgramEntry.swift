import ArgumentParser
import Confinement
import Platform

// What all programs of this package share: global options, the rules of output, and how errors
// become exit statuses. This module refuses to know any verb.

/// What `--version` prints.
public let programVersion = "0.1.0"

/// A command line that asks for something impossible: exit status 2.
public struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}

/// Thrown by a verb after it stopped cleanly because of Ctrl-C: exit status 130.
public struct Interrupted: Error, Hashable, Sendable {
  public init() {}
}

/// Thrown by a verb that has already said what went wrong: exit status 1, nothing more printed.
public struct AlreadyReported: Error, Hashable, Sendable {
  public init() {}
}

/// Parses the command line, runs the command, and ends the process: 0 done, 1 failed, 2 usage,
/// 130 stopped by Ctrl-C. Any other error is printed by its description, as one line that begins
/// with `error:`. That nobody reads standard output any more is none: whoever did has seen enough.
public func runProgram(_ program: any ParsableCommand.Type) -> Never {
  let status = run(program)
  ProductLog.end(status: status)
  exitProcess(status)
}

private func run(_ program: any ParsableCommand.Type) -> Int32 {
  do {
    Signal.ignoreFailedWrites()
    // First of all, so that nothing is opened as standard output.
    try occupyStandardDescriptors()
    try ConfinedProcess.keepOwnMeasures()
    ChangeWatch.onShortage { Terminal().warn($0) }
    let words = ownCommandLine()
    // A missing command line must not look like an empty one.
    if words.isEmpty { throw UsageError("the command line is missing; start this by a shell") }
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

/// Prints an error that is argument-parser's own (help, version and usage among them) or a verb's.
private func report(_ error: any Error, of program: any ParsableCommand.Type) -> Int32 {
  let status = program.exitCode(for: error)
  if status == .success {
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
    Terminal().usageError(message.hasPrefix("Error: ") ? String(message.dropFirst(7)) : message)
    return 2
  }
  if !(error is ExitCode) {
    Terminal().error((error as? SystemError)?.explained ?? "\(error)")
  }
  return status.rawValue
}

/// Moves global options that stand before the verb behind it, where each verb takes them:
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
  // Options without a verb stay where they are, for the parser to complain about.
  if rest.isEmpty { return options }
  let end = rest.firstIndex(of: "--") ?? rest.endIndex
  return rest[..<end] + options + rest[end...]
}
