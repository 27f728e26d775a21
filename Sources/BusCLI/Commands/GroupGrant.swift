import AppGroup
import ArgumentParser
import CommandLineSupport
import SharedDefaults

/// `framebus group grant ROLE --uid N | --gid N [ID]`.
struct GroupGrant: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant", abstract: "Let a user, or all users of a user group, hold a role.",
    discussion: """
      Roles are host, capture and extension, whose holders may publish streams, and any further \
      word, whose holders may subscribe. Running processes notice at once.
      """)

  @Argument(help: "The role: host, capture, extension, or a further one.")
  var role: String
  @Argument(help: "The group (default: that of --group).")
  var id: String?
  @Option(help: ArgumentHelp("A user, by number; may be repeated.", valueName: "n"))
  var uid: [UInt32] = []
  @Option(help: ArgumentHelp("A group of users, by number; may be repeated.", valueName: "n"))
  var gid: [UInt32] = []
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let id = try resolvedGroup()
    let role = try parsedRole(isSwapped ? self.id ?? "" : role)
    let holders = uid.map(Holder.user) + gid.map(Holder.group)
    if holders.isEmpty {
      throw UsageError("say who may be \(role): --uid N or --gid N (see `id USER`)")
    }
    if uid.contains(.max) || gid.contains(.max) {
      throw UsageError("\(UInt32.max) is no id of a user or group")
    }
    try AppGroup.grant(role, to: holders, in: id, root: global.root)
    renewSettings(of: id)
    if global.json {
      return try GroupReport(AppGroup.describe(id, root: global.root)).print(to: global)
    }
    for holder in holders {
      global.terminal.say("\(holder.text) may now be \(role) in the group \(id)")
    }
  }

  /// The role is granted in any case; settings that are there already are files with permissions.
  private func renewSettings(of id: GroupID) {
    do {
      try SharedDefaults.renewAccess(in: AppGroup.open(id, root: global.root))
    } catch {
      global.terminal.warn("settings that are there already stay closed to new members: \(error)")
    }
  }

  /// `grant ID ROLE` is understood too: only ids have dots.
  private var isSwapped: Bool { role.contains(".") && id != nil }

  private func resolvedGroup() throws(UsageError) -> GroupID {
    try GroupChoice(id: isSwapped ? role : id).resolved(global)
  }
}

extension GroupChoice {
  init(id: String?) {
    self.init()
    self.id = id
  }
}

extension Holder {
  /// As people know it: `uid 1000 (alice)`.
  var text: String {
    switch self {
    case .user(let uid): userName(uid)
    case .group(let gid): "gid \(gid)"
    }
  }
}
