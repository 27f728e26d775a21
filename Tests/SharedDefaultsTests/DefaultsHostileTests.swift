import AppGroup
import Foundation
import TestSupport
import Testing

@testable import Platform
@testable import SharedDefaults

/// Any content that a member stores as a suite: reading it ends, yields only values that were
/// written, and reports the reason.
@Suite struct DefaultsHostileTests {
  private func contents(_ world: DefaultsWorld) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(fileURLWithPath: world.path)))
  }

  private func put(_ bytes: [UInt8], _ world: DefaultsWorld) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: world.path))
  }

  private func suite() throws -> (DefaultsWorld, SharedDefaults) {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    try defaults.update { $0["first"] = [1, "two"] }
    try defaults.set("second", forKey: "second")
    try SharedDefaults.renewAccess(in: world.group)
    try defaults.set("third", forKey: "third")
    return (world, defaults)
  }

  @Test func flippedBytesAndMissingTailsAreDetected() throws {
    let (world, defaults) = try suite()
    let whole = try contents(world)
    let before = defaults.storedValues()
    for index in whole.indices {
      var bytes = whole
      bytes[index] ^= UInt8.random(in: 1...255)
      for bytes in [bytes, Array(whole[..<index])] {
        try put(bytes, world)
        let late = try world.open()
        let values = late.storedValues()
        // Values of some earlier state, or none.
        #expect(values.allSatisfy { before[$0.key] == $0.value }, "byte \(index)")
        _ = defaults.storedValues()
      }
    }
    try put(whole, world)
    #expect(try world.open().storedValues() == before)
    try waitUntil("the file is read again") { defaults.storedValues() == before }
  }

  @Test func malformedJournalIsReadUpToTheErrorAndRepairedByTheNextChange() throws {
    let (world, defaults) = try suite()
    var bytes = try contents(world)
    bytes[bytes.count - 1] ^= 1
    try put(bytes, world)
    let late = try world.open()
    #expect(late.storedValues() == ["first": [1, "two"], "second": "second"])
    try late.set("fourth", forKey: "fourth")
    #expect(try world.open().storedValues().keys.sorted() == ["first", "fourth", "second"])
    #expect(late.storedValues() == (try world.open().storedValues()))
    try waitUntil("others follow") { defaults.storedValues() == late.storedValues() }
  }

  @Test func malformedJournalThatIsRepairedInPlaceIsReadAgain() throws {
    let (world, _) = try suite()
    let whole = try contents(world)
    var bytes = whole
    bytes[bytes.count - 1] ^= 1
    try put(bytes, world)
    let reader = try world.open()
    #expect(reader.value(forKey: "third") == nil)
    try put(whole, world)
    try waitUntil("the file is read again") { reader.value(forKey: "third") == "third" }
  }

  @Test func tornTailIsIgnoredByReadersAndTruncatedByTheNextWriter() throws {
    let (world, defaults) = try suite()
    let whole = try contents(world)
    try put(whole + JournalRecord(sequence: 4, changes: ["torn": 1]).bytes, world)
    #expect(try world.open().value(forKey: "torn") == nil)
    #expect(try contents(world).count > whole.count)
    try defaults.set("x", forKey: "k")
    let record = JournalRecord(sequence: 4, changes: ["k": "x"])
    #expect(try contents(world).count == whole.count + record.bytes.count)
    #expect(try world.open().storedValues().count == 4)
  }

  @Test func foreignFileIsRefusedAndNotChanged() throws {
    let world = try DefaultsWorld()
    for bytes in [[], Array("hello".utf8), [UInt8](repeating: 0, count: 5000)] {
      try put(bytes, world)
      let defaults = try world.open()
      #expect(defaults.value(forKey: "a") == nil)
      let error = try #require(throws: DefaultsError.self) { try defaults.refresh() }
      #expect(error == .damaged(path: world.path, why: "it does not begin like a suite"))
      #expect(throws: DefaultsError.self) { try defaults.set(1, forKey: "a") }
      #expect(try contents(world) == bytes)
    }
    try world.open().removeSuite()
    try world.open().set(1, forKey: "a")
  }

  @Test func fileOfANewerVersionIsReportedAsNewer() throws {
    let (world, defaults) = try suite()
    var bytes = try contents(world)
    bytes[SuiteFormat.atVersion] = 2
    try put(bytes, world)
    let late = try world.open()
    #expect(throws: DefaultsError.newerVersion(path: world.path, version: 2)) {
      try late.refresh()
    }
    // An earlier reader keeps its values.
    #expect(defaults.string(forKey: "third") == "third")
  }

  @Test func entriesOtherThanFilesAreRefusedWithoutBeingOpened() throws {
    let world = try DefaultsWorld()
    for make in ["mkfifo \(world.path)", "ln -s /etc/passwd \(world.path)", "mkdir \(world.path)"] {
      try output(of: "sh", ["-c", make])
      let defaults = try world.open()
      #expect(defaults.value(forKey: "a") == nil)
      let error = try #require(throws: DefaultsError.self) { try defaults.refresh() }
      guard case .untrusted = error else {
        Issue.record("\(error)")
        continue
      }
      try output(of: "rm", ["-r", world.path])
    }
    try world.open().set(1, forKey: "a")
    try output(of: "ln", [world.path, world.root.file("link")])
    #expect(throws: DefaultsError.self) { try world.open().refresh() }
  }

  @Test func truncatedFileLeavesReadersTheirValuesAndIsAnErrorToWriters() throws {
    let (world, defaults) = try suite()
    let before = defaults.storedValues()
    try output(of: "truncate", ["--size=0", world.path])
    #expect(defaults.storedValues() == before)
    #expect(throws: DefaultsError.self) { try defaults.set(1, forKey: "a") }
    #expect(throws: DefaultsError.self) { try defaults.refresh() }
    #expect(defaults.storedValues() == before)
  }

  @Test func removedGroupIsAnErrorToWritersAndAnEmptySuiteToReaders() throws {
    let (world, defaults) = try suite()
    let empty = try SharedDefaults(suiteName: "empty", in: world.group)
    try AppGroup.remove(world.group.id, root: world.root.path)
    for defaults in [defaults, empty] {
      let error = try #require(throws: DefaultsError.self) { try defaults.set(1, forKey: "a") }
      guard case .system = error else {
        Issue.record("\(error)")
        continue
      }
    }
    try waitUntil("the file is missed") { defaults.storedValues().isEmpty }
  }

  @Test func sequenceNumberAboveTheLimitIsRefused() throws {
    let (world, _) = try suite()
    try put(SuiteImage.file(sequence: .max, snapshot: [0, 0, 0, 0]), world)
    let late = try world.open()
    #expect(throws: DefaultsError.self) { try late.refresh() }
    #expect(throws: DefaultsError.self) { try late.set(1, forKey: "a") }
  }

  @Test func countsBeyondTheBytesAreRefused() {
    for count in [UInt32.max, 1 << 31, 1 << 20] {
      var writer = ByteWriter()
      writer.integer(ValueTag.array.rawValue)
      writer.integer(count)
      var parser = ValueParser(writer.bytes[...])
      #expect(throws: FormatError.self) { try parser.value() }
    }
  }

  @Test(.enabled(if: TestUser.canBeCreated, "file systems can only be mounted by root"))
  func changeOnAFullDiskFailsAndKeepsTheSettings() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    let directory = "\(world.group.containerPath)/defaults"
    try output(of: "mount", ["-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", directory])
    defer { _ = try? output(of: "umount", ["--lazy", directory]) }
    let inside = try world.open()
    try inside.set("kept", forKey: "a")
    #expect(throws: DefaultsError.self) {
      for number in 1...100 {
        try inside.set(.data([UInt8](repeating: 1, count: 3000)), forKey: "fill\(number)")
      }
    }
    #expect(try world.open().string(forKey: "a") == "kept")
    #expect(inside.storedValues() == (try world.open().storedValues()))
    // A change that frees space succeeds once the disk has some.
    try output(of: "mount", ["-o", "remount,size=1m", directory])
    try inside.set("again", forKey: "a")
    #expect(try world.open().string(forKey: "a") == "again")
    withExtendedLifetime(defaults) {}
  }
}
