import Foundation
import Platform
import TestSupport
import Testing

@testable import NotifyCenter

/// A member that may write the files cannot crash another member, block it, or make it lose a post
/// for good.
@Suite(.serialized) struct NotifyHostileTests {
  private var ownSeats: String { "names/observers/\(currentUserID())" }

  @Test func truncatedTableRestartsAndDeliveriesSaySo() throws {
    let world = try NotifyWorld(rechecks: true)
    let inbox = Inbox()
    let observation = try world.center.observe("a", inbox)
    let observer = try world.worker("observe", "a")
    try observer.waitForOutput("ready")
    for _ in 1...5 { try world.center.post("a") }
    try inbox.wait(forPosts: 5)
    try observer.waitForOutput("delivery 5 of")
    try output(of: "truncate", ["--size=0", world.path("names/rows")])
    #expect(try world.newCenter().post("a") == 1)
    try inbox.wait(forPosts: 6)
    #expect(inbox.deliveries.last?.isReset == true)
    #expect(inbox.deliveries.last?.generation == 1)
    try observer.waitForOutput(" reset")
    #expect(observer.output.text.contains("delivery 1 of 1"))
    #expect(try world.center.post("a") == 2)
    try observer.waitForOutput("delivery 2 of 1")
    observation.cancel()
  }

  @Test func repeatedTruncationDuringUseKillsNoProcess() throws {
    let world = try NotifyWorld(rechecks: true)
    let inbox = Inbox()
    let attacker = try python(
      "print('begun', flush=True)\n"
        + "while True: os.truncate('\(world.path("names/rows"))', 0)\n")
    try attacker.waitForOutput("begun")
    let observer = try world.worker("observe", "a")
    var outcomes: Set<String> = []
    for round in 0..<20_000 {
      do {
        try world.center.post("a.\(round % 50)")
        outcomes.insert("posted")
      } catch {
        outcomes.insert("\(error)")
      }
      if round.isMultiple(of: 500) { _ = try? world.center.list() }
    }
    #expect(outcomes.contains("posted"))
    try attacker.end(with: 9)
    if observer.process.status == nil { try observer.end(with: 9) }
    #expect(observer.process.status != .killed(signal: SIGBUS))
    let observation = try world.newCenter().observe("a", inbox)
    try world.newCenter().post("a")
    try inbox.wait(forPosts: 1)
    observation.cancel()
  }

  @Test func randomBytesInAllFilesNeitherCrashNorBlockAnyProcess() throws {
    let seed = TestSeed(for: "randomBytesInAllFilesNeitherCrashNorBlockAnyProcess")
    let world = try NotifyWorld(rechecks: true)
    let inbox = Inbox()
    let observation = try world.center.observe("a", inbox)
    let observer = try world.worker("observe", "a")
    try observer.waitForOutput("ready")
    try world.center.post("a")
    let files = ["names/rows", "names/epoch", ownSeats + "/seats"].map { world.path($0) }
    let attacker = try python(
      "random.seed(\(seed.value)); files = [open(f, 'r+b', buffering=0) for f in \(files)]\n"
        + "sizes = [os.fstat(f.fileno()).st_size for f in files]\n"
        + "print('begun', flush=True)\n"
        + "end = time.monotonic() + 1.5\n"
        + "while time.monotonic() < end:\n"
        + " f = random.randrange(3)\n"
        + " near = min(sizes[f], random.choice([4096, 70000, 1 << 30])) // 8\n"
        + " files[f].seek(8 * random.randrange(near))\n"
        + " files[f].write(random.choice([random.randbytes(8), b'\\xff' * 8, b'\\0' * 8]))\n")
    try attacker.waitForOutput("begun")
    var round = 0
    while attacker.process.status == nil {
      round += 1
      _ = try? world.center.post("a")
      _ = try? world.center.post("b.\(round % 100)")
      _ = try? world.center.state(of: name("a"))
      if round.isMultiple(of: 300) { _ = try? world.center.list() }
      if round.isMultiple(of: 100), let other = try? world.newCenter() {
        _ = try? other.observe("a", inbox)
      }
    }
    #expect(observer.process.status == nil, "\(seed.replay)")
    #expect(try attacker.finish().status.isSuccess, "\(seed.replay)")
    try observer.end(with: 9)
    observation.cancel()
  }

  @Test func observerRebindsItsUnlinkedSocket() throws {
    let world = try NotifyWorld(rechecks: true)
    let observer = try world.worker("observe", "a")
    try observer.waitForOutput("ready")
    try FileManager.default.removeItem(atPath: world.path(ownSeats + "/0"))
    try world.newCenter().post("a")
    try observer.waitForOutput("delivery 1 of 1")
    let socket = world.path(ownSeats + "/1")
    try waitUntil("it has a new socket") { FileManager.default.fileExists(atPath: socket) }
    try world.newCenter().post("a")
    try observer.waitForOutput("delivery 2 of 1 state 0 by \(currentProcessID())")
    try observer.end(with: 9)
  }

