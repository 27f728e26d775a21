import AppGroup
import CredentialStore
import Foundation
import Platform
import SharedDefaults
import SharedLog
import TestSupport
import Testing

@testable import Broadcast

/// What a host passes to its extension: a title, typed values and credentials.
@Suite struct SetupInfoTests {
  private static let options = [
    "--title", "Tuesday’s talk", "--setup-info", "quality:int=3", "--setup-info", "gain:double=0.5",
    "--setup-info", "place=the hall", "--setup-info", "open:bool=yes", "--setup-info",
    "key:data=AQI=",
    "--setup-info", "at:date=12", "--setup-info", "page:url=https://h/x",
    "--setup-info", #"tags:json=["a", 2]"#,
  ]
  private static let call = """
    setup “Tuesday’s talk” at=date(12.0) gain=double(0.5) key=data([1, 2]) open=bool(true) \
    page=url("https://h/x") place=string("the hall") quality=integer(3) \
    tags=array([SharedDefaults.DefaultsValue.string("a"), SharedDefaults.DefaultsValue.integer(2)])
    """

  private func start(_ scene: BroadcastScene, _ options: [String] = []) throws -> RunningProgram {
    try RunningProgram(
      "framebus",
      [
        "--root", scene.root.path, "--group", "\(scene.group.id)", "broadcast", "start",
        BroadcastScene.extensionID, "--source", scene.source,
      ] + options)
  }

  private func items(_ scene: BroadcastScene) throws -> [CredentialName] {
    try CredentialStore.open(in: scene.group, as: .host).list().map(\.name)
  }

