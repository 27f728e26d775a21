import AppGroup
import ArgumentParser
import CommandLineSupport
import CredentialStore
import Platform

struct CredentialList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List credentials without their secrets.")

  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let reports = try listed().map(CredentialReport.init)
    if global.json { return try global.terminal.printJSON(reports) }
    for report in reports {
      try printLine([
        "\(report.service)/\(report.account)", report.recipients.joined(separator: ","),
        report.expiresAt.map { "expires \($0)" } ?? "",
        report.accessibility == "always" ? "" : report.accessibility, report.label,
      ])
    }
  }

  private func printLine(_ parts: [String]) throws {
    try global.terminal.print(parts.filter { !$0.isEmpty }.joined(separator: "  "))
  }

  /// A group without a store has no credentials.
  private func listed() throws -> [CredentialAttributes] {
    do { return try store.opened(global).list() } catch CredentialError.noStore { return [] }
  }
}

struct CredentialShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show a credential's attributes without its secret.")

  @OptionGroup var choice: CredentialChoice
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    let report = CredentialReport(try store.opened(global).attributes(of: name))
    if global.json { return try global.terminal.printJSON(report) }
    for (label, text) in [
      ("service", report.service), ("account", report.account), ("label", report.label),
      ("comment", report.comment), ("recipients", report.recipients.joined(separator: ", ")),
      ("created", report.createdAt), ("changed", report.changedAt),
      ("expires", report.expiresAt ?? "never"), ("accessible", report.accessibility),
    ] {
      try global.terminal.print("\(label.padded(to: 10))  \(text)")
    }
  }
}

struct CredentialAudit: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit", abstract: "Verify and print the audit logs of the roles.",
    discussion: """
      The host verifies every role's log; any other role verifies its own. A modified log is an \
      error. Missing records at the end are detected only if the role has seen a newer state of \
      the store than the remaining records contain.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let opened = try store.opened(global)
    let roles = try opened.role == .host ? opened.roles() : [opened.role]
    var reports: [AuditReport] = []
    for role in roles {
      reports += try opened.auditLog(of: role).map { AuditReport(role, $0) }
    }
    reports.sort { $0.time < $1.time }
    if global.json { return try global.terminal.printJSON(reports) }
    for report in reports {
      let name = [report.service, report.account].compactMap(\.self).joined(separator: "/")
      let parts = [
        report.time, report.role, report.verb, name, report.outcome, "pid \(report.pid)",
        "uid \(report.uid)",
      ]
      try global.terminal.print(parts.filter { !$0.isEmpty }.joined(separator: "  "))
    }
    global.terminal.report("\(reports.count) records of \(roles.count) roles verified")
  }
}

private struct CredentialReport: Encodable {
  let service: String
  let account: String
  let label: String
  let comment: String
  let recipients: [String]
  let createdAt: String
  let changedAt: String
  let expiresAt: String?
  let accessibility: String
  let generation: UInt64

  init(_ attributes: CredentialAttributes) {
    service = attributes.name.service
    account = attributes.name.account
    label = attributes.label
    comment = attributes.comment
    recipients = attributes.recipients.map(\.rawValue)
    createdAt = utcText(seconds: attributes.createdAtSeconds)
    changedAt = utcText(seconds: attributes.changedAtSeconds)
    expiresAt = attributes.expiresAtSeconds.map(utcText)
    accessibility = "\(attributes.accessibility)"
    generation = attributes.generation
  }
}

private struct AuditReport: Encodable {
  let role: String
  let sequence: UInt64
  let time: String
  let pid: Int32
  let uid: UInt32
  let verb: String
  let outcome: String
  let generation: UInt64
  let service: String?
  let account: String?

  init(_ role: Role, _ record: AuditRecord) {
    self.role = role.rawValue
    sequence = record.sequence
    time = utcText(seconds: Int64(record.atNs / 1_000_000_000))
    pid = record.processID
    uid = record.uid
    verb = "\(record.verb)"
    outcome = "\(record.outcome)"
    generation = record.generation
    service = record.name?.service
    account = record.name?.account
  }
}
