import Foundation
import Testing

/// Each rule can fail: shown on a bad snippet, beside a good one that passes.
@Suite struct RuleTests {
  private func swift(_ text: String, in path: String = "Sources/FrameBus/File.swift") -> SourceFile
  {
    SourceFile(path: path, text: text)
  }

  private let layers = LayerRule(
    modules: PackageModules([
      "Platform": ["CURing"], "AppGroup": ["Platform"], "FrameBus": ["AppGroup", "Platform"],
      "CURing": [],
    ]))

  @Test func anImportThatThePackageDoesNotDeclareIsFound() {
    let file = swift("import FrameBus\n", in: "Sources/Platform/File.swift")
    #expect(layers.check(file).count == 1)
    #expect(layers.check(swift("package import AppGroup\n")).isEmpty)
    // A dependency of a dependency.
    #expect(layers.check(swift("import CURing\n")).count == 1)
  }

  @Test func aForeignLibraryOutsideItsWrapperIsFound() {
    #expect(layers.check(swift("import Glibc\n")).count == 1)
    #expect(layers.check(swift("import Glibc\n", in: "Sources/Platform/A/B.swift")).isEmpty)
    #expect(layers.check(swift("@preconcurrency import struct Glibc.pollfd\n")).count == 1)
    #expect(layers.check(swift("// import Glibc\n")).isEmpty)
  }

  @Test func aModuleThatThePackageDoesNotDeclareIsFound() {
    #expect(layers.check(swift("", in: "Sources/Stray/File.swift")).count == 1)
    #expect(layers.check(swift("", in: "Sources/Media/Stray/File.swift")).count == 1)
  }

  @Test func aPictureThatLeavesOutAModuleOrPointsUpwardsIsFound() {
    func findings(_ picture: String) -> [String] {
      layers.checkPicture(in: SourceFile(path: "docs/ARCHITECTURE.md", text: picture))
        .map(\.message)
    }
    let good = "```text\nL3  bus  FrameBus\nL2  AppGroup\nL1  Platform\nL0  CURing\n```\nPlatform\n"
    #expect(findings(good).isEmpty)
    #expect(findings(good.replacing("L2  AppGroup\n", with: "")).count == 1)
    #expect(findings(good.replacing("L1", with: "L2")).count == 1)
    #expect(findings(good.replacing("bus", with: "AppGroup")).count == 1)
  }

  @Test func thePackagesOwnTextIsRead() throws {
    let text = """
      {"targets": [{"name": "A", "path": "Sources/A", "dependencies": [
        {"byName": ["B", null]}, {"product": ["Logging", "swift-log", null, null]},
        {"target": ["CXCB", {"platformNames": [], "traits": ["Media"]}]}]},
        {"name": "ATests", "path": "Tests/ATests", "dependencies": []}]}
      """
    let modules = try PackageModules(json: Data(text.utf8))
    #expect(modules.dependencies == ["A": ["B", "Logging", "CXCB"]])
  }

  @Test func aMediaFileOutsideItsConditionIsFound() {
    let path = "Sources/Media/CaptureX11/File.swift"
    #expect(MediaRule.check(swift("import CXCB\n", in: path)).count == 1)
    #expect(MediaRule.check(swift("#if Media\nimport CXCB\n#endif\n", in: path)).isEmpty)
  }

  @Test func aLongFileAndALongLineAreFound() {
    let long = String(repeating: "\n", count: SizeRules.sourceLines + 1)
    #expect(SizeRules.checkLength(swift(long)).count == 1)
    #expect(SizeRules.checkLength(swift(long, in: "Tests/X/File.swift")).isEmpty)
    let wide = String(repeating: "x", count: SizeRules.columns + 1)
    #expect(SizeRules.checkColumns(swift(wide)).count == 1)
  }

  @Test func aRawPointerOutsideItsPlaceIsFound() {
    let text = "let base: UnsafeRawPointer\n"
    #expect(PointerRule.check(swift(text)).count == 1)
    #expect(PointerRule.check(swift(text, in: "Sources/FrameBus/Unsafe/Board.swift")).isEmpty)
  }

