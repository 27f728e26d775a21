import Foundation
import Glibc
import Platform

extension ProcessFacts {
  /// Whether this process may read memory that its owner itself cannot read. It must be root, and
  /// since Linux 6.12 the kernel may allow that to debuggers alone (`proc_mem.force_override`).
  package static let readsProtectedMemory: Bool = {
    // SAFETY: only the kernel reads the page, which nobody else knows.
    let page = unsafe mmap(nil, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    defer { unsafe munmap(page, 4096) }
    guard geteuid() == 0, let memory = FileHandle(forReadingAtPath: "/proc/self/mem"),
      (try? memory.seek(toOffset: UInt64(UInt(bitPattern: page)))) != nil
    else { return false }
    return (try? memory.read(upToCount: 1))?.count == 1
  }()

  package func memoryHolds(_ text: String) throws -> Bool { try memoryHolds(Data(text.utf8)) }

  /// Whether the process's memory contains these bytes, including pages that it cannot read itself
  /// (`proc_pid_mem(5)`). If the process forbids dumps, only root may call this.
  /// - Parameter shouldSearch: selects mappings by their line in `/proc/PID/smaps`.
  package func memoryHolds(
    _ wanted: Data, where shouldSearch: (String) -> Bool = { _ in true }
  ) throws -> Bool {
    let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(processID)/mem"))
    defer { try? memory.close() }
    for line in try writtenMappings where shouldSearch(line) {
      let ends = line.prefix { $0 != " " }.split(separator: "-")
      guard ends.count == 2, let start = UInt64(ends[0], radix: 16),
        let end = UInt64(ends[1], radix: 16), !line.hasSuffix("[vsyscall]")
      else { continue }
      // Some ranges, such as guard pages, cannot be read by any process.
      guard (try? memory.seek(toOffset: start)) != nil,
        let bytes = try? memory.read(upToCount: Int(end - start))
      else { continue }
      if contains(wanted, in: bytes) { return true }
    }
    return false
  }

  /// As `range(of:)`, which takes a second for a hundred megabytes.
  private func contains(_ wanted: Data, in bytes: Data) -> Bool {
    // SAFETY: the pointers are used while their bytes are lent, within the counts of both.
    unsafe bytes.withUnsafeBytes { all in
      unsafe wanted.withUnsafeBytes { text in
        guard let base = all.baseAddress, let sought = text.baseAddress else { return false }
        var offset = 0
        while let found = unsafe memchr(base + offset, Int32(text[0]), all.count - offset) {
          offset = unsafe UnsafeRawPointer(found) - base
          guard all.count - offset >= text.count else { return false }
          if unsafe memcmp(found, sought, text.count) == 0 { return true }
          offset += 1
        }
        return false
      }
    }
  }

  /// The mappings that may have contents: malloc reserves half a gigabyte of addresses, which have
  /// no pages. What another process has written into a shared one has none here until it is read.
  private var writtenMappings: [String] {
    get throws {
      var found: [(line: String, isWritten: Bool)] = []
      for line in try text("smaps").split(separator: "\n") {
        let words = line.split(separator: " ", maxSplits: 2)
        if !words[0].hasSuffix(":") {
          found.append((String(line), words[1].hasSuffix("s")))
        } else if ["Rss:", "Swap:"].contains(words[0]), words[1] != "0" {
          found[found.count - 1].isWritten = true
        }
      }
      return found.filter(\.isWritten).map(\.line)
    }
  }
}
