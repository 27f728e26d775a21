import AppGroup
import ArgumentParser
import CommandLineSupport

/// `framebus group doctor`: exit status 0 if the group is usable, 1 if not.
struct GroupDoctor: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check a group and print a fix for each problem.")

  @OptionGroup var choice: GroupChoice
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let findings = AppGroup.diagnose(try choice.resolved(global), root: global.root)
    if global.json {
      try global.terminal.printJSON(findings.map(FindingReport.init))
    } else {
      for finding in findings { try print(finding) }
    }
    if findings.contains(where: { $0.state == .failed }) { throw AlreadyReported() }
  }

  private func print(_ finding: Finding) throws {
    if global.quiet && finding.state == .ok { return }
    let terminal = global.terminal
    let state = finding.state.rawValue.padded(to: 7)
    try terminal.print("\(state)  \(finding.check.padded(to: 13))  \(finding.detail)")
    if let fix = finding.fix { try terminal.print("         fix: \(fix)") }
  }
}

private struct FindingReport: Encodable {
  let check: String
  let state: String
  let detail: String
  let fix: String?

  init(_ finding: Finding) {
    check = finding.check
    state = finding.state.rawValue
    detail = finding.detail
    fix = finding.fix
  }
}