  @Test func typedValuesReachEachProcessOfExtensionUnderEachHost() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["setup=1"])
      let host = try start(scene, Self.options)
      var calls = ["started 1", Self.call, "video"]
      try scene.waitForTrace(calls)
      try scene.kill(.extension)
      calls += ["started 2", Self.call, "video"]
      try scene.waitForTrace(calls)
      #expect(
        try scene.controller.status.options["setup-info"]
          == "title, at, gain, key, open, page, place, quality, tags")
      // A start with the same values, fewer or none follows it; another value is not dropped.
      for options in [Self.options, ["--setup-info", "quality:int=3"]] {
        let second = try start(scene, options)
        try second.waitForErrors("following it")
        _ = try second.end(with: Signal.interrupt)
      }
      let other = try start(
        scene, ["--setup-info", "quality=3", "--setup-info", "new=hidden", "--title", "x"])
      let refusal = try other.finish()
      #expect(refusal.status == .exited(1))
      for text in [
        "setup-info quality is another value, not the given one",
        "setup-info new is not set, not the given one", "title is another one, not the given one",
      ] { #expect(refusal.errors.contains(text), "\(refusal.errors)") }
      #expect(!refusal.errors.contains("hidden"))
      // The next host is told nothing, and passes the same on.
      _ = try host.end(with: Signal.kill)
      let next = try start(scene)
      try next.waitForErrors("taking over")
      try scene.kill(.extension)
      calls += ["started 3", Self.call, "video"]
      try scene.waitForTrace(calls)
      #expect(try next.end(with: Signal.interrupt).status == .exited(130))
      #expect(try items(scene).isEmpty)
    }
  }

  @Test func valuesAreOnlyInMemoryOfHostAndExtension() throws {
    try withWatchdog {
      let canary = "canary-" + String(UInt64.random(in: 1 << 60 ... .max), radix: 36)
      let scene = try BroadcastScene(["setup=1", "secret=upload", "trace=none"])
      try CredentialStore.create(in: scene.group)
        .set(
          CredentialName(service: "s", account: "a"), SecretBytes(copying: Array(canary.utf8)))
      var request = scene.request
      request.title = "title \(canary)"
      request.setupInfo = ["place": .string(canary)]
      request.setupSecrets = ["upload": try CredentialName(service: "s", account: "a")]
      let session = try scene.controller.start(request).session
      try scene.events.wait(for: .live)
      #expect(try items(scene).map(\.service) == ["framebus.setup", "s"])
      for process in try ProcessFacts.all {
        for file in ["cmdline", "environ"] {
          #expect(!process.shown(file).contains(canary), "\(file) of \(process.processID)")
        }
      }
      let found = try run("grep", ["-r", "-l", "-a", canary, scene.root.path])
      #expect(found.status == .exited(1), "\(found.output)")
      #expect(try !scene.log().contains { "\($0)".contains(canary) })
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func credentialOpensUnderItsKey() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["setup=1", "secret=upload"])
      try CredentialStore.create(in: scene.group)
        .set(CredentialName(service: "s/t", account: "a"), SecretBytes(copying: [1, 2, 3]))
      let host = try start(scene, ["--setup-secret", "upload=s/t/a"])
      try scene.waitForTrace(["started 1", "setup “none” ", "secret 3", "video"])
      _ = try host.end(with: Signal.interrupt)
      let missing = try start(scene, ["--setup-secret", "upload=s/b"]).finish()
      #expect(missing.status == .exited(1))
      #expect(missing.errors.contains("there is no credential s/b"), "\(missing.errors)")
      #expect(try items(scene).map(\.service) == ["s/t"])
    }
  }

  /// Any member can write the record, and a user's backup may damage the sealed file.
  @Test func recordCannotTakeValuesAwayAndDamagedOnesAreAnError() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["setup=1"])
      let host = try start(scene, ["--setup-info", "quality:int=3"])
      var calls = ["started 1", "setup “none” quality=integer(3)", "video"]
      try scene.waitForTrace(calls)
      _ = try host.end(with: Signal.kill)
      let suite = try SharedDefaults(suiteName: BroadcastNames.suite, in: scene.group)
      func setNames(_ names: String?) throws {
        try suite.update { draft in
          guard var record = BroadcastRecord(draft[BroadcastNames.recordKey]) else { return }
          record.options.setupNames = names.map { [$0] } ?? []
          draft[BroadcastNames.recordKey] = record.value
        }
      }
      try setNames(nil)
      let second = try start(scene)
      try second.waitForErrors("taking over")
      try scene.kill(.extension)
      calls += ["started 2", "setup “none” quality=integer(3)", "video"]
      try scene.waitForTrace(calls)
      _ = try second.end(with: Signal.kill)
      try setNames("quality")
      let folder = scene.group.containerPath + "/credentials/items/"
      for byteCount in [300, 200_000] {
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
          try Data(repeating: 0x5a, count: byteCount).write(to: URL(filePath: folder + file))
        }
        let third = try start(scene).finish()
        #expect(third.status == .exited(1))
        #expect(third.errors.contains("cannot be read: "), "\(third.errors)")
        #expect(third.errors.contains("framebus broadcast stop"), "\(third.errors)")
      }
      // The extension goes on, and the broadcast can be stopped.
      #expect(scene.trace == calls)
      try scene.controller.finish()
      #expect(try scene.controller.status.ending == .finished)
    }
  }

  @Test func storeThatCannotSealLeavesNoSession() throws {
    let scene = try BroadcastScene(["setup=1"])
    _ = try CredentialStore.create(in: scene.group)
    let index = URL(filePath: scene.group.containerPath + "/credentials/index")
    try Data("damaged".utf8).write(to: index)
    var request = scene.request
    request.title = "a talk"
    let wanted = request
    #expect(throws: BroadcastError.self) { try scene.controller.start(wanted) }
    #expect(try scene.controller.status.phase == .idle && scene.events.all.isEmpty)
  }

  /// The record refuses such a session.
  @Test func startThatFailsLeavesNothingSealed() throws {
    let scene = try BroadcastScene(["setup=1"])
    var request = scene.request
    request.title = "a talk"
    request.soundSources[.audioApp] = "file:" + String(repeating: "x", count: 600)
    let wanted = request
    #expect(throws: BroadcastError.textTooLong(maximumBytes: 512)) {
      try scene.controller.start(wanted)
    }
    #expect(try scene.controller.status.phase == .idle && items(scene).isEmpty)
  }

  @Test(arguments: [
    (["--setup-info", "x"], "“x” has no name"),
    (["--setup-info", "=x"], "“=x” has no name"),
    (["--setup-info", "a:number=1"], "there is no type “number”; use string, int"),
    (["--setup-info", "a:int=one"], "--setup-info a: “one” is not a valid int"),
    (["--setup-info", "a/b=1"], "the key “a/b” is not allowed"),
    (["--setup-info", "apiToken=1"], "--setup-info apiToken: this looks like a secret"),
    (["--setup-info", #"a:json={"password": "x"}"#], "--setup-info password: this looks like"),
    (["--setup-info", "a=1", "--setup-secret", "a=s/b"], "the key a is passed on twice"),
    (["--setup-secret", "a=s"], "write a credential as SERVICE/ACCOUNT"),
    (["--title", "a\nb"], "a title has 1 to 256 bytes"),
    (
      ["--setup-info", "a=" + String(repeating: "x", count: 16_384)], "at most 16384 are passed on"
    ),
  ])
  func malformedSetupIsRefused(options: [String], message: String) throws {
    let result = try run("framebus", ["broadcast", "start", "x", "--source", "test"] + options)
    #expect(result.status == .exited(2) && result.errors.contains(message), "\(result.errors)")
  }

  @Test func encodingSurvivesAndMalformedOneDoesNot() throws {
    var setup = SessionSetup()
    setup.title = "t"
    setup.values = ["a": ["b": [1, 2.5, true, .data([1]), .date(3), .url("u")]]]
    setup.secrets = ["c": try CredentialName(service: "s", account: "a")]
    try setup.check()
    let encoding = setup.encoding
    #expect(SessionSetup(encoding) == setup)
    for count in 0..<encoding.count { #expect(SessionSetup(Array(encoding.prefix(count))) == nil) }
    #expect(SessionSetup(encoding + [0]) == nil)
    func malformed(_ parts: [String: DefaultsValue]) -> Bool {
      SessionSetup(DefaultsValue.dictionary(parts).encoding) == nil
    }
    #expect(!malformed(["values": [:], "secrets": [:]]))
    #expect(malformed(["values": [:]]))
    #expect(malformed(["values": ["a b": 1], "secrets": [:]]))
    #expect(malformed(["values": [:], "secrets": ["a": "s/b"]]))
    #expect(malformed(["values": [:], "secrets": [:], "title": "a\u{1b}"]))
    #expect(
      malformed(["values": ["a": .data(Array(repeating: 0, count: 16_384))], "secrets": [:]]))
    let many = Dictionary(
      uniqueKeysWithValues: (0..<33).map { ("k\($0)", DefaultsValue.bool(true)) })
    #expect(malformed(["values": .dictionary(many), "secrets": [:]]))
    setup.values = many
    #expect(throws: BroadcastError.self) { try setup.check() }
  }
}
