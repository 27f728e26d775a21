import TestSupport
import Testing

@testable import AppGroup
@testable import Bridge
@testable import Platform
@testable import SharedDefaults
@testable import SharedLog

/// Messages of other machines, and the manifest's list of what crosses.
@Suite struct MessageTests {
  private let note: Note
  private let report: MachineReport

  init() throws {
    let machine = try #require(MachineName("one"))
    note = Note(
      machine: machine, machineID: 7, position: 1 << 40 | 1, stamp: 3, state: .max, name: "a.b")
    var report = MachineReport(machine: machine, machineID: 7)
    report.clock = ClockOffset(aheadNs: -5, errorNs: 2)
    report.streams = [
      .init(name: "screen", state: "live", format: "64×64", addresses: ["srt://h:1"])
    ]
    self.report = report
  }

  @Test func messagesAreReadAsWritten() throws {
    #expect(Note(parsing: note.bytes) == note)
    #expect(MachineReport(parsing: report.bytes) == report)
    let version = SuiteVersion(
      values: ["k": [1, "x"], "d": .data([0])], writers: ["k": "one"], writer: note.machine)
    #expect(SuiteVersion(parsing: try #require(version.bytes)) == version)
  }

  @Test func noteIsOfExactlyOneSubject() throws {
    let subjects = BridgeSubjects(try GroupID("org.example.bridge"))
    let machine = try #require(MachineName("m-1.x"))
    let note = Note(
      machine: machine, machineID: 7, position: 1, stamp: 0, state: 0, name: "a.B_é-9")
    let right = subjects.notes(of: machine) + BridgeSubjects.token(note.name)
    #expect(right == "framebus.org_2eexample_2ebridge.note.m-1_2ex.a_2eB_5f_c3_a9-9")
    let bytes = Array(right.utf8)
    func isAccepted(_ bytes: [UInt8]) -> Bool { subjects.isSubject(bytes.span, of: note) }
    #expect(isAccepted(bytes))
    #expect(!isAccepted(bytes + [0x78]))
    for index in bytes.indices {
      var other = bytes
      other[index] ^= 1
      #expect(!isAccepted(other) && !isAccepted(Array(bytes[..<index])))
    }
  }

  /// The greatest stamp would win for ever.
  @Test func noteWithAnImpossibleNumberOrNameIsRefused() {
    func isRead(
      id: UInt64 = 7, position: UInt64 = 1, stamp: UInt64 = 3, name: String = "a.b"
    ) -> Bool {
      let note = Note(
        machine: note.machine, machineID: id, position: position, stamp: stamp, state: 0,
        name: name)
      return Note(parsing: note.bytes) != nil
    }
    let longest = String(repeating: "n", count: 512)
    #expect(isRead() && isRead(stamp: (1 << 62) - 1) && isRead(name: longest))
    #expect(!isRead(id: 0) && !isRead(position: 0) && !isRead(name: ""))
    #expect(!isRead(stamp: 1 << 62) && !isRead(stamp: .max) && !isRead(name: longest + "n"))
  }

  /// Each cut, each longer message, and each changed byte is refused or read as something valid.
  @Test func everyDamagedMessageIsRefusedOrValid() {
    for bytes in [note.bytes, report.bytes] {
      for count in bytes.indices {
        #expect(Note(parsing: Array(bytes[..<count])) == nil)
        #expect(MachineReport(parsing: Array(bytes[..<count])) == nil)
      }
      #expect(Note(parsing: bytes + [0]) == nil)
      #expect(MachineReport(parsing: bytes + [0]) == nil)
      for index in bytes.indices {
        var damaged = bytes
        damaged[index] ^= 0xff
        if let note = Note(parsing: damaged) { #expect(note.bytes == damaged) }
        if let report = MachineReport(parsing: damaged) {
          #expect(MachineReport(parsing: report.bytes) == report)
        }
      }
    }
  }

  @Test func reportWithAnAddressOfAnotherSchemeIsRefused() {
    var report = report
    report.streams[0].addresses = ["file:/etc/passwd"]
    #expect(MachineReport(parsing: report.bytes) == nil)
  }

  @Test func privateValuesStayOnTheirMachine() throws {
    let run = LogRun(
      name: "host-1-2", pid: 2, uid: 0, role: .host, isRoleHeld: true, session: "s")
    let record = LogRecord(
      wallNs: 1, monotonicNs: 2, run: run, sequence: 1, level: .info, label: "l", message: "m",
      metadata: [LogField("open", "1"), LogField("closed", "2", isPrivate: true)], source: "",
      isCut: false)
    var batch = LogBatch(machine: note.machine, clock: nil)
    for item in [LogBatch.Item.missing(count: 3, run: run), .line(record)] {
      let isAdded = batch.add(item)
      #expect(isAdded)
    }
    let read = try #require(LogBatch(parsing: batch.bytes))
    #expect(read.items.count == 2 && read.bytes == batch.bytes)
    #expect(read.lastLine?.metadata.map(\.value) == ["1", "<private>"])
    var seen = SeenLines()
    let places = (1...2).map { _ in seen.place(record, of: note.machine) }
    #expect(places == [.first, .repeated])
    let later = LogRecord(
      wallNs: 1, monotonicNs: 2, run: run, sequence: 5, level: .info, label: "", message: "",
      metadata: [], source: "", isCut: false)
    #expect(seen.place(later, of: note.machine) == .next(missing: 3))
  }

  @Test(arguments: [
    ("credentials = []", "credentials never cross"), ("semaphores = []", "semaphores never cross"),
    ("notifications = [\"self.x\"]", "never crosses"), ("log = 1", "is not true or false"),
    ("suites = [\"framebus.bridge\"]", "never crosses"), ("names = []", "unknown key “names”"),
    ("[bridge.streams]\nscreen = [\"file:/x\"]", "is not a list of at most 4 addresses"),
  ])
  func manifestThatListsWhatNeverCrossesIsRefused(_ line: String, _ reason: String) throws {
    let error = try #require(throws: ManifestError.self) { try manifest("[bridge]\n" + line) }
    #expect(error.reason.contains(reason))
  }

  @Test func manifestWithoutTheTableLetsNothingCrossAndKeepsItsTextOtherwise() throws {
    #expect(try manifest("").bridge.isEmpty)
    let full = try manifest(
      """
      [bridge]
      notifications = ["a.b"]
      suites = ["a.s"]
      log = true
      [bridge.streams]
      screen = ["srt://h:1"]
      """)
    #expect(full.bridge.streams == ["screen": ["srt://h:1"]])
    #expect(try Manifest(parsing: Array(full.text.utf8), for: full.id) == full)
  }

  private func manifest(_ table: String) throws -> Manifest {
    let id = try GroupID("a.b")
    let text = Manifest(id: id, ownerID: 0).text + "\n" + table
    return try Manifest(parsing: Array(text.utf8), for: id)
  }
}
