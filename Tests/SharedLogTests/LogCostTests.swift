import CLogLayout
import Foundation
import Platform
import SharedLog
import TestSupport
import Testing

/// The cost of reading a hostile member's log: memory does not grow with names, holes or claimed
/// lengths. The figures are the kernel's, for `framebus log`.
@Suite struct LogCostTests {
  private let world: LogWorld

  init() throws { world = try LogWorld() }

  /// Peak memory in MiB of `framebus log` reading all lines; it shows none.
  private func peakMiB() throws -> Int {
    let script = """
      import resource, subprocess, sys
      subprocess.run(sys.argv[1:], check=True)
      print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
      """
    let result = try run(
      "python3",
      [
        "-c", script, pathOfProgram("framebus"), "log", "--root", world.root.path, "--group",
        LogWorld.groupName, "--grep", "in no line",
      ])
    let peak = Int(result.output.split(separator: "\n").last ?? "")
    return try #require(peak, "\(result.output)\(result.errors)")
  }

  /// A complete file of an ended run, and its name.
  private func writeFile(_ message: String) throws -> String {
    let log = try world.log()
    log.append(.info, message)
    try log.close()
    return try #require(try world.files().first)
  }

  /// The name of a file of another run.
  private func path(_ name: String, ofRun number: Int) -> String {
    let pid = name.split(separator: "-").last?.prefix { $0 != "." } ?? ""
    return world.group.logsPath + "/"
      + name.replacing("-\(pid).", with: "-\(1_000_000_000 + number).")
  }

  @Test func fileWithManyNamesIsNotARun() throws {
    let name = try writeFile("line")
    for number in 1...10 {
      try FileManager.default.linkItem(
        atPath: world.group.logsPath + "/" + name, toPath: path(name, ofRun: number))
    }
    #expect(try world.messages() == [])
    for number in 1...10 { try FileManager.default.removeItem(atPath: path(name, ofRun: number)) }
    #expect(try world.messages() == ["line"])
  }

  /// Each takes a block of the disk, and contains a line of 60,000 bytes.
  @Test func manyConcurrentRunsAreReadInBoundedMemory() throws {
    let name = try writeFile(String(repeating: "\0", count: 60_000))
    let whole = try Data(contentsOf: URL(fileURLWithPath: world.group.logsPath + "/" + name))
    let runCount = 3000
    for number in 1..<runCount {
      let copy = path(name, ofRun: number)
      #expect(FileManager.default.createFile(atPath: copy, contents: whole.prefix(4096)))
      let handle = try #require(FileHandle(forUpdatingAtPath: copy))
      try handle.truncate(atOffset: UInt64(whole.count))
      try handle.close()
    }
    #expect(try world.read().lines.count == runCount)
    // The texts alone are 170 MiB.
    #expect(try peakMiB() < 150)
  }

  @Test func deadRunsSegmentCostsItsContentNotItsLength() throws {
    let worker = try world.worker("write", "count=50", "hold=1", "segmentBytes=\(1 << 30)")
    try worker.waitForOutput("done")
    try worker.end(with: SIGKILL)
    #expect(try world.read().lines.count == 50)
    #expect(try peakMiB() < 150)
  }

  @Test func sparseFileIsReadToItsLastLine() throws {
    let name = try writeFile("line")
    let path = world.group.logsPath + "/" + name
    let handle = try #require(FileHandle(forUpdatingAtPath: path))
    try handle.truncate(atOffset: 1 << 40)
    try handle.close()
    #expect(try withWatchdog { try world.messages() } == ["line"])
  }

  /// Heads with valid marks and lengths, one in every 64 bytes, each claiming the longest record,
  /// with a wrong checksum.
  @Test func fileOfRecordHeadsOnlyHasNoLines() throws {
    let name = try writeFile("line")
    let path = world.group.logsPath + "/" + name
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let header = Int(LG_HEADER_BYTES)
    let nonce = bytes.word64(at: header)
    let whole = bytes
    bytes = bytes.prefix(header) + Array(repeating: 0, count: (16 << 20) - header)
    let record = Int(LG_RECORD_BYTES)
    for start in stride(from: header, to: bytes.count - record, by: record) {
      bytes.set(nonce ^ UInt64(start - header), at: start)
      bytes.set(UInt32(LG_RECORD_LIMIT), at: start + 8)
      bytes.set(UInt32(Int(LG_RECORD_LIMIT) - record), at: start + 44)
    }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    #expect(try withWatchdog { try world.messages() } == [])
    // A whole record follows the end of a broken one.
    let end = header + Int(LG_RECORD_LIMIT)
    var mended = Array(bytes.prefix(end)) + whole[header...]
    mended.set(nonce ^ UInt64(LG_RECORD_LIMIT), at: end)
    try Data(mended).write(to: URL(fileURLWithPath: path))
    #expect(try world.messages() == ["line"])
  }

  /// A member that knows a process's nonce, as every reader does, can make it log a text that
  /// contains a record at the right position. One wrong bit elsewhere in that line makes both
  /// invalid.
  @Test func textOfBrokenRecordIsNotParsedAsRecord() throws {
    let log = try world.log()
    log.append(.info, "first")
    try log.flush()
    let path = world.group.logsPath + "/\(log.runName).000001.log"
    let header = Int(LG_HEADER_BYTES)
    let first = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))[header...]
    log.append(.info, String(repeating: "x", count: 1000))
    log.append(.info, "last")
    try log.close()
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let second = header + first.count
    // Within the text of the second line, aligned as records are.
    let forged = second + 512
    bytes.replaceSubrange(forged..<forged + first.count, with: first)
    bytes.set(bytes.word64(at: header) ^ UInt64(forged - header), at: forged)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let (lines, missing) = try world.read()
    #expect(lines.map(\.message) == ["first", "last"])
    #expect(missing == 1)
  }
}

extension [UInt8] {
  fileprivate func word64(at offset: Int) -> UInt64 {
    self[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  fileprivate mutating func set(_ word: some FixedWidthInteger, at offset: Int) {
    for index in 0..<word.bitWidth / 8 {
      self[offset + index] = UInt8(truncatingIfNeeded: word >> (8 * index))
    }
  }
}
