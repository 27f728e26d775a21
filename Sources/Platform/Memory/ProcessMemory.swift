import CLinuxShims
import Glibc

/// The files that this process has mapped: its program and libraries (`/proc/self/maps`), without
/// memory files and removed files.
package func mappedFilePaths() -> Set<String> {
  let lines = kernelText("/proc/self/maps").split(separator: "\n")
  return Set(
    lines.compactMap { line in
      // Address, permissions, offset, device, inode, path.
      let parts = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
      guard parts.count == 6, parts[1].contains("x") else { return nil }
      let path = parts[5].drop { $0 == " " }
      return path.hasPrefix("/") && !path.hasSuffix(" (deleted)") ? String(path) : nil
    })
}

/// A process's private resident memory, without files and shared memory such as frames: `RssAnon`
/// of `proc_pid_status(5)`. Nil if the process has ended.
/// - Parameter processID: nil for this process.
package func privateMemoryBytes(of processID: Int32? = nil) -> UInt64? {
  let name = processID.map(String.init) ?? "self"
  for line in kernelText("/proc/\(name)/status").split(separator: "\n")
  where line.hasPrefix("RssAnon:") {
    return UInt64(line.split { !$0.isNumber }.first ?? "").map { $0 * 1024 }
  }
  return nil
}

/// Returns freed memory to the system, as far as possible (`malloc_trim(3)`).
package func returnFreeMemory() { linux_return_free_memory() }

/// A process's proportional memory: its private memory, and its share of memory in common with
/// others, such as libraries and frames (`Pss` of `proc_pid_smaps(5)`). Nil if the process has
/// ended or may not be inspected.
package func proportionalMemoryBytes(of processID: Int32) -> UInt64? {
  let lines = kernelText("/proc/\(processID)/smaps_rollup").split(separator: "\n")
  let line = lines.first { $0.hasPrefix("Pss:") }
  return line.flatMap { UInt64($0.split { !$0.isNumber }.first ?? "") }.map { $0 * 1024 }
}

/// Excludes this process's memory from core dumps, debuggers and `/proc/PID/mem`, except for root
/// (`prctl(2)`, PR_SET_DUMPABLE; an exec resets it).
package func keepMemoryPrivate() throws(SystemError) {
  if linux_forbid_dumps() != 0 { throw .last("prctl PR_SET_DUMPABLE") }
  var none = rlimit(rlim_cur: 0, rlim_max: 0)
  if unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) != 0 {
    throw .last("setrlimit RLIMIT_CORE")
  }
}