  @Test func anUnsafeUseWithoutAReasonIsFound() {
    let bad = """
      struct Board {
        // SAFETY: said of another function.
        func first() -> Int { 0 }

        func second() -> Int {
          return unsafe base.load(as: Int.self)
        }
      }
      """
    #expect(CommentRules.checkSafety(swift(bad)).map(\.line) == [6])
    let good = bad.replacing(
      "    return", with: "    // SAFETY: the map outlives self.\n    return")
    #expect(CommentRules.checkSafety(swift(good)).isEmpty)
  }

  @Test func aReasonInTheDocCommentCounts() {
    let text = """
      /// SAFETY: the caller keeps the mapping.
      @unsafe func load(_ base: Int) -> Int {
        let value = unsafe base.load(as: Int.self)
        return value
      }
      """
    #expect(CommentRules.checkSafety(swift(text)).isEmpty)
  }

  @Test func aReasonFurtherDownInTheDeclarationCounts() {
    let text = """
      func run() {
        unsafe withList { list in
          // SAFETY: the list outlives the call.
          unsafe use(list)
        }
      }
      func next() {
        unsafe use(nothing)
      }
      """
    #expect(CommentRules.checkSafety(swift(text)).map(\.line) == [8])
  }

  @Test func aCallWithTheAddressOfALocalNeedsNoReason() {
    #expect(CommentRules.checkSafety(swift("  unsafe clock_gettime(clock, &time)\n")).isEmpty)
    #expect(CommentRules.checkSafety(swift("  unsafe read(file, base, 8)\n")).count == 1)
  }

