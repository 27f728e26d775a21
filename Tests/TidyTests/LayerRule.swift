/// Who may import whom: the table of Package.swift and of docs/ARCHITECTURE.md, plus the rule that
/// a foreign library is imported by the one module that wraps it.
enum LayerRule {
  private static let core: Set = ["Platform", "AppGroup", "FrameBus"]
  private static let program: Set = [
    "CommandLineSupport", "ArgumentParser", "FoundationEssentials",
  ]

  static let allowed: [String: Set<String>] = [
    "Platform": ["Glibc", "CLinuxShims", "CURing"],
    "AppGroup": ["Platform"],
    "FrameBus": ["Platform", "AppGroup", "CChecksum", "CFrameLayout"],
    "CredentialStore": ["Platform", "AppGroup", "CSodium"],
    "GroupSemaphores": ["Platform", "AppGroup", "CSemaphoreLayout"],
    "NotifyCenter": ["Platform", "AppGroup", "CNotifyLayout"],
    "Confinement": ["Platform", "AppGroup"],
    "DarwinKeychain": ["Platform", "AppGroup", "CredentialStore"],
    "SharedDefaults": ["Platform", "AppGroup", "CChecksum"],
    "FoundationDefaults": ["SharedDefaults", "FoundationEssentials"],
    "SharedLog": ["Platform", "AppGroup", "CChecksum", "CLogLayout"],
    "SharedLogHandler": ["SharedLog", "Logging"],
    "LogSinks": ["Platform", "SharedLog"],
    "GStreamerLog": ["SharedLog", "CGStreamer"],
    "DarwinNotifications": ["Platform", "AppGroup", "NotifyCenter"],
    "FrontApplication": core.union(["SharedDefaults"]),
    "Capture": core.union(["FrontApplication", "SharedDefaults", "Sound"]),
    "CaptureX11": core.union(["Capture", "CXCB", "FrontApplication"]),
    "CaptureGStreamer": core.union(["Capture", "CGStreamer", "CGStreamerSystem", "Sound"]),
    "Recording": core,
    "Sound": core.union(["SharedDefaults"]),
    "Upload": core.union(["Sound"]),
    "WHIP": ["Platform", "CredentialStore", "CCurl"],
    "LivePage": ["Platform", "WHIP", "CHTTPServer"],
    "UploadGStreamer": core.union([
      "Sound", "Upload", "WHIP", "CGStreamer", "CGStreamerSystem", "CWebRTC",
    ]),
    "Broadcast": core.union([
      "Confinement", "CredentialStore", "FrontApplication", "NotifyCenter", "SharedDefaults",
      "SharedLog", "Sound",
    ]),
    "CommandLineSupport": core.union(["ArgumentParser", "FoundationEssentials"])
      .union([
        "Capture", "Confinement", "FrontApplication", "LogSinks", "NotifyCenter",
        "SharedDefaults", "SharedLog", "Sound", "Upload",
      ]),
    "Bench": ["Platform", "AppGroup", "CommandLineSupport"],
    "BusCLI": core.union(program).union([
      "Bench", "Broadcast", "Capture", "Confinement", "CredentialStore", "FoundationDefaults",
      "GroupSemaphores", "NotifyCenter", "Recording", "SharedDefaults", "SharedLog", "Sound",
      "Upload",
    ]),
    "CaptureProgram": core.union(program).union(["Capture", "CaptureX11"]),
    "CaptureGStreamerProgram": core.union(program).union([
      "Capture", "CaptureGStreamer", "GStreamerLog",
    ]),
    "UploadProgram": core.union(program).union([
      "Broadcast", "CredentialStore", "GStreamerLog", "SharedDefaults", "SharedLog", "Sound",
      "Upload",
      "UploadGStreamer", "WHIP",
    ]),
    "ViewProgram": core.union(program).union([
      "GStreamerLog", "LivePage", "SharedLog", "Upload", "UploadGStreamer", "WHIP",
    ]),
  ]
  /// Parts of the language, which every module may use.
  static let everywhere: Set = ["Swift", "Synchronization", "_Concurrency"]

  static func check(_ file: SourceFile) -> [Finding] {
    guard file.isSwift, let module = file.module else { return [] }
    guard let allowed = allowed[module] else {
      return [file.finding(0, "module \(module) has no place in the table of layers")]
    }
    return file.code.indices.compactMap { line in
      guard let imported = importedModule(file.code[line]) else { return nil }
      if allowed.contains(imported) || everywhere.contains(imported) { return nil }
      return file.finding(line, "\(module) may not import \(imported)")
    }
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
    "CaptureX11", "CaptureGStreamer", "GStreamerLog", "UploadGStreamer",
  ]

  static func check(_ file: SourceFile) -> [Finding] {
    guard file.isSwift, let module = file.module, modules.contains(module) else { return [] }
    let code = file.lines.filter { !$0.isEmpty }
    if code.first == "#if Media", code.last == "#endif" { return [] }
    return [file.finding(0, "begins with `#if Media` and ends with `#endif`")]
  }
}
