import Testing

/// The rules of the house, checked on every file of the repository.
@Suite struct TidyTests {
  private let files: [SourceFile]

  init() throws { files = try Repository.files.get() }

  private func expectNone(_ findings: [Finding]) {
    #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
  }

  @Test func modulesImportOnlyWhatThePackageDeclares() throws {
    let rule = LayerRule(modules: try PackageModules.declared.get())
    expectNone(files.flatMap(rule.check))
  }

  @Test func thePictureOfLayersIsThePackages() throws {
    let rule = LayerRule(modules: try PackageModules.declared.get())
    expectNone(
      rule.checkPicture(in: try #require(files.first { $0.path == "docs/ARCHITECTURE.md" })))
  }

  @Test func mediaModulesAreEmptyWithoutTheirTrait() {
    expectNone(files.flatMap(MediaRule.check))
  }

  @Test func filesStayShort() {
    expectNone(files.flatMap(SizeRules.checkLength))
  }

  @Test func linesStayWithinTheColumns() {
    expectNone(files.flatMap(SizeRules.checkColumns))
  }

  @Test func rawPointersStayInTheirPlaces() {
    expectNone(files.flatMap(PointerRule.check))
  }

  @Test func everyUnsafeUseSaysWhatItReliesOn() {
    expectNone(files.flatMap(CommentRules.checkSafety))
  }

  @Test func everyAtomicAccessNamesItsPairOrItsReason() {
    expectNone(files.flatMap(CommentRules.checkAtomics))
  }

  @Test func everySyncTagHasTwoSides() {
    expectNone(CommentRules.checkPairs(files))
  }

  @Test func everySyncPairHasALitmusTest() {
    expectNone(CommentRules.checkLitmusTests(files))
  }

  @Test func everySharedStoreHasACrashPoint() {
    expectNone(files.flatMap(CrashPointRule.check))
  }

  @Test func everySilencedCheckSaysBecause() {
    expectNone(files.flatMap(CommentRules.checkBecause))
  }

  @Test func everyModuleSaysWhatItRefuses() {
    expectNone(CommentRules.checkRefusals(files))
  }

  @Test func noMarkerIsLeftOver() {
    expectNone(files.flatMap(WordRules.checkMarkers))
  }

  @Test func wordsArePlainEnglish() {
    expectNone(files.flatMap(WordRules.checkPhrases))
  }

  @Test func noFileNamesAPathOfOneMachine() {
    expectNone(files.flatMap(WordRules.checkPaths))
  }

  @Test func theProgramsOfTheReadmeAreTheExamplesThatAreBuilt() throws {
    let readme = try #require(files.first { $0.path == "README.md" })
    let examples = files.filter { $0.path.hasPrefix("examples/") && $0.isSwift }
    expectNone(ExampleRule.check(readme, against: examples))
  }

  @Test func theGuidesProgramsAreBuiltAndTheLinesThatTheyChangeExist() {
    let built = files.filter {
      $0.isSwift && ["examples/", "Tests/GuideTests/"].contains(where: $0.path.hasPrefix)
    }
    for guide in files where guide.path.hasPrefix("docs/guides/") {
      expectNone(GuideRule.checkPrograms(guide, against: built))
      expectNone(GuideRule.checkEdits(guide, of: files))
    }
  }

  @Test func thePagesOfNamesNameDeclarationsThatExist() {
    let rule = NamesRule(files.filter { $0.isSwift && $0.path.hasPrefix("Sources/") })
    let pages = files.filter {
      $0.path.hasPrefix("docs/design/")
        && ($0.path.hasSuffix("-names.md") || $0.path.hasSuffix("/extension-manifest.md"))
    }
    #expect(pages.count == 4)
    expectNone(pages.flatMap(rule.check))
  }

  @Test func decisionsAreListed() throws {
    let pages = files.filter {
      $0.path.hasPrefix("docs/decisions/") && !$0.path.hasSuffix("README.md")
        && !$0.path.hasSuffix("0000-template.md")
    }
    let list = try #require(files.first { $0.path == "docs/decisions/README.md" })
    expectNone(DecisionRule.check(list, against: pages))
  }

  @Test func changesAreListedAsKeepAChangelogSays() throws {
    let page = try #require(files.first { $0.path == "CHANGELOG.md" })
    expectNone(ReleaseRules.checkChangelog(page))
  }

  @Test func allFilesHaveOneVersion() {
    expectNone(ReleaseRules.checkVersions(files))
  }
}
