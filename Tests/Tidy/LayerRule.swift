/// A module imports the dependencies that Package.swift declares for it. The compiler allows more:
/// a dependency's own dependencies.
struct LayerRule: Sendable {
  let modules: PackageModules

  /// Parts of the language, which every module may use.
  private static let everywhere: Set = ["Swift", "Synchronization", "_Concurrency"]
  /// Who else imports what belongs to no package.
  private static let system: [String: Set<String>] = [
    "Glibc": ["Platform"],
    "FoundationEssentials": [
      "BusCLI", "CaptureGStreamerProgram", "CaptureProgram", "CommandLineSupport",
      "FoundationDefaults", "UploadProgram", "ViewProgram",
    ],
  ]

  func check(_ file: SourceFile) -> [Finding] {
    guard file.isSwift, let module = file.module else { return [] }
    guard let allowed = modules.dependencies[module] else {
      return [file.finding(0, "Package.swift declares no module \(module)")]
    }
    return file.code.indices.compactMap { line in
      guard let imported = Self.importedModule(file.code[line]) else { return nil }
      if allowed.contains(imported) || Self.everywhere.contains(imported) { return nil }
      if Self.system[imported]?.contains(module) == true { return nil }
      return file.finding(line, "\(module) may not import \(imported)")
    }
  }

  /// Checks the picture of docs/ARCHITECTURE.md: each line that begins with `L` and a number names
  /// the modules of that layer, and so do the lines below it. A module stands in one layer, and
  /// depends on modules of lower layers alone; those in C may depend on each other.
  func checkPicture(in page: SourceFile) -> [Finding] {
    var layers: [String: Int] = [:]
    var findings: [Finding] = []
    var layer: Int?
    for (index, line) in page.lines.enumerated() {
      if line.hasPrefix("```") { layer = nil }
      if line.hasPrefix("L"), let number = Int(line.dropFirst().prefix { $0.isNumber }) {
        layer = number
      }
      guard let layer else { continue }
      for word in line.split(whereSeparator: { !$0.isLetter && !$0.isNumber }).map(String.init)
      where modules.dependencies[word] != nil {
        if layers.updateValue(layer, forKey: word) != nil {
          findings.append(page.finding(index, "\(word) stands in the picture twice"))
        }
      }
    }
    for (module, dependencies) in modules.dependencies.sorted(by: { $0.key < $1.key }) {
      guard let own = layers[module] else {
        findings.append(page.finding(0, "\(module) stands in no layer of the picture"))
        continue
      }
      for dependency in dependencies.sorted() {
        guard let other = layers[dependency], other >= own, own > 0 else { continue }
        findings.append(
          page.finding(0, "\(module) in L\(own) depends on \(dependency) in L\(other)"))
      }
    }
    return findings
  }

  static func importedModule(_ line: String) -> String? {
    let words = line.split(separator: " ").drop { $0.hasPrefix("@") || isAccessLevel($0) }
    guard words.first == "import" else { return nil }
    let kinds: Set<Substring> = ["struct", "class", "enum", "func", "protocol", "typealias", "var"]
    return words.dropFirst().first { !kinds.contains($0) }
      .map { String($0.prefix { $0 != "." }) }
  }

  private static func isAccessLevel(_ word: Substring) -> Bool {
    ["public", "package", "internal", "fileprivate", "private"].contains(word)
  }
}

/// The media modules are empty without the package trait, so that the core builds alone.
enum MediaRule {
  static let modules: Set = [
    "BridgeNATS", "CaptureX11", "CaptureWayland", "CaptureGStreamer", "CapturePipeWire",
    "GStreamerLog", "UploadGStreamer", "UploadCamera", "WebRTC",
  ]

  static func check(_ file: SourceFile) -> [Finding] {
    guard file.isSwift, let module = file.module, modules.contains(module) else { return [] }
    let code = file.lines.filter { !$0.isEmpty }
    if code.first == "#if Media", code.last == "#endif" { return [] }
    return [file.finding(0, "begins with `#if Media` and ends with `#endif`")]
  }
}
