import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// The compositor alone writes the frames, and nobody copies them.
@Suite struct SlotMemoryTests {
  /// By a preloaded library that counts calls of memcpy and memmove, and by the bytes that strace
  /// sees a process read and write.
  @Test(
    .enabled(if: programInPath(named: "strace") != nil, "strace is missing: apt install strace"),
    arguments: FakeSession.protocols)
  func noFrameIsCopied(protocols: String) throws {
    try withFake(protocols, "width=640", "height=480") { fake in
      let counter = try CopyCounter()
      let capture = try fake.capture("--json", environment: counter.environment)
      var subscriber = try fake.subscriber()
      try subscriber.take { $0[5, 5] == 0x204060 }
      let bytes = try bytesMoved(by: capture) {
        for number in 1...20 {
          try fake.send("color=\(number)")
          try subscriber.take { $0[5, 5] == UInt32(number) }
        }
      }
      // 20 frames have 24 MB; requests, events and bells have a few hundred bytes a frame.
      #expect((1..<64 * 1024).contains(bytes), "\(bytes) bytes through the kernel")
      let result = try capture.end(with: SIGTERM)
      #expect(
        result.output.contains("\"copiesPerFrame\":0") || result.output.contains("per_frame\":0"))
      let copies = try counter.counts(of: capture.processID)
      #expect(copies.large == 0, "the largest has \(copies.largestBytes) bytes")
    }
  }

  /// The sum of what system calls that carry bytes return.
  private func bytesMoved(by program: RunningProgram, during body: () throws -> Void) throws -> Int
  {
    let folder = try TemporaryRoot()
    let calls = "read,readv,pread64,write,writev,pwrite64,recvfrom,recvmsg,sendto,sendmsg,splice"
    let strace = try RunningProgram(
      "strace",
      ["-f", "-e", "trace=\(calls),process_vm_readv,process_vm_writev", "-o"]
        + [folder.file("calls"), "-p", "\(program.processID)"])
    try strace.waitForErrors("attached")
    try body()
    _ = try strace.end(with: SIGINT)
    let text = try String(contentsOfFile: folder.file("calls"), encoding: .utf8)
    return text.split(separator: "\n").reduce(0) { sum, line in
      let answer = line.split(separator: "=").last.map { $0.drop { $0 == " " } } ?? ""
      return sum + (Int(answer.prefix { $0.isNumber }) ?? 0)
    }
  }

  @Test(arguments: FakeSession.protocols)
  func onlyTheCompositorCanWriteToTheFrames(protocols: String) throws {
    try withFake(protocols) { fake in
      let capture = try fake.capture()
      var subscriber = try fake.subscriber()
      try subscriber.take { $0[5, 5] == 0x204060 }
      #expect(try writableMappings(of: capture.processID) == ["refused"])
      // A larger picture needs another pool.
      try fake.send("width=640", "height=480", "color=0x112233")
      try subscriber.take { $0.width == 640 && $0[5, 5] == 0x112233 }
      let answers = try writableMappings(of: capture.processID)
      #expect(!answers.isEmpty && answers.allSatisfy { $0 == "refused" }, "\(answers)")
      // As a subscriber, this process keeps a mapping alone, which it can only read.
      let mine = try ProcessFacts.own.mappings.filter { $0.contains("/memfd:framebus-pool") }
      #expect(!mine.isEmpty && mine.allSatisfy { $0.contains(" r--s ") }, "\(mine)")
      try capture.end(with: SIGTERM)
    }
  }

  /// Coming and going 1,000 times, in which a compositor starts and ends as many captures.
  @Test(arguments: FakeSession.protocols)
  func cyclesOfSubscribersLeaveNothing(protocols: String) throws {
    try withFake(protocols) { fake in
      let capture = try fake.capture()
      func cycle(_ number: Int) throws {
        var subscriber = try fake.subscriber()
        // The others leave before the frame that they are owed.
        if number % 10 == 0 { try subscriber.take { $0[5, 5] == 0x204060 } }
      }
      for number in 1...100 { try cycle(number) }
      let programs = [capture, fake.fake].map { ProcessFacts($0.processID) }
      let before = try programs.map { try (settled($0), $0.residentBytes) }
      for number in 1...1000 { try cycle(number) }
      for (facts, before) in zip(programs, before) {
        try waitUntil("there are \(before.0), not \((try? settled(facts)) ?? [])") {
          // Those of the last subscribers may have been among them.
          try zip(settled(facts), before.0).allSatisfy { $0 <= $1 }
        }
        let growth = try facts.residentBytes - before.1
        #expect(growth < 2 * 1024 * 1024, "\(growth) bytes more")
      }
      try capture.end(with: SIGTERM)
    }
  }

  /// Each time, the compositor ends the connection, and gets a new pool in the next one.
  @Test func lostConnectionsLeaveNothing() throws {
    try withFake { fake in
      let capture = try fake.capture()
      var subscriber = try fake.subscriber()
      try subscriber.take { $0[5, 5] == 0x204060 }
      func lose(_ number: Int) throws {
        try fake.send("at=copy", "do=close", "times=1", "color=\(number)")
        try subscriber.take { $0[5, 5] == UInt32(number) }
      }
      for number in 1...3 { try lose(number) }
      let facts = ProcessFacts(capture.processID)
      let before = try settled(facts)
      for number in 4...12 { try lose(number) }
      try waitUntil("descriptors and mappings are as before") {
        try settled(facts) == before
      }
      try capture.end(with: SIGTERM)
    }
  }

  /// The number of descriptors, and of mappings of frames.
  private func settled(_ facts: ProcessFacts) throws -> [Int] {
    [
      try facts.descriptorCount,
      try facts.mappings.count { $0.contains("/memfd:framebus-pool") },
    ]
  }

  /// What a process gets that opens the pools of another, and maps them to write.
  private func writableMappings(of processID: Int32) throws -> [String] {
    let script = """
      import mmap, os, sys
      folder = "/proc/%s/fd" % sys.argv[1]
      for number in os.listdir(folder):
        path = folder + "/" + number
        if os.path.islink(path) and os.readlink(path).startswith("/memfd:framebus-pool"):
          file = os.open(path, os.O_RDWR)
          mmap.mmap(file, 4096, mmap.MAP_SHARED, mmap.PROT_READ)
          try:
            mmap.mmap(file, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
            print("writable")
          except PermissionError:
            print("refused")
      """
    return try output(of: "/usr/bin/python3", ["-c", script, "\(processID)"])
      .split(separator: "\n").map(String.init)
  }
}
