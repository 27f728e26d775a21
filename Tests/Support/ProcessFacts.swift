import Foundation
import Platform

/// The kernel's information about a process, from /proc/PID (`proc(5)`).
package struct ProcessFacts: Sendable {
  package let processID: Int32

  package init(_ processID: Int32) { self.processID = processID }

  /// This process.
  package static var own: ProcessFacts { ProcessFacts(getpid()) }

  package var descriptorCount: Int { get throws { try descriptors.count } }

  /// The target of each open descriptor, such as `/memfd:pool (deleted)` or `socket:[123]`.
  package var descriptors: [Int32: String] {
    get throws {
      let folder = "/proc/\(processID)/fd"
      var result: [Int32: String] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
        // A descriptor that was closed meanwhile, such as the directory's own, is not counted.
        guard let number = Int32(name),
          let target = try? FileManager.default.destinationOfSymbolicLink(
            atPath: folder + "/" + name)
        else { continue }
        result[number] = target
      }
      return result
    }
  }

  /// The lines of /proc/PID/maps.
  package var mappings: [String] {
    get throws { try text("maps").split(separator: "\n").map(String.init) }
  }

  package var residentBytes: Int { get throws { try statusField("VmRSS") * 1024 } }
  /// The largest resident set so far.
  package var peakResidentBytes: Int { get throws { try statusField("VmHWM") * 1024 } }
  /// Memory of the bus's memory files that this process has mapped, whichever process wrote it.
  package var memoryFileBytes: Int {
    get throws {
      var isMemoryFile = false
      return try text("smaps").split(separator: "\n").reduce(0) { sum, line in
        // A mapping begins with a line of addresses, followed by lines of figures.
        if line.contains("-"), !line.contains(":  ") {
          isMemoryFile = line.contains("memfd:framebus")
        }
        guard isMemoryFile, line.hasPrefix("Rss:") else { return sum }
        let words = line.split(whereSeparator: \.isWhitespace)
        return sum + (Int(words[1]) ?? 0) * 1024
      }
    }
  }
  /// How often its first thread gave its processor up by itself, as to sleep.
  package var voluntarySwitches: Int { get throws { try statusField("voluntary_ctxt_switches") } }
  package var threadCount: Int { get throws { try statusField("Threads") } }

  /// The state of each thread, as in proc_pid_stat(5): `R` runs, `S` sleeps.
  package var threadStates: [String] {
    get throws {
      try threads.map { try $0.statFields[0] }
    }
  }

  /// The process's threads.
  package var threads: [ProcessFacts] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/task").compactMap {
        Int32($0).map(ProcessFacts.init)
      }
    }
  }

  /// The processes whose parent is this one.
  package var children: [ProcessFacts] {
    get throws {
      try Self.all.filter { (try? $0.statField(4)) == Int(processID) }
    }
  }

  /// All processes that are visible to this one.
  package static var all: [ProcessFacts] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap {
        Int32($0).map(ProcessFacts.init)
      }
    }
  }

  /// Whether it exists and has not ended. A process that has not been waited for yet has ended.
  package var isRunning: Bool {
    guard let state = try? statFields[0] else { return false }
    return !["Z", "X"].contains(state)
  }

  /// A file of /proc/PID such as `cmdline`; empty if the process has ended or the file is not
  /// readable.
  package func shown(_ name: String) -> String { (try? text(name)) ?? "" }

  /// The name of a thread.
  package var name: String { get throws { try text("comm").split(separator: "\n").joined() } }

  /// How often a thread has gone to sleep.
  package var sleepCount: Int { get throws { try statusField("voluntary_ctxt_switches") } }

  /// Processor time used, in clock ticks of 10 ms.
  package var userTicks: Int { get throws { try statField(14) } }
  package var systemTicks: Int { get throws { try statField(15) } }

  /// Bytes transferred by read(2), write(2) and similar calls.
  package var readBytes: Int { get throws { try ioField("rchar") } }
  package var writtenBytes: Int { get throws { try ioField("wchar") } }

  /// Reads to the end in pieces: files in /proc have no size, and one call returns only a part.
  func text(_ name: String) throws -> String {
    let file = try Directory(path: "/proc/\(processID)").open(name, flags: O_RDONLY | O_CLOEXEC)
    var bytes: [UInt8] = []
    while case let piece = try readSome(file.number), !piece.isEmpty { bytes += piece }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func statusField(_ name: String) throws -> Int { try field(name, in: "status") }
  private func ioField(_ name: String) throws -> Int { try field(name, in: "io") }

  private func field(_ name: String, in file: String) throws -> Int {
    for line in try text(file).split(separator: "\n") where line.hasPrefix(name + ":") {
      let words = line.dropFirst(name.count + 1).split(whereSeparator: \.isWhitespace)
      if let first = words.first, let value = Int(first) { return value }
    }
    throw HarnessError("no \(name) in /proc/\(processID)/\(file)")
  }

  /// The fields from the third on: the second is a name that may contain spaces.
  private var statFields: [String] {
    get throws {
      let line = try text("stat")
      let afterName = line[(line.lastIndex(of: ")") ?? line.startIndex)...].dropFirst()
      return afterName.split(separator: " ").map(String.init)
    }
  }

  /// Fields are counted from 1, as in proc(5).
  private func statField(_ index: Int) throws -> Int {
    let fields = try statFields
    guard index >= 3, fields.count > index - 3, let value = Int(fields[index - 3]) else {
      throw HarnessError("no field \(index) in /proc/\(processID)/stat")
    }
    return value
  }
}

/// Whether a thread of this process is in `futex_waitv(2)`, number 449 on all architectures.
package func isAsleep(threadNamed name: String) throws -> Bool {
  let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
  return tasks.contains { task in
    let folder = "/proc/self/task/\(task)"
    let names = try? String(contentsOfFile: folder + "/comm", encoding: .utf8)
    let call = try? String(contentsOfFile: folder + "/syscall", encoding: .utf8)
    return names == name + "\n" && call?.hasPrefix("449 ") == true
  }
}
