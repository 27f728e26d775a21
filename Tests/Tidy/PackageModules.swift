import Foundation

/// The modules in Sources and the modules that each depends on, as Package.swift declares them.
struct PackageModules: Sendable {
  /// The dependencies of each module, by its name; products of other packages by their own names.
  let dependencies: [String: Set<String>]

  init(_ dependencies: [String: Set<String>]) { self.dependencies = dependencies }

  /// Reads what `swift package dump-package` prints.
  init(json: Data) throws {
    let package = try JSONDecoder().decode(Package.self, from: json)
    let targets = package.targets.filter { $0.path?.hasPrefix("Sources/") == true }
    dependencies = Dictionary(
      uniqueKeysWithValues: targets.map { ($0.name, Set($0.dependencies.compactMap(\.name))) })
  }

  /// This repository's.
  static let declared = Result { try PackageModules(json: dump(Repository.root)) }

  /// Runs with a scratch directory of its own: the process that runs the tests may have locked the
  /// package's.
  private static func dump(_ root: String) throws -> Data {
    let scratch = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: scratch) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "swift", "package", "--package-path", root, "--scratch-path", scratch.path, "dump-package",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let json = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    return json
  }

  private struct Package: Decodable {
    let targets: [Target]
  }

  private struct Target: Decodable {
    let name: String
    let path: String?
    let dependencies: [Dependency]
  }

  /// An object with one key, the kind of dependency, and an array that begins with the name.
  private struct Dependency: Decodable {
    let name: String?

    init(from decoder: any Decoder) throws {
      let kinds = try decoder.singleValueContainer().decode([String: [Part]].self)
      name = kinds.values.first?.first?.text
    }
  }

  private struct Part: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
      text = try? decoder.singleValueContainer().decode(String.self)
    }
  }
}
