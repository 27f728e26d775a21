/// One measure to confine a process, and whether it is enforced.
package struct Measure: Hashable, Sendable {
  package let name: String
  package let isOn: Bool
  /// What it enforces, or why it is off.
  package let detail: String

  /// Not a measure: reports whether the role's program was started.
  static let startName = "start"

  package init(_ name: String, isOn: Bool, _ detail: String) {
    self.name = name
    self.isOn = isOn
    self.detail = detail
  }

  /// Parses one line of the report, exactly as framebus-confine writes it:
  /// `{"measure":"…","state":"on","detail":"…"}`. Texts contain no quotes or backslashes.
  init?(_ line: some StringProtocol) {
    let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
    guard parts.count == 13, !line.contains("\\"), parts[0] == "{", parts[12] == "}",
      parts[1] == "measure", parts[5] == "state", parts[9] == "detail",
      [2, 6, 10].allSatisfy({ parts[$0] == ":" }), [4, 8].allSatisfy({ parts[$0] == "," }),
      parts[7] == "on" || parts[7] == "off"
    else { return nil }
    self.init(String(parts[3]), isOn: parts[7] == "on", String(parts[11]))
  }
}