  @Test func aCallOfAWrappedLibraryNeedsNoReasonInItsWrapperAlone() {
    let text = "  unsafe xcb_flush(connection.pointer)\n"
    #expect(CommentRules.checkSafety(swift(text)).count == 1)
    #expect(
      CommentRules.checkSafety(swift(text, in: "Sources/Media/CaptureX11/File.swift")).isEmpty)
    let load = swift(
      "  unsafe base.load(as: Int.self)\n", in: "Sources/Media/CaptureX11/File.swift")
    #expect(CommentRules.checkSafety(load).count == 1)
  }

  @Test func anOrderingWithoutItsPairIsFound() {
    #expect(CommentRules.checkAtomics(swift("a.storeReleasing(1)\n")).count == 1)
    #expect(CommentRules.checkAtomics(swift("atomicMemoryFence(ordering: .x)\n")).count == 1)
    #expect(CommentRules.checkAtomics(swift("a.store(1, ordering: .relaxed)\n")).count == 1)
    let good = """
      func publish() {
        // SYNC publish/receive: release side.
        a.storeReleasing(1)
        // Relaxed: a statistic.
        b.store(1, ordering: .relaxed)
      }
      """
    #expect(CommentRules.checkAtomics(swift(good)).isEmpty)
  }

  @Test func anOrderingInTheNameOfACallIsFoundToo() {
    let text = "func f() {\n  board.cursor.storeReleasing(1)\n  board.wake.storeRelaxed(1)\n}\n"
    #expect(CommentRules.checkAtomics(swift(text)).map(\.line) == [2, 3])
    #expect(CommentRules.checkAtomics(swift("// SYNC a: release. Relaxed: b.\n" + text)).isEmpty)
  }

  @Test func aSyncTagWithOneSideIsFound() {
    let one = swift("// SYNC publish/receive: release side.\n")
    #expect(CommentRules.checkPairs([one]).count == 1)
    #expect(CommentRules.checkPairs([one, one]).isEmpty)
  }

  @Test func aSyncPairWithoutALitmusTestIsFound() {
    let code = swift("// SYNC publish/receive: release side.\n")
    let test = SourceFile(path: "Models/litmus/a.litmus", text: "// SYNC: publish/receive\n")
    #expect(CommentRules.checkLitmusTests([code]).count == 1)
    #expect(CommentRules.checkLitmusTests([code, test]).isEmpty)
    #expect(CommentRules.checkLitmusTests([test]).count == 1)
  }

  @Test func aSharedStoreWithoutACrashPointIsFound() {
    let text = "board.cursor.storeReleasing(1)\nboard.format(epoch: 1).store(record)\n"
    #expect(CrashPointRule.check(swift(text)).map(\.line) == [1, 2])
    #expect(CrashPointRule.check(swift(text + "crashPoint(.cursorMoved)\n")).isEmpty)
    #expect(CrashPointRule.check(swift("metadata(of: a).store(into: &descriptor)\n")).isEmpty)
    #expect(CrashPointRule.check(swift("gone.store(true, ordering: .releasing)\n")).isEmpty)
  }

  @Test func aSilencedCheckWithoutAReasonIsFound() {
    let text = "final class Pool: @unchecked Sendable {}\n"
    #expect(CommentRules.checkBecause(swift(text)).count == 1)
    #expect(CommentRules.checkBecause(swift("// because nothing changes it\n" + text)).isEmpty)
  }

  @Test func aModuleThatRefusesNothingIsFound() {
    #expect(CommentRules.checkRefusals([swift("import Platform\n")]).count == 1)
    #expect(CommentRules.checkRefusals([swift("// It refuses to block.\n")]).isEmpty)
  }

  @Test func leftOverMarkersAreFound() {
    for text in ["// TO" + "DO: later", "fatalError(\"not " + "implemented\")", "off for " + "now"]
    {
      #expect(WordRules.checkMarkers(swift(text)).count == 1, "\(text)")
    }
    #expect(WordRules.checkMarkers(swift("// leads for nowhere")).isEmpty)
  }

  @Test func pathsOfOneMachineAreFound() {
    #expect(WordRules.checkPaths(swift("let path = \"/ho" + "me/me/file\"")).count == 1)
    #expect(WordRules.checkPaths(swift("// below /run/ho" + "me/me")).isEmpty)
  }

  @Test func commentsAndStringsAreNotCode() {
    let file = swift("let a = \"import Glibc // no\" // unsafe\nlet b = 1")
    #expect(file.code == ["let a =  ", "let b = 1"])
  }

  @Test func aProgramInTheReadmeThatIsNoExampleIsFound() {
    let readme = SourceFile(path: "README.md", text: "```swift\nimport A\nrun()\n```\n")
    let example = swift("import A\n\n/// Runs.\nrun()\n", in: "examples/a/Sources/A/A.swift")
    #expect(ExampleRule.check(readme, against: []).count == 1)
    #expect(ExampleRule.check(readme, against: [example]).count == 1)
    let same = swift("import A\n/// Runs.\nrun()\n", in: "examples/a/Sources/A/A.swift")
    #expect(ExampleRule.check(readme, against: [same]).isEmpty)
  }

  @Test func aProgramInAGuideThatIsNotBuiltIsFound() {
    let guide = SourceFile(path: "docs/guides/a.md", text: "```swift\nimport A\n\nrun()\n```\n")
    #expect(GuideRule.checkPrograms(guide, against: []).count == 1)
    #expect(GuideRule.checkPrograms(guide, against: [swift("import A\n\nrun()\n")]).isEmpty)
    #expect(
      GuideRule.checkPrograms(guide, against: [swift("import A\nimport B\n\nrun()\n")]).isEmpty)
    #expect(GuideRule.checkPrograms(guide, against: [swift("import B\n\nrun()\n")]).count == 1)
    #expect(GuideRule.checkPrograms(guide, against: [swift("import A\n\nrun(1)\n")]).count == 1)
  }

  @Test func anEditInAGuideOfLinesThatDoNotExistIsFound() {
    func guide(_ edit: String) -> SourceFile {
      SourceFile(path: "docs/guides/a.md", text: "```diff\n--- A.swift\n@@\n\(edit)\n```\n")
    }
    let file = swift("one\ntwo\nthree\n", in: "A.swift")
    #expect(GuideRule.checkEdits(guide(" one\n+more\n two"), of: [file]).isEmpty)
    #expect(GuideRule.checkEdits(guide(" one\n-two\n@@\n three"), of: [file]).isEmpty)
    #expect(GuideRule.checkEdits(guide(" one\n+two\n three"), of: [file]).isEmpty)
    #expect(GuideRule.checkEdits(guide(" one\n three"), of: [file]).count == 1)
    #expect(GuideRule.checkEdits(guide(" one\n@@\n-four"), of: [file]).count == 1)
    #expect(GuideRule.checkEdits(guide("+more"), of: [file]).count == 1)
    #expect(GuideRule.checkEdits(guide(" one"), of: []).count == 1)
  }

  @Test func aDecisionThatIsNotListedIsFound() {
    func findings(_ heading: String, _ row: String) -> Int {
      DecisionRule.check(
        SourceFile(path: "docs/decisions/README.md", text: row),
        against: [SourceFile(path: "docs/decisions/0001-a.md", text: heading)]
      ).count
    }
    #expect(findings("# 0001: A", "| [0001](0001-a.md) | A | accepted |") == 0)
    #expect(findings("# 0001: B", "| [0001](0001-a.md) | A | accepted |") == 1)
    #expect(findings("# 1. A", "| [0001](0001-a.md) | A | accepted |") == 1)
  }

  @Test func aPhraseThatIsNotPlainEnglishIsFound() {
    for (phrase, _) in WordRules.strange {
      let text = "/// Says \(phrase) here.\n"
      #expect(!WordRules.checkPhrases(swift(text)).isEmpty, "\(phrase)")
    }
    #expect(WordRules.checkPhrases(swift("// A file that is no directory.\n")).count == 1)
    #expect(WordRules.checkPhrases(swift("// There is no directory.\n")).isEmpty)
    #expect(WordRules.checkPhrases(swift("fail(\"there is no directory\")\n")).isEmpty)
    #expect(WordRules.checkPhrases(swift("// It is no longer there.\n")).isEmpty)
    #expect(WordRules.checkPhrases(swift("// swish, wishbone\n")).isEmpty)
  }

  @Test func aNameThatSourcesDoNotDeclareIsFound() {
    let sources = swift(
      """
      public struct Sample {
        public var time: Int
      }
      open class Handler {
        open func take(_ sample: Sample) {}
      }
      public enum Ending {
        case ended, failed(String)
      }
      struct Hidden {}
      """)
    func findings(_ cell: String) -> [String] {
      NamesRule([sources])
        .check(SourceFile(path: "docs/design/x-names.md", text: "| `Other` | \(cell) | why |"))
        .map(\.message)
    }
    #expect(findings("`Sample.time`, `Handler.take(_:)`, `Ending.failed(_:)`, `x-y`").isEmpty)
    #expect(findings("`framebus top`, `take`, `SO_PEERCRED`, –").isEmpty)
    #expect(findings("`Hidden`").count == 1)
    #expect(findings("`Sample.gone`, `Gone`").count == 2)
  }

  @Test func aChangelogOfAnotherShapeIsFound() {
    func findings(_ text: String) -> Int {
      ReleaseRules.checkChangelog(SourceFile(path: "CHANGELOG.md", text: text)).count
    }
    #expect(
      findings("# Changes\n## Unreleased\n### Added\n## 0.2.0 - 2026-01-31\n### Added\n") == 0)
    #expect(findings("## 0.10.0 - 2026-01-31\n## 0.9.1 - 2026-01-30\n") == 0)
    #expect(findings("## 0.9.1 - 2026-01-30\n## 0.10.0 - 2026-01-31\n") == 1)
    #expect(findings("## 0.1.0 - 2026-01-31\n## Unreleased\n") == 1)
    #expect(findings("## 0.1.0\n## 0.01.0 - 2026-01-31\n## 0.1.0 - 31.1.2026\n") == 3)
    #expect(findings("## Unreleased\n### Added\n### Added\n### News\n") == 2)
    #expect(findings("# Changes\n### Added\n") == 2)
  }

  @Test func aFileWithAnotherVersionIsFound() {
    func findings(_ swift: String, _ debian: String, _ python: String) -> Int {
      let texts = [
        "Sources/Programs/CommandLineSupport/ProgramEntry.swift":
          "let packageVersion = \"\(swift)\"\n",
        "debian/changelog": "framebus (\(debian)) unstable\n",
        "python/pyproject.toml": "[project]\nversion = \"\(python)\"\n",
      ]
      return ReleaseRules.checkVersions(texts.map { SourceFile(path: $0.key, text: $0.value) })
        .count
    }
    #expect(findings("0.1.0", "0.1.0", "0.1.0") == 0)
    #expect(findings("0.1.0", "0.1.1", "0.1.0") == 1)
    #expect(findings("0.1", "0.1.0", "0.1.0") == 1)
    #expect(ReleaseRules.checkVersions([]).count == 3)
  }
}
