import Testing

@testable import AppGroup

@Suite struct ManifestTests {
  private let id = GroupID.local

  private func parse(_ text: String) throws(ManifestError) -> Manifest {
    try Manifest(parsing: Array(text.utf8), for: id)
  }

  private func error(_ text: String) -> ManifestError? {
    do {
      _ = try parse(text)
      return nil
    } catch {
      return error
    }
  }

  @Test func writtenManifestParsesToTheSameManifest() throws {
    var manifest = Manifest(id: id, ownerID: 1000)
    manifest.roles[.capture] = .init(uids: [1, 2], gids: [3])
    manifest.roles[try #require(Role(rawValue: "viewer-2"))] = .init()
    #expect(try parse(manifest.text) == manifest)
  }

  @Test func rolesComeFromUidsAndGids() {
    let manifest = Manifest(
      id: id,
      roles: [.host: .init(uids: [1]), .capture: .init(uids: [2], gids: [50])])
    #expect(manifest.roles(uid: 1, gids: [50]) == [.capture, .host])
    #expect(manifest.roles(uid: 2, gids: []) == [.capture])
    #expect(manifest.roles(uid: 3, gids: [1, 2]).isEmpty)
  }

  @Test(arguments: [
    ("version = 1\ngroup = \"group.local.framebus\"\n[roles.host\nuids = [1]\n", 3),
    ("version = 1\ngroup = \"group.local.framebus\"\n[roles.host]\n\nuids = [-1]\n", 5),
    ("version = 1\ngroup = \"group.local.framebus\"\n[roles.host]\nuids = [4294967295]\n", 4),
    ("version = 1\ngroup = \"group.local.framebus\"\n[roles.host]\nuids = [\"a\"]\n", 4),
    ("version = 1\ngroup = \"group.local.framebus\"\n[roles.host]\nuids = 7\n", 4),
    ("version = 1\ngroup = \"group.local.framebus\"\n[roles.host]\nuid = [7]\n", 4),
    ("version = 1\ngroup = \"group.local.framebus\"\n[roles.Host]\nuids = [7]\n", 3),
    ("version = 1\ngroup = \"group.local.framebus\"\nrolls = 1\n[roles.host]\n", 3),
    ("version = 1\ngroup = \"other.group\"\n[roles.host]\nuids = [7]\n", 2),
    ("version = 1\n\ngroup = \"group.local.framebus\"\n", 1),
    ("version = 0\ngroup = \"group.local.framebus\"\n[roles]\n", 1),
    ("version = \"1\"\n", 1), ("", 1), ("version = 1\ngr\u{0}oup = 1\n", 2),
    ("version = 1\nversion = 1\n", 2),
  ])
  func errorOfAMalformedManifestNamesTheLine(_ text: String, _ line: Int) throws {
    let error = try #require(self.error(text))
    #expect(error.line == line, "\(error.reason)")
    #expect(!error.isNewerVersion)
    #expect(!error.reason.contains("\n"))
  }

  @Test func handWrittenTOMLIsParsed() throws {
    let text = """
      \tversion=1 # one
      'group' = "group.local.frame\\u0062us"\r
      roles.host.uids = [ 1_000, # me
        +7,
      ]
      [ roles . "capture" ]
      gids = []
      """
    let manifest = try parse(text)
    #expect(manifest.roles[.host]?.uids == [1000, 7])
    #expect(manifest.roles[.capture] == .init())
  }

  @Test(arguments: [
    "a = 1.5", "a = 1979-05-27", "a = {}", "[[a]]", "a = \"\"\"x\"\"\"", "a = 007", "a = 0x1",
    "a = 1 b = 2", "a = [1 2]", "a = [1", "a = \"x", "a = \"\\q\"", "a = \"\\ud800\"", "a", "= 1",
    "a = 9223372036854775808", "[a]\n[a]", "a = 1\n[a]", "[a.b]\n[a]\nb = 1", "[]", "[a", "a.",
    "a = _1",
  ])
  func malformedOrUnsupportedTOMLIsAnError(_ text: String) {
    #expect(throws: TOMLError.self) { try TOMLDocument(parsing: Array(text.utf8)) }
  }

  @Test func newerVersionIsReportedDespiteUnknownContent() {
    let error = self.error("version = 2\nfuture = true\n")
    #expect(error?.isNewerVersion == true)
    #expect(error?.reason == "it has version 2, but this FrameBus reads versions up to 1")
  }

  @Test func mutatedBytesDoNotCrashTheParser() {
    var generator = SystemRandomNumberGenerator()
    let text = Array(Manifest(id: id, ownerID: 0).text.utf8)
    for _ in 0..<500 {
      var bytes = text
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        bytes[Int.random(in: bytes.indices, using: &generator)] = .random(
          in: 0...255, using: &generator)
      }
      _ = try? Manifest(parsing: bytes, for: id)
    }
    let nested = "a=" + String(repeating: "[", count: 60000)
    #expect(error(nested) != nil)
  }
}

@Suite struct GroupIDTests {
  @Test(arguments: ["group.dev.cdaprod.thatdam", "a.b", "A-1.b-2.3"])
  func reverseDNSNamesAreValidIDs(_ text: String) throws {
    #expect(try GroupID(text).description == text)
  }

  @Test(arguments: [
    "", "plain", ".a.b", "a.b.", "a..b", "a.b/c", "../a.b", "a.b c", "-a.b", "a.b-", "1.b", "ä.b",
    "a.\u{0}", "a.b\n", String(repeating: "a", count: 64) + ".b",
    String(repeating: "a.", count: 64) + "b",
  ])
  func otherTextsAreInvalidIDs(_ text: String) {
    let error = #expect(throws: GroupIDError.self) { try GroupID(text) }
    #expect(error?.description.contains("\n") == false)
  }

  @Test func rolesAreLowercaseWords() {
    #expect(Role(rawValue: "viewer-2") != nil)
    for text in ["", "Host", "2a", "a b", "-a", String(repeating: "a", count: 33)] {
      #expect(Role(rawValue: text) == nil)
    }
  }
}
