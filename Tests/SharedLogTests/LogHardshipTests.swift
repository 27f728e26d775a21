import Foundation
import SharedLog
import TestSupport
import Testing

/// Adverse conditions: a full disk, a forbidden system call, a clock that is set.
@Suite struct LogHardshipTests {
  private let world: LogWorld

  init() throws { world = try LogWorld() }

  /// The files are on a full disk, the segments in memory.
  @Test(.enabled(if: geteuid() == 0, "mounting takes root"))
  func fullDiskLosesNothingWithinTheVolumeAndCountsTheRest() throws {
    let place = world.root.file("place")
    let programs = try ["framebus", "LogWorker"].map(pathOfProgram)
    let script = """
      mkdir -p \(place)/state && mount -t tmpfs -o size=512k tmpfs \(place)/state || exit 77
      bus() { "\(programs[0])" "$@" --root \(place) --group a.b; }
      write() { "\(programs[1])" write \(place) a.b segmentBytes=262144 "$@"; }
      bus group create > /dev/null
      dd if=/dev/zero of=\(place)/state/filler bs=4096 2> /dev/null
      write count=500 > \(place).first; echo "status $?"
      grep -c 'No space left' \(place).first
      bus log | wc -l
      write count=5000 > /dev/null; echo "status $?"
      bus log 2> \(place).missing | grep -c .
      sed -n 's/.*warning: \\([0-9]*\\) lines.*/\\1/p' \(place).missing
      rm \(place)/state/filler
      bus log append last; echo "status $?"
      bus log 2> /dev/null | wc -l
      ls \(place)/run/a.b/logs | wc -l
      """
    let result = try run("unshare", ["--mount", "sh", "-c", script])
    let lines = result.output.split(separator: "\n").map(String.init)
    try #require(lines.count >= 8, "\(result.output)\(result.errors)")
    #expect(Array(lines[..<4]) == ["status 1", "1", "500", "status 1"])
    let kept = try #require(Int(lines[4]))
    // Only the log's own message reports lines that were dropped last.
    #expect(kept > 1000 && kept < 5500, "\(result.output)")
    #expect(lines[lines.count - 3] == "status 0")
    #expect(Int(lines[lines.count - 2]) == kept + 1)
    #expect(lines.last == "0")
  }

  @Test func plainWritesReplaceForbiddenIOURingAndTheLogSaysSoOnce() throws {
    let forbid = tool("forbid_calls.py")
    try run(
      "python3",
      [
        forbid, "ring", pathOfProgram("LogWorker"), "write", world.root.path, LogWorld.groupName,
        "count=2000", "wait=1",
      ]
    ).requireEnd()
    let (lines, missing) = try world.read()
    let notices = lines.filter { $0.label == "framebus.log" }
    #expect(notices.count == 1)
    #expect(notices.first?.level == .debug)
    #expect(notices.first?.message.contains("plain writes") == true)
    #expect(lines.count == 2001 && missing == 0)
    #expect(try world.segments().isEmpty)
  }

  @Test func settingTheWallClockReordersAndLosesNothing() throws {
    let source = tool("jumping_clock.c")
    let library = world.root.file("jumping_clock.so")
    try output(of: "cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"])
    let before = try world.log()
    before.append(.info, "before")
    let result = try run(
      "LogWorker", ["write", world.root.path, LogWorld.groupName, "count=50000", "wait=1"],
      environment: ["LD_PRELOAD": library])
    try result.requireEnd()
    before.append(.info, "after")
    let (lines, missing) = try world.read()
    #expect(missing == 0)
    #expect(
      lines.map(\.message) == ["before"] + (1...50_000).map { "line \($0) " } + ["after"])
    let steps = zip(lines, lines.dropFirst()).map { Int64($1.wallNs) - Int64($0.wallNs) }
    #expect(steps.contains { $0 < -3_000_000_000_000 }, "it was set back")
    #expect(steps.contains { $0 > 3_000_000_000_000 }, "it was set on")
  }

  @Test func newestOfManyRunsAreKeptWithinTheQuota() throws {
    for number in 1...6 {
      let worker = try world.worker(
        "write", "count=2000", "rotateBytes=131072", "quotaBytes=786432", "wait=1",
        "session=run-\(number)")
      try worker.finish().requireEnd()
    }
    let sizes = try world.files().map { name in
      try FileManager.default.attributesOfItem(atPath: world.group.logsPath + "/" + name)[.size]
        as? Int ?? 0
    }
    #expect(sizes.reduce(0, +) <= 786_432)
    let (lines, missing) = try world.read()
    #expect(missing == 0)
    let last = lines.filter { $0.run.session == "run-6" }
    #expect(last.map(\.sequence) == Array(1...2000))
    #expect(!lines.contains { $0.run.session == "run-1" })
    // The newest lines of all are kept, without gaps.
    let sessions = lines.map(\.run.session)
    #expect(sessions == sessions.sorted())
  }

  @Test func removingTheDirectoryLosesOnlyItsContent() throws {
    let log = try world.log()
    log.append(.info, "lost with it")
    try log.flush()
    try FileManager.default.removeItem(atPath: world.group.logsPath)
    log.append(.info, "kept")
    #expect(throws: LogError.self) { try log.flush(until: .after(.milliseconds(1))) }
    // Its owner creates it again.
    try run("framebus", ["group", "show", LogWorld.groupName, "--root", world.root.path])
      .requireSuccess()
    log.append(.info, "and saved")
    try log.close(until: .after(.seconds(60)))
    #expect(try world.messages() == ["kept", "and saved"])
  }

  @Test func privateValuesAreShownInTheGroupButNotExported() throws {
    let log = try world.log()
    log.append(
      .info, "signed in",
      metadata: [LogField("who", "carol", isPrivate: true), LogField("how", "by key")])
    try log.close()
    let folder = world.root.file("export")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false)
    #expect(try world.framebus("log").output.contains("signed in who=carol how=by key"))
    try world.framebus("log", "--export", folder).requireSuccess()
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
    let exported = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    #expect(exported.contains("\"who\":\"<private>\"") && exported.contains("by key"))
    #expect(!exported.contains("carol"))
  }
}

extension ProgramResult {
  fileprivate func requireSuccess() throws {
    guard status.isSuccess else { throw HarnessError("\(status)\n\(output)\n\(errors)") }
  }
}
