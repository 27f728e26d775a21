import ArgumentParser
import CommandLineSupport

/// `framebus doctor`: shows what this machine supports, what is missing, and how to fix it.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check kernel, limits and packages, and suggest fixes.",
    discussion: "Exits with status 1 if something required is missing.")

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let checks = DoctorChecks.all()
    if global.json {
      try global.terminal.printJSON(checks)
    } else {
      for check in checks where !global.quiet || check.status != .ok {
        try global.terminal.print(check.line)
      }
    }
    let missing = checks.filter { $0.status == .missing }
    if missing.isEmpty { return }
    global.terminal.error(
      "\(missing.count) of \(checks.count) checks failed: "
        + missing.map(\.check).joined(separator: ", "))
    throw AlreadyReported()
  }
}
