import Foundation
import Platform
import TestSupport
import Testing

/// `framebus bench --html` and `--compare` as a user runs them.
@Suite struct BenchPageTests {
  private let root: TemporaryRoot
  private let arguments = ["bench", "defaults", "--seconds", "0.2", "--rounds", "2"]

  init() throws { root = try TemporaryRoot() }

  private func bench(_ more: String...) throws -> String {
    let result = try run("framebus", arguments + more)
    #expect(result.status == .exited(0), "\(result.errors)")
    return result.output
  }

  @Test func pageHasEachRowWithPlotsAndNoOtherFile() throws {
    let path = root.file("page.html")
    let output = try bench("--json", "--html", path)
    let rows = try #require(
      JSONSerialization.jsonObject(with: Data(output.utf8)) as? [[String: Any]])
    let page = try String(contentsOfFile: path, encoding: .utf8)
    for scenario in Set(rows.compactMap { $0["scenario"] as? String }) {
      #expect(page.contains("<h2>defaults: \(scenario)</h2>"))
      for plot in ["medians and rounds", "rounds", "distribution"] {
        #expect(page.contains("<title>\(scenario): \(plot)</title>"), "\(scenario): \(plot)")
      }
    }
    // A browser needs nothing else, and shows text as text.
    for word in ["<script", "src=", "href=", "url(", "http"] { #expect(!page.contains(word)) }
    #expect(page.contains("× limit") && !page.contains("NaN") && !page.contains("inf\""))
    let parsed = try run(
      "python3",
      [
        "-c",
        "import sys,re,xml.dom.minidom as d\n"
          + "t=open(sys.argv[1]).read()\n"
          + "print(len([d.parseString(s) for s in re.findall('<svg.*?</svg>',t,re.S)]))", path,
      ])
    #expect(Int(parsed.output.dropLast()) ?? 0 >= 6, "\(parsed.output)\(parsed.errors)")
  }

  /// An earlier run that was ten times as fast, and one that was the same.
  @Test func comparisonListsRowsThatChangedBeyondNoise() throws {
    let old = root.file("old.json")
    let records = try #require(
      JSONSerialization.jsonObject(with: Data(bench("--json").utf8)) as? [[String: Any]])
    func keep(_ factor: Double) throws {
      let faster = try records.map { record in
        var record = record
        if record["subject"] as? String == "framebus" {
          let rounds = try #require(record["rounds"] as? [Double])
          record["rounds"] = rounds.map { $0 * factor }
        }
        return record
      }
      try JSONSerialization.data(withJSONObject: faster).write(to: URL(fileURLWithPath: old))
    }
    try keep(0.01)
    let worse = try bench("--compare", old)
    #expect(worse.contains("compared with the earlier run: 0 rows the same within noise"))
    #expect(worse.split(separator: "\n").count { $0.contains("  worse, +") } == 3, "\(worse)")
    try keep(100)
    let better = try bench("--compare", old)
    #expect(better.split(separator: "\n").count { $0.contains("  better, −") } == 3, "\(better)")
  }

  @Test func unusableFilesAreRefusedBeforeTheRun() throws {
    let old = root.file("old.json")
    try "[{}]".write(toFile: old, atomically: false, encoding: .utf8)
    for (options, text) in [
      (["--compare", old], "is not JSON of this command"),
      (["--compare", root.file("none")], "No such file"),
      (["--html", root.file("none/page.html")], "No such file"),
    ] {
      let result = try run("framebus", arguments + options)
      #expect(result.status == .exited(1), "\(options)")
      #expect(result.errors.contains(text), "\(result.errors)")
      #expect(result.output.isEmpty)
    }
  }
}
