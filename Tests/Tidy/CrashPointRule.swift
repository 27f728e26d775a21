/// Every store that another process sees is followed by a crash point, so that the crash tests
/// stop a process between any two of them.
enum CrashPointRule {
  /// Those of SharedWord.swift; a `store(into:)` fills a record of the process's own.
  private static let stores = [".storeReleasing(", ".storeRelaxed(", ").store("]
  /// How many lines of a statement, and of what ends it, may stand before its crash point.
  private static let reach = 3

  /// Stores without a point of their own, and why none is needed.
  private static let exempt: [(store: String, because: String)] = [
    ("byteCount: Int(FB_BOARD_BYTES)).store(header)", "Board.setHeader: its caller has the point")
  ]

  static func check(_ file: SourceFile) -> [Finding] {
    guard file.isSwift, file.module == "FrameBus", !file.path.hasSuffix("/SharedWord.swift")
    else { return [] }
    return file.code.indices.compactMap { line in
      let code = file.code[line]
      // A store `into` a record of the process's own is not visible to others.
      guard stores.contains(where: code.contains), !code.contains(".store(into:"),
        !exempt.contains(where: { code.contains($0.store) })
      else { return nil }
      let next = file.code[line...].dropFirst().prefix(reach)
      if next.contains(where: { $0.contains("crashPoint(.") }) { return nil }
      return file.finding(line, "a store that others see without a crash point after it")
    }
  }
}
