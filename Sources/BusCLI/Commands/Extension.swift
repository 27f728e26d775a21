import AppGroup
import ArgumentParser
import Broadcast
import CommandLineSupport
import Platform
import Upload

/// `framebus extension …`: manages the extensions of a group.
struct Extension: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Manage the extensions that receive broadcasts.",
    subcommands: [
      ExtensionRegister.self, ExtensionList.self, ExtensionShow.self, ExtensionRemove.self,
    ])
}

struct ExtensionRegister: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "register", abstract: "Register or update an extension.",
    discussion: """
      Checks the manifest and stores a copy in the group. --builtin registers framebus-upload with \
      a destination, as for `framebus upload`.
      """)

  @Argument(help: ArgumentHelp("Manifest, a TOML file.", valueName: "file"))
  var file: String?
  @Option(
    help: ArgumentHelp("Register framebus-upload with this destination.", valueName: "destination"))
  var builtin: String?
  @OptionGroup(title: "Options of the built-in extension, as for `framebus upload`")
  var options: BuiltinOptions
  @OptionGroup var unusable: UnusableUploadOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    if (file == nil) == (builtin == nil) {
      throw ValidationError("name a manifest or use --builtin DESTINATION")
    }
    if builtin == nil, let option = options.given.first {
      let name = option.prefix { $0 != "=" }
      throw ValidationError("\(name) requires --builtin; a manifest contains its own")
    }
  }

  func run() throws {
    let group = try global.openGroup(creatingLocal: true)
    let manifest = try file.map(ExtensionRegistry.manifest) ?? builtinManifest()
    try ExtensionRegistry(group).register(manifest)
    try global.report(
      "registered \(manifest.id); start it with `framebus broadcast start \(manifest.id)`",
      asJSON: ["registered": "\(manifest.id)"])
  }

  /// The manifest of the built-in uploader, which is checked like any other.
  private func builtinManifest() throws -> ExtensionManifest {
    guard let builtin, let kind = (try? DestinationSpecification(builtin))?.kind else {
      let known = DestinationKind.all.flatMap(\.forms)
      throw UsageError("\(DestinationError.unknownDestination(builtin ?? "", known: known))")
    }
    return try options.manifest(to: builtin, kind)
  }
}

struct ExtensionList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the group's extensions.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let entries = try ExtensionRegistry(global.openGroup()).list()
    if global.json { return try global.terminal.printJSON(entries.map(ExtensionReport.init)) }
    if entries.isEmpty {
      global.terminal.report("no extensions; `framebus extension register FILE` adds one")
    }
    let width = entries.map(\.id.count).max() ?? 0
    for entry in entries {
      let text =
        switch entry.manifest {
        case .success(let manifest):
          (manifest.displayName.map { $0.plain + ": " } ?? "")
            + ([manifest.executable] + manifest.arguments).joined(separator: " ").plain
        case .failure(let error): "unusable: \(error)"
        }
      try global.terminal.print("\(entry.id.padded(to: width))  \(text)")
    }
  }
}

struct ExtensionShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print an extension's manifest.")

  @Argument(help: ArgumentHelp("Extension ID.", valueName: "id"))
  var id: String
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let manifest = try ExtensionRegistry(global.openGroup()).manifest(of: id)
    if global.json { return try global.terminal.printJSON(ExtensionReport(manifest)) }
    try global.terminal.write(Array(manifest.text.utf8))
  }
}

struct ExtensionRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove an extension.")

  @Argument(help: ArgumentHelp("Extension ID.", valueName: "id"))
  var id: String
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    try ExtensionRegistry(global.openGroup()).remove(id)
    try global.report("removed the extension \(id.plain)", asJSON: ["removed": "\(id)"])
  }
}

/// An extension as JSON.
struct ExtensionReport: Encodable {
  let id: String
  private(set) var displayName: String?
  private(set) var icon: String?
  var executable: String?
  var arguments: [String]?
  var samples: [String]?
  var credentials: [String]?
  var application: [String]?
  var memoryLimitBytes: Int?
  var problem: String?

  init(_ entry: ExtensionRegistry.Entry) {
    switch entry.manifest {
    case .success(let manifest): self.init(manifest)
    case .failure(let error): self.init(id: entry.id, problem: "\(error)")
    }
  }

  private init(id: String, problem: String) {
    self.id = id
    self.problem = problem
  }

  init(_ manifest: ExtensionManifest) {
    id = manifest.id
    displayName = manifest.displayName
    icon = manifest.icon
    executable = manifest.executable
    arguments = manifest.arguments
    samples = manifest.samples.map(\.rawValue)
    credentials = manifest.credentials.map(\.description)
    application = manifest.application
    memoryLimitBytes = manifest.memoryLimitBytes
  }
}
