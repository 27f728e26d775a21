import CLinuxShims
import Glibc

/// The files that this process runs from: its program and libraries (`/proc/self/maps`). Memory
/// files and what was removed are left out.
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

/// How much memory of its own a process has in use, not counting files and shared memory such as
/// frames: `RssAnon` of `proc_pid_status(5)`. Nil if it runs no more.
/// - Parameter processID: nil for this process.
package func privateMemoryBytes(of processID: Int32? = nil) -> UInt64? {
  let name = processID.map(String.init) ?? "self"
  for line in kernelText("/proc/\(name)/status").split(separator: "\n")
  where line.hasPrefix("RssAnon:") {
    return UInt64(line.split { !$0.isNumber }.first ?? "").map { $0 * 1024 }
  }
  return nil
}

/// Gives memory that was freed back to the system, as far as it can be (`malloc_trim(3)`).
package func returnFreeMemory() { linux_return_free_memory() }

/// How much memory a process has in use: its own, and its share of what it has in common with
/// others, such as libraries and frames (`Pss` of `proc_pid_smaps(5)`). Nil if it runs no more, or
/// may not be looked into.
package func proportionalMemoryBytes(of processID: Int32) -> UInt64? {
  let lines = kernelText("/proc/\(processID)/smaps_rollup").split(separator: "\n")
  let line = lines.first { $0.hasPrefix("Pss:") }
  return line.flatMap { UInt64($0.split { !$0.isNumber }.first ?? "") }.map { $0 * 1024 }
}
