import AppGroup
import ArgumentParser
import CommandLineSupport

/// `framebus group list`.
struct GroupList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List your groups and the system groups.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let groups = try AppGroup.list(root: global.root)
    if global.json { return try global.terminal.printJSON(groups.map(ListedReport.init)) }
    if groups.isEmpty {
      global.terminal.report("no groups; create one with `framebus group create ID`")
    }
    let width = groups.map { $0.id.description.count }.max() ?? 0
    for group in groups {
      let id = group.id.description.padded(to: width)
      let state =
        group.problem.map { "unusable: \($0)" }
        ?? "your roles: \(group.ownRoles.map(\.description).joined(separator: ", "))"
      try global.terminal.print("\(id)  \(group.location.rawValue.padded(to: 6))  \(state)")
    }
  }
}

private struct ListedReport: Encodable {
  let id: String
  let location: String
  let owner: UserReport
  let container: String
  let ownRoles: [String]
  let problem: String?

  init(_ group: ListedGroup) {
    id = group.id.description
    location = group.location.rawValue
    owner = UserReport(group.ownerID)
    container = group.containerPath
    ownRoles = group.ownRoles.map(\.description)
    problem = group.problem?.description
  }
}
