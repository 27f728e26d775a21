import AppGroup
import Foundation
import TestSupport
import Testing

@testable import SharedDefaults

/// Reading and writing between objects, and the conversions of UserDefaults.
@Suite struct StoreTests {
  private static let everyKind: [String: DefaultsValue] = [
    "yes": true, "no": false, "count": -42, "most": .integer(.max), "ratio": 0.5,
    "nothing": .double(.infinity), "text": "Grüße 👋", "empty": "", "bytes": .data([0, 255, 10]),
    "moment": .date(-1.5), "place": .url("https://example.com/whip?x=1"),
    "list": [1, "two", [3.0], []], "table": ["a": ["b": ["c": .data([])]], "d": [:]],
  ]

  @Test func everyTypeOfValueIsReadUnchanged() throws {
    let world = try DefaultsWorld()
    let writer = try world.open()
    let reader = try world.open()
    for (key, value) in Self.everyKind {
      try writer.set(value, forKey: key)
      #expect(writer.value(forKey: key) == value)
      #expect(reader.value(forKey: key) == value)
    }
    #expect(try world.open().storedValues() == Self.everyKind)
    #expect(try world.open().refresh() == UInt64(Self.everyKind.count))
  }

  @Test func notANumberIsKeptBitForBit() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    try defaults.set(Double.nan, forKey: "x")
    #expect(try world.open().double(forKey: "x").isNaN)
    let sequence = try defaults.refresh()
    try defaults.set(Double.nan, forKey: "x")
    #expect(try defaults.refresh() == sequence)
    #expect(try defaults.compareAndSet("x", expected: .double(.nan), to: 1))
  }

  @Test func gettersConvertLikeUserDefaults() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    try defaults.update {
      $0["42"] = "42"
      $0["yes"] = "YES"
      $0["int"] = 7
      $0["double"] = 2.75
      $0["bool"] = true
      $0["texts"] = ["a", "b"]
      $0["mixed"] = ["a", 1]
    }
    #expect(defaults.integer(forKey: "42") == 42)
    #expect(defaults.double(forKey: "42") == 42)
    #expect(defaults.bool(forKey: "yes"))
    #expect(!defaults.bool(forKey: "missing"))
    #expect(defaults.string(forKey: "int") == "7")
    #expect(defaults.integer(forKey: "double") == 2)
    #expect(defaults.integer(forKey: "bool") == 1)
    #expect(defaults.bool(forKey: "int"))
    #expect(defaults.stringArray(forKey: "texts") == ["a", "b"])
    #expect(defaults.stringArray(forKey: "mixed") == nil)
    #expect(defaults.array(forKey: "mixed")?.count == 2)
    #expect(defaults.string(forKey: "texts") == nil)
    #expect(defaults.bytes(forKey: "int") == nil)
    try defaults.set(["a": [1, 2]], forKey: "swift")
    #expect(defaults.dictionary(forKey: "swift") == ["a": [1, 2]])
  }

  @Test func registeredValuesApplyToUnsetKeysAndAreNeverWritten() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    defaults.register(defaults: ["fps": 30, "name": "screen"])
    #expect(defaults.integer(forKey: "fps") == 30)
    try defaults.set(60, forKey: "fps")
    #expect(defaults.dictionaryRepresentation() == ["fps": 60, "name": "screen"])
    #expect(try world.open().dictionaryRepresentation() == ["fps": 60])
    try defaults.removeObject(forKey: "fps")
    #expect(defaults.integer(forKey: "fps") == 30)
    #expect(try world.open().value(forKey: "fps") == nil)
  }

  @Test func updateOfSeveralKeysIsOneChangeAndWithoutEffectNone() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    try defaults.update {
      $0["a"] = 1
      $0["b"] = 2
    }
    #expect(try defaults.refresh() == 1)
    try defaults.update {
      $0["a"] = 1
      $0["c"] = nil
    }
    #expect(try defaults.refresh() == 1)
    try defaults.update { draft in
      #expect(draft.keys == ["a", "b"])
      draft["b"] = nil
      #expect(draft["b"] == nil)
      #expect(draft.keys == ["a"])
    }
    #expect(defaults.storedValues() == ["a": 1])
  }

  @Test func compareAndSetChangesOnlyTheExpectedValue() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    #expect(try defaults.compareAndSet("leader", expected: nil, to: "me"))
    #expect(try !defaults.compareAndSet("leader", expected: nil, to: "you"))
    #expect(try !defaults.compareAndSet("leader", expected: "you", to: nil))
    #expect(defaults.string(forKey: "leader") == "me")
    #expect(try defaults.compareAndSet("leader", expected: "me", to: nil))
    #expect(defaults.value(forKey: "leader") == nil)
  }

  @Test func longJournalBecomesASnapshotAndReadersFollow() throws {
    let world = try DefaultsWorld()
    let writer = try world.open()
    let reader = try world.open()
    var inodes: Set<UInt64> = []
    for number in 1...3000 {
      try writer.set("value \(number)", forKey: "key\(number % 10)")
      #expect(reader.string(forKey: "key\(number % 10)") == "value \(number)")
      let status = try world.group.openDefaults().status(of: "suite.suite")
      inodes.insert(try #require(status).inode)
      #expect(try #require(status).byteCount < 70_000)
    }
    #expect(inodes.count >= 2)
    #expect(try world.open().refresh() == 3000)
    #expect(try world.entries() == ["suite.suite"])
  }

  @Test func suitesAreListedAndRemovedAndReadersNoticeRemoval() throws {
    let world = try DefaultsWorld()
    let reader = try world.open()
    #expect(reader.value(forKey: "a") == nil)
    try world.open().set(1, forKey: "a")
    #expect(reader.integer(forKey: "a") == 1)
    try SharedDefaults(in: world.group).set(2, forKey: "b")
    #expect(
      try SharedDefaults.list(in: world.group).map(\.text) == [DefaultsWorld.groupName, "suite"])
    try world.open().removeSuite()
    #expect(reader.value(forKey: "a") == nil)
    try reader.set(3, forKey: "a")
    #expect(try world.open().storedValues() == ["a": 3])
    try world.open().removeSuite()
    #expect(try SharedDefaults.list(in: world.group).map(\.text) == [DefaultsWorld.groupName])
  }

  @Test func fileRemovedOrRestoredByHandIsNoticed() throws {
    let world = try DefaultsWorld()
    let reader = try world.open()
    try reader.set("old", forKey: "a")
    try output(of: "cp", [world.path, world.root.file("backup")])
    try reader.set("new", forKey: "a")
    try output(of: "mv", [world.root.file("backup"), world.path])
    try waitUntil("the backup is read") { reader.string(forKey: "a") == "old" }
    try output(of: "rm", [world.path])
    try waitUntil("the file is gone") { reader.value(forKey: "a") == nil }
    try reader.set("again", forKey: "a")
    #expect(try world.open().string(forKey: "a") == "again")
  }

  @Test(arguments: ["", "../x", ".hidden", "a/b", "a b", "ä", String(repeating: "a", count: 129)])
  func invalidNameIsRefused(_ name: String) throws {
    let world = try DefaultsWorld()
    #expect(throws: DefaultsError.invalidName(name)) {
      try SharedDefaults(suiteName: name, in: world.group)
    }
  }

  @Test func valueBeyondTheLimitsIsRefusedAndChangesNothing() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    for key in ["", "a\nb", "a\u{202E}b", String(repeating: "k", count: 513)] {
      #expect(throws: DefaultsError.invalidKey(key)) { try defaults.set(1, forKey: key) }
    }
    var deep: DefaultsValue = 1
    for _ in 0...SuiteFormat.maximumDepth { deep = [deep] }
    let large = DefaultsValue.data([UInt8](repeating: 0, count: 5 << 20))
    let many = DefaultsValue.array(Array(repeating: true, count: SuiteFormat.maximumValues + 1))
    for value in [deep, large, many, ["": 1]] {
      #expect(throws: DefaultsError.invalidValue(key: "a")) {
        try defaults.update {
          $0["a"] = value
        }
      }
    }
    #expect(try defaults.refresh() == 0)
    let big = DefaultsValue.data([UInt8](repeating: 7, count: 3 << 20))
    try defaults.set(big, forKey: "a")
    #expect(throws: DefaultsError.self) { try defaults.set(big, forKey: "b") }
    #expect(try world.open().storedValues() == ["a": big])
    try defaults.removeObject(forKey: "a")
    try defaults.set(big, forKey: "b")
    #expect(try world.open().storedValues() == ["b": big])
  }

  @Test func suiteHasALimitedNumberOfKeys() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    let most = SuiteFormat.maximumKeys
    try defaults.update { for number in 1...most { $0["\(number)"] = true } }
    let error = try #require(throws: DefaultsError.self) { try defaults.set(1, forKey: "more") }
    guard case .suiteTooLarge(_, keyCount: most + 1) = error else { throw error }
    try defaults.update {
      $0["1"] = nil
      $0["more"] = 1
    }
    #expect(try world.open().storedValues().count == most)
  }

  @Test func concurrentChangesOfOneObjectAreNotLost() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 1...200 {
        _ = try? defaults.update { draft in
          guard case .integer(let total) = draft["total"] ?? 0 else { return }
          draft["total"] = .integer(total + 1)
          draft["thread\(thread)"] = .integer(number)
        }
      }
    }
    #expect(try world.open().integer(forKey: "total") == 800)
  }
}
