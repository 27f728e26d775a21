import AppGroup
import ArgumentParser
import Broadcast
import CommandLineSupport
import SharedDefaults

/// `framebus group grant ROLE --uid N | --gid N [ID]`.
struct GroupGrant: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant", abstract: "Grant a role to a user or to all members of a user group.",
    discussion: """
      Holders of the roles host, capture and extension may publish streams. Holders of any other \
      role may only subscribe. The change applies to running processes at once.
      """)

  @Argument(help: "Role: host, capture, extension, or another name.")
  var role: String
  @Argument(help: "Group ID (default: the value of --group).")
  var id: String?
  @Option(help: ArgumentHelp("A numeric user ID; may be repeated.", valueName: "n"))
  var uid: [UInt32] = []
  @Option(help: ArgumentHelp("A numeric group ID; may be repeated.", valueName: "n"))
  var gid: [UInt32] = []
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let id = try resolvedGroup()
    let role = try parsedRole(isSwapped ? self.id ?? "" : role)
    let holders = uid.map(Holder.user) + gid.map(Holder.group)
    if holders.isEmpty {
      throw UsageError("give the holder of the role \(role): --uid N or --gid N (see `id USER`)")
    }
    if uid.contains(.max) || gid.contains(.max) {
      throw UsageError("\(UInt32.max) is not a valid user or group ID")
    }
    try AppGroup.grant(role, to: holders, in: id, root: global.root)
    renewAccess(in: id)
    if global.json {
      return try GroupReport(AppGroup.describe(id, root: global.root)).print(to: global)
    }
    for holder in holders {
      global.terminal.report("granted the role \(role) in the group \(id) to \(holder.text)")
    }
  }

  /// A failure does not undo the grant. Existing settings and extensions are files that need new
  /// permissions.
  private func renewAccess(in id: GroupID) {
    do {
      try SharedDefaults.renewAccess(in: AppGroup.open(id, root: global.root))
    } catch {
      global.terminal.warn("new members cannot access existing settings: \(error)")
    }
    do {
      try ExtensionRegistry(AppGroup.open(id, root: global.root)).renewAccess()
    } catch {
      global.terminal.warn("new hosts cannot read the registered extensions: \(error)")
    }
  }

  /// `grant ID ROLE` is accepted too: a group ID has a dot and a role does not.
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
  /// The holder as shown to users: `uid 1000 (alice)`.
  var text: String {
    switch self {
    case .user(let uid): userName(uid)
    case .group(let gid): "gid \(gid)"
    }
  }
}
