import Foundation

/// Comments that must stand where a reader needs a reason.
enum CommentRules {
  /// Every declaration that says `unsafe` also says, in its body or its doc comment, which fact it
  /// relies on; or its file documents the pointer itself (`/// SAFETY: …` on the property that
  /// holds it). A C call that is only given the addresses of locals (`&status`) needs no reason;
  /// nor does a call of a wrapped library, which takes the handle that its owner documents.
  static func checkSafety(_ file: SourceFile) -> [Finding] {
    guard file.isSwift, file.module != nil else { return [] }
    if file.lines.contains(where: { $0.contains("/// SAFETY") }) { return [] }
    return file.code.indices.compactMap { line in
      let isWrapper = MediaRule.modules.contains(file.module ?? "")
      guard needsSafetyComment(file.code[line], isWrapper: isWrapper) else {
        return nil
      }
      let scope = declaration(around: line, in: file)
      if file.lines[scope].contains(where: { $0.contains("SAFETY") }) { return nil }
      return file.finding(line, "`unsafe` without a SAFETY comment in its declaration")
    }
  }

  /// Atomic accesses to shared memory name their pair; relaxed ones their reason. The words of
  /// SharedWord.swift have the order in their names, and are judged where they are called. An
  /// `Atomic` of one process needs a reason for `.relaxed` alone.
  static func checkAtomics(_ file: SourceFile) -> [Finding] {
    guard file.isSwift,
      ["FrameBus", "GroupSemaphores", "NotifyCenter", "SharedLog"].contains(file.module),
      !file.path.hasSuffix("/SharedWord.swift")
    else { return [] }
    let relaxed = ["ordering: .relaxed", ".loadRelaxed", ".storeRelaxed"]
    let ordered = [
      ".loadAcquiring", ".storeReleasing", ".replace32(", ".replace64(", ".add32(", ".add64(",
      ".loadSequential", ".storeSequential", ".incremented64(", ".setBits64(", ".clearBits64(",
      "atomicMemoryFence(",
    ]
    return file.code.indices.flatMap { line -> [Finding] in
      let code = file.code[line]
      let scope = comments(about: line, in: file)
      var findings: [Finding] = []
      if relaxed.contains(where: code.contains), !scope.contains(where: { $0.contains("elaxed") }) {
        findings.append(file.finding(line, "relaxed ordering without `Relaxed:` and its reason"))
      }
      if ordered.contains(where: code.contains), !scope.contains(where: { $0.contains("SYNC ") }) {
        findings.append(file.finding(line, "atomic ordering without a SYNC comment"))
      }
      return findings
    }
  }

  /// A SYNC tag names a pair, so it stands in at least two places.
  static func checkPairs(_ files: [SourceFile]) -> [Finding] {
    var places: [String: [Finding]] = [:]
    for file in files where file.module != nil && (file.isSwift || file.isC) {
      for (index, line) in file.lines.enumerated() {
        guard let tag = syncTag(in: line) else { continue }
        places[tag, default: []].append(
          file.finding(index, "SYNC \(tag) has no other side"))
      }
    }
    return places.values.filter { $0.count == 1 }.flatMap(\.self)
  }

  /// Each pair has a litmus test, and no litmus test is of a pair that is gone.
  static func checkLitmusTests(_ files: [SourceFile]) -> [Finding] {
    let used = Set(
      files.filter { $0.isSwift && $0.path.hasPrefix("Sources/") }
        .flatMap { $0.lines.compactMap(syncTag) })
    var tested: Set<String> = []
    var findings: [Finding] = []
    for file in files where file.path.hasSuffix(".litmus") {
      for (index, line) in file.lines.enumerated() where line.hasPrefix("// SYNC: ") {
        for tag in line.split(separator: " ").dropFirst(2).map(String.init) {
          tested.insert(tag)
          // The two sides of hold/reuse say which they are before the colon.
          if used.contains(tag) || tag == "hold/reuse" { continue }
          findings.append(file.finding(index, "no SYNC comment has the pair \(tag)"))
        }
      }
    }
    return findings
      + used.subtracting(tested).sorted().map {
        Finding(path: "Models/litmus", line: 1, message: "no litmus test has the pair \($0)")
      }
  }

