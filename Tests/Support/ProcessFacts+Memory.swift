import Foundation
import Platform

extension ProcessFacts {
  package func memoryHolds(_ text: String) throws -> Bool { try memoryHolds(Data(text.utf8)) }

  /// Whether the process's memory contains these bytes, including pages that it cannot read itself
  /// (`proc_pid_mem(5)`). If the process forbids dumps, only root may call this.
  /// - Parameter shouldSearch: selects mappings by their line in `/proc/PID/maps`.
  package func memoryHolds(
    _ wanted: Data, where shouldSearch: (String) -> Bool = { _ in true }
  ) throws -> Bool {
    let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(processID)/mem"))
    defer { try? memory.close() }
    for line in try mappings where shouldSearch(String(line)) {
      let ends = line.prefix { $0 != " " }.split(separator: "-")
      guard ends.count == 2, let start = UInt64(ends[0], radix: 16),
        let end = UInt64(ends[1], radix: 16), !line.hasSuffix("[vsyscall]")
      else { continue }
      // Some ranges, such as guard pages, cannot be read by any process.
      guard (try? memory.seek(toOffset: start)) != nil,
        let bytes = try? memory.read(upToCount: Int(end - start))
      else { continue }
      if bytes.range(of: wanted) != nil { return true }
    }
    return false
  }
}