  @Test func postsAreDeliveredDuringAFloodOfDatagrams() throws {
    let world = try NotifyWorld()
    let observer = try world.worker("observe", "a")
    try observer.waitForOutput("ready")
    let flooder = try python(
      "import socket\n"
        + "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        + "s.connect('\(world.path(ownSeats + "/0"))'); s.setblocking(False)\n"
        + "print('begun', flush=True)\n"
        + "while True:\n"
        + " try: s.send(random.randbytes(random.choice([0, 1, 16, 16, 4000])))\n"
        + " except BlockingIOError: pass\n")
    try flooder.waitForOutput("begun")
    for count in 1...50 {
      try world.center.post("a")
      try observer.waitForOutput("delivery \(count) of 1")
    }
    try flooder.end(with: 9)
    try observer.end(with: 9)
  }

  @Test func forgedDoorbellsNameNoOtherProcess() throws {
    let world = try NotifyWorld()
    let observer = try world.worker("observe", "a")
    try observer.waitForOutput("ready")
    try world.center.post("a")
    try observer.waitForOutput("delivery 1 of 1")
    let row = try #require(world.center.core.word(for: name("a"), toWrite: true).row)
    let forger = try python(
      "import socket, struct\n"
        + "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        + "for g in range(2, 5): s.sendto(struct.pack('QQ', \(row), g),"
        + " '\(world.path(ownSeats + "/0"))')\n"
        + "print('forged', flush=True)\n")
    try forger.waitForOutput("forged")
    _ = try forger.finish()
    // Nothing was posted, so nothing is delivered.
    try world.center.post("a")
    try observer.waitForOutput("delivery 2 of 1")
    let lines = observer.output.text.split(separator: "\n").filter { $0.hasPrefix("delivery") }
    #expect(lines.count == 2)
    let last = try #require(lines.last)
    #expect(
      ["nobody", "\(currentProcessID()) ", "\(forger.processID) "].contains {
        last.contains("by \($0)")
      })
    try observer.end(with: 9)
  }

  @Test func linksToATablesFilesBlockNoProcess() throws {
    let world = try NotifyWorld()
    // A member that may write a file may link it where it may create entries.
    for file in ["rows", "epoch"] {
      try FileManager.default.linkItem(
        atPath: world.path("names/\(file)"), toPath: world.path("names/observers/\(file)"))
    }
    #expect(try world.newCenter().post("a") == 1)
  }

  @Test func knownObserversAreRungAmongManyOtherEntries() throws {
    let world = try NotifyWorld()
    let observer = try world.worker("observe", "a")
    try observer.waitForOutput("ready")
    try world.center.post("a")
    try observer.waitForOutput("delivery 1 of 1")
    let flooder = try python(
      "for i in range(20_000): os.symlink('x', '\(world.path("names/observers"))/x%d' % i)\n")
    #expect(try flooder.finish().status.isSuccess)
    // The poster scans the directories again.
    try output(
      of: "sh", ["-c", "printf '\\377\\377' | dd of=\(world.path("names/epoch")) conv=notrunc"])
    try world.center.post("a")
    try observer.waitForOutput("delivery 2 of 1")
    try observer.end(with: 9)
  }

  @Test func truncatedTableUnderAFileSizeLimitIsAnError() throws {
    let world = try NotifyWorld()
    try output(of: "truncate", ["--size=0", world.path("names/rows")])
    let worker = try pathOfProgram("NotifyWorker")
    let poster = try run(
      "sh", ["-c", "ulimit -f 1000; exec \"$@\"", "sh", worker] + world.arguments("post", "a"))
    #expect(poster.status == .exited(1))
    #expect(poster.output.contains("File too large"))
    #expect(try world.center.post("a") == 1)
  }

  // Each is created among the observers' directories.
  @Test(arguments: [
    "mkfifo DIR/4242", "ln -s /dev/zero DIR/4242", "touch DIR/4242", "mkdir DIR/4242",
    "mkdir DIR/4242; mkfifo DIR/4242/seats", "mkdir DIR/4242; ln -s /dev/zero DIR/4242/seats",
    "mkdir DIR/4242; truncate -s 2166784 DIR/4242/seats",
    "cp -r DIR/OWN DIR/4242; rm DIR/4242/0; ln -s /dev/zero DIR/4242/0",
    "cp -r DIR/OWN DIR/4242; rm DIR/4242/0; mkfifo DIR/4242/0",
    "cp -r DIR/OWN DIR/4242; truncate -s 4096 DIR/4242/seats",
    "for i in $(seq 1000); do mkdir DIR/$i; done",
  ])
  func invalidRegistrationDirectoriesAreSkipped(_ command: String) throws {
    let world = try NotifyWorld()
    let observer = try world.worker("observe", "a")
    try observer.waitForOutput("ready")
    let line = command.replacingOccurrences(of: "DIR", with: world.path("names/observers"))
      .replacingOccurrences(of: "OWN", with: "\(currentUserID())")
    try output(of: "sh", ["-c", line])
    for count in 1...2 {
      #expect(try world.newCenter().post("a") == UInt64(count))
      try observer.waitForOutput("delivery \(count) of 1")
    }
    #expect(try world.center.list().first?.observers.isEmpty == false)
    try observer.end(with: 9)
  }

  private func python(_ text: String) throws -> RunningProgram {
    try RunningProgram("python3", ["-c", "import os, random, time\n" + text])
  }
}