  /// Code that silences the compiler's check says why that is right.
  static func checkBecause(_ file: SourceFile) -> [Finding] {
    guard file.isSwift else { return [] }
    let escapes = ["@unchecked Sendable", "nonisolated(unsafe)", "@preconcurrency"]
    return file.code.indices.compactMap { line in
      guard escapes.contains(where: file.code[line].contains) else { return nil }
      let near = file.lines[max(0, line - 4)...min(line + 3, file.lines.count - 1)]
      if near.contains(where: { $0.contains("because") }) { return nil }
      return file.finding(line, "@unchecked or unsafe sharing without “because …”")
    }
  }

  /// What a module refuses to do stands in the comment that opens its main file. The modules of
  /// role programs hold nothing but `main`.
  static func checkRefusals(_ files: [SourceFile]) -> [Finding] {
    let modules = Set(
      files.filter(\.isSwift).compactMap(\.module).filter { !$0.hasSuffix("Program") })
    return modules.sorted().compactMap { module in
      let own = files.filter { $0.module == module && $0.isSwift }
      let says = own.contains { file in
        file.lines.prefix(20).contains { line in
          line.drop { $0 == " " }.hasPrefix("//") && line.contains("efuses")
        }
      }
      if says { return nil }
      return Finding(
        path: "Sources/\(module)", line: 1,
        message: "no opening comment says what module \(module) refuses to do")
    }
  }

  static func syncTag(in line: String) -> String? {
    guard let start = line.range(of: "SYNC ") else { return nil }
    let tag = line[start.upperBound...].prefix { $0.isLetter || $0.isNumber || "/-_".contains($0) }
    let end = line[tag.endIndex...]
    return tag.isEmpty || !end.hasPrefix(":") ? nil : String(tag)
  }

  private static func needsSafetyComment(_ code: String, isWrapper: Bool) -> Bool {
    let wrapped = ["xcb_", "gst_", "g_", "framebus_", "connection.pointer"]
    let uses = code.components(separatedBy: "unsafe ").dropFirst()
    return uses.contains { use in
      if isWrapper, wrapped.contains(where: use.contains) { return false }
      guard let open = use.firstIndex(of: "("),
        use[..<open].allSatisfy({ $0.isLowercase || $0.isNumber || $0 == "_" })
      else { return true }
      // What is left of the line, as arguments may be calls themselves.
      let arguments = use[open...]
      if arguments.hasPrefix("()") { return false }
      return !arguments.contains("&")
        || ["$0", ".baseAddress", ".pointee"].contains {
          arguments.contains($0)
        }
    }
  }

  /// The lines of the function, initialiser or property around a line, with its doc comment.
  private static func declaration(around line: Int, in file: SourceFile) -> Range<Int> {
    let starts = ["func ", "init(", "init?(", "init<", "deinit", "subscript", "var ", "let "]
    var start = line
    var limit = file.indent(line) + 1
    for index in stride(from: line, through: 0, by: -1) where !file.code[index].isEmpty {
      guard file.indent(index) < limit else { continue }
      limit = file.indent(index)
      start = index
      // A declaration of a file or of a type, not a local within a longer function.
      let isDeclaration = starts.contains { file.code[index].contains($0) }
      if limit == 0 || (isDeclaration && isMember(index, in: file)) { break }
    }
    var end = line + 1
    while end < file.lines.count, file.lines[end].isEmpty || file.indent(end) > limit { end += 1 }
    while start > 0, ["//", "@"].contains(where: file.trimmed(start - 1).hasPrefix) { start -= 1 }
    return start..<end
  }

  /// The comments that speak of a line: those of its declaration, and of declarations directly
  /// above it without a blank line between.
  private static func comments(about line: Int, in file: SourceFile) -> [Substring] {
    var start = declaration(around: line, in: file).lowerBound
    while start > 0, !file.lines[start - 1].isEmpty { start -= 1 }
    return file.lines[start...line].compactMap { text in
      text.range(of: "//").map { text[$0.lowerBound...] }
    }
  }

  /// Whether what encloses the line is a type or the file, rather than a function.
  private static func isMember(_ line: Int, in file: SourceFile) -> Bool {
    let types = ["struct ", "class ", "enum ", "extension ", "actor ", "protocol "]
    let outer = stride(from: line - 1, through: 0, by: -1).first { index in
      file.indent(index) < file.indent(line) && file.code[index].contains { $0.isLetter }
    }
    guard let outer else { return true }
    return types.contains { file.code[outer].contains($0) }
  }
}
