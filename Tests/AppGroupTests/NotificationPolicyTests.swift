import TestSupport
import Testing

@testable import AppGroup
@testable import Platform

@Suite struct NotificationPolicyTests {
  private static let head = """
    version = 1
    group = "group.local.framebus"
    [roles.host]
    [roles.viewer]

    """

  private func parse(_ text: String) throws(ManifestError) -> Manifest {
    try Manifest(parsing: Array((Self.head + text).utf8), for: .local)
  }

  private let viewer = Role(rawValue: "viewer")!

  @Test func membersMayDoEverythingExceptPostFrameBusNames() throws {
    let policy = try parse("").notifications
    for action in NotificationPolicy.Action.allCases {
      #expect(policy.permits(action, role: viewer, name: "broadcastStarted"))
      #expect(policy.permits(action, role: viewer, name: "framebus"))
      let mayName = policy.permits(action, role: .host, name: "framebus.stream.screen")
      #expect(mayName == (action == .observe))
    }
  }

  @Test func systemProgramsMayPostFrameBusNamesInPublishingRoles() throws {
    let policy = try parse("[notifications.host]\npost = []\n").notifications
    let name = "framebus.stream.screen"
    #expect(policy.permits(.post, role: .host, name: name, isSystem: true))
    #expect(policy.permits(.set, role: .host, name: name, isSystem: true))
    #expect(!policy.permits(.post, role: viewer, name: name, isSystem: true))
    #expect(!policy.permits(.post, role: .host, name: "other", isSystem: true))
  }

  @Test func roleMayUseOnlyNamesWithAPrefixInTheManifest() throws {
    let policy = try parse(
      """
      [notifications.viewer]
      post = ["answer.", "bye"]
      observe = ["framebus.stream."]
      set = []
      """
    ).notifications
    #expect(policy.permits(.post, role: viewer, name: "answer.yes"))
    #expect(policy.permits(.post, role: viewer, name: "bye"))
    #expect(!policy.permits(.post, role: viewer, name: "answer"))
    #expect(!policy.permits(.post, role: viewer, name: "Answer.yes"))
    #expect(policy.permits(.observe, role: viewer, name: "framebus.stream.screen"))
    #expect(!policy.permits(.observe, role: viewer, name: "framebus"))
    #expect(!policy.permits(.set, role: viewer, name: "answer.yes"))
    #expect(policy.permits(.set, role: .host, name: "answer.yes"))
  }

  @Test func canonicallyEquivalentNamesAreDistinct() throws {
    let policy = try parse("[notifications.viewer]\npost = [\"caf\\u00e9\"]\n").notifications
    #expect(policy.permits(.post, role: viewer, name: "caf\u{e9}.open"))
    #expect(!policy.permits(.post, role: viewer, name: "cafe\u{301}.open"))
  }

  @Test func writtenPolicyParsesToTheSamePolicy() throws {
    var manifest = try parse("")
    manifest.notifications.rules = [
      .host: [.post: ["a\"b\\c\u{1}", "é"], .set: []], viewer: [.observe: ["x"]],
    ]
    #expect(try Manifest(parsing: Array(manifest.text.utf8), for: .local) == manifest)
  }

  @Test(arguments: [
    ("notifications = 1\n", 5), ("[notifications]\nhost = 1\n", 6),
    ("[notifications.nobody]\n", 5), ("[notifications.host]\n\npots = []\n", 7),
    ("[notifications.host]\npost = \"a\"\n", 6), ("[notifications.host]\npost = [1]\n", 6),
    ("[notifications.host]\npost = [\n\"a\",\n\"\"]\n", 8),
    ("[notifications.host]\nobserve = [\"self.x\"]\n", 6),
    ("[notifications.host]\nset = [\"framebus.x\"]\n", 6),
  ])
  func errorOfAMalformedPolicyNamesTheLine(_ text: String, _ line: Int) {
    // `[roles.viewer]` is line 4, so the text begins on line 5.
    let error = #expect(throws: ManifestError.self) { try parse(text) }
    #expect(error?.line == line, "\(error?.reason ?? "")")
  }
}

/// The policy of a group on disk.
@Suite struct NotificationRefusalTests {
  private let root: TemporaryRoot
  private let group: AppGroup
  private let id: GroupID

  init() throws {
    root = try TemporaryRoot()
    id = try GroupID("a.b")
    group = try AppGroup.create(id, root: root.path)
  }

  private func write(policy: String) throws {
    let container = try Directory(path: group.containerPath)
    var text = Manifest(id: id, ownerID: group.ownerID).text
    text += policy
    try container.replaceFile(Manifest.fileName, with: Array(text.utf8), mode: 0o600)
  }

  private func audited() throws -> String {
    let directory = try Directory(path: group.containerPath + "/audit")
    let bytes = try directory.readFile("\(currentUserID()).log", limit: 1 << 21).bytes
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func refusalNamesActionReasonAndRemedyAndIsAudited() throws {
    try group.require(.post, role: .host, name: "stop")
    try write(policy: "\n[notifications.host]\npost = [\"go\"]\n")
    try group.require(.post, role: .host, name: "gone")
    let error = #expect(throws: NotificationRefusal.self) {
      try group.require(.post, role: .host, name: "stop\n")
    }
    #expect(
      error?.description == """
        the role host may not post “stop\\u{a}” in the group a.b: only names that begin with “go”; \
        use such a name, take another role with --role, or ask the group's owner to change post in \
        [notifications.host] of \(group.containerPath)/manifest.toml
        """)
    let lines = try audited().split(separator: "\n")
    #expect(lines.count == 1)
    #expect(lines[0].hasSuffix(" role host refused to post “stop\\u{a}”"))
    #expect(lines[0].contains(" pid \(currentProcessID()) uid \(currentUserID()) "))
  }

  @Test func fullLogIsRotatedAndItsPredecessorKept() throws {
    let line = String(repeating: "x", count: 4000)
    for _ in 0..<600 { group.audit(line) }
    let directory = try Directory(path: group.containerPath + "/audit")
    #expect(try directory.names() == ["\(currentUserID()).log", "\(currentUserID()).log.old"])
    for name in try directory.names() {
      let status = try directory.status(of: name)
      #expect(try #require(status).byteCount <= AuditLog.maximumBytes)
    }
  }

  @Test func linkAtTheLogsPathIsNotFollowed() throws {
    let directory = try Directory(path: group.containerPath + "/audit")
    try directory.makeLink("\(currentUserID()).log", to: root.path + "/elsewhere")
    group.audit("x")
    #expect(try Directory(path: root.path).status(of: "elsewhere") == nil)
  }

  @Test func removedManifestPermitsNothing() throws {
    try AppGroup.remove(id, root: root.path)
    let error = #expect(throws: NotificationRefusal.self) {
      try group.require(.observe, role: .host, name: "x")
    }
    #expect(error?.description.contains("the manifest is no longer readable") == true)
  }
}
