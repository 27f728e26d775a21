import ArgumentParser
import CommandLineSupport
import GroupSemaphores

/// The output of `framebus semaphore show`, `create` and `post`. The key names are a contract.
struct SemaphoreReport: Encodable {
  struct Holder: Encodable {
    let pid: Int32
    let count: Int
  }

  let name: String
  let value: Int
  let initialValue: Int
  let maximumValue: Int
  let recover: Bool
  let owner: UserReport
  let holders: [Holder]
  let taken: Int

  init(_ status: SemaphoreStatus) {
    name = status.name.text
    value = status.value
    initialValue = status.initialValue
    maximumValue = status.maximumValue
    recover = status.isRecoverable
    owner = UserReport(status.ownerID)
    holders = status.holders.map { Holder(pid: $0.processID, count: $0.count) }
    taken = status.takenCount
  }

  func print(to global: GlobalOptions) throws {
    if global.json { return try global.terminal.printJSON(self) }
    var rows = [
      ("semaphore", name),
      ("count", "\(value) (initially \(initialValue), at most \(maximumValue))"),
      ("recovers", recover ? "yes" : "no: the permits of a dead process stay taken"),
      ("owner", userName(owner.uid)),
    ]
    if recover {
      let names =
        holders.map { "pid \($0.pid): \($0.count)" } + (taken > 0 ? ["no process: \(taken)"] : [])
      rows.append(("held by", names.isEmpty ? "none" : names.joined(separator: ", ")))
    }
    try global.terminal.printRows(rows)
  }
}

/// `framebus semaphore list`.
struct SemaphoreList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the group's semaphores.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let semaphores = try GroupSemaphore.list(in: global.openGroup())
    if global.json { return try global.terminal.printJSON(semaphores.map(ListedReport.init)) }
    if semaphores.isEmpty {
      global.terminal.report("no semaphores; create one with `framebus semaphore create NAME`")
    }
    let width = semaphores.map { $0.name.text.count }.max() ?? 0
    for semaphore in semaphores {
      let state =
        semaphore.status.map { "count \($0.value)\($0.isRecoverable ? ", recovers" : "")" }
        ?? "unusable: \(semaphore.problem ?? "")"
      try global.terminal.print("\(semaphore.name.text.padded(to: width))  \(state)")
    }
  }
}

/// A list entry: the semaphore's report, or why it is unusable.
private struct ListedReport: Encodable {
  let name: String
  let semaphore: SemaphoreReport?
  let problem: String?

  init(_ listed: ListedSemaphore) {
    name = listed.name.text
    semaphore = listed.status.map(SemaphoreReport.init)
    problem = listed.problem
  }

  private enum Key: String, CodingKey { case name, problem }

  /// Encodes the report's own keys, or name and problem.
  func encode(to encoder: any Encoder) throws {
    if let semaphore { return try semaphore.encode(to: encoder) }
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(name, forKey: .name)
    try values.encode(problem, forKey: .problem)
  }
}
