import Foundation
import Platform

extension ProcessFacts {
  package func memoryHolds(_ text: String) throws -> Bool { try memoryHolds(Data(text.utf8)) }

  /// Whether bytes lie anywhere in the process's memory, pages that it cannot read itself among
  /// them (`proc_pid_mem(5)`). Of a process that forbids dumps, root alone may ask.
  /// - Parameter isLookedInto: which mappings to look into, by their lines in `/proc/PID/maps`.
  package func memoryHolds(
    _ wanted: Data, where isLookedInto: (String) -> Bool = { _ in true }
  ) throws -> Bool {
    let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(processID)/mem"))
    defer { try? memory.close() }
    for line in try mappings where isLookedInto(String(line)) {
      let ends = line.prefix { $0 != " " }.split(separator: "-")
      guard ends.count == 2, let start = UInt64(ends[0], radix: 16),
        let end = UInt64(ends[1], radix: 16), !line.hasSuffix("[vsyscall]")
      else { continue }
      // Some ranges, such as guard pages without a page, cannot be read by anybody.
      guard (try? memory.seek(toOffset: start)) != nil,
        let bytes = try? memory.read(upToCount: Int(end - start))
      else { continue }
      if bytes.range(of: wanted) != nil { return true }
    }
    return false
  }
}
