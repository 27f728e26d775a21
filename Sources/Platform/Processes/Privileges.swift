/// Whether programs that this process starts may become other users, and whether this process may
/// signal them then: root, or a process with CAP_SETUID, CAP_SETGID and CAP_KILL that are ambient,
/// so that `execve(2)` keeps them (capabilities(7)).
package var mayStartAsOtherUsers: Bool {
  let needed: UInt64 = 1 << 5 | 1 << 6 | 1 << 7
  let name = currentUserID() == 0 ? "CapEff:" : "CapAmb:"
  let line = kernelText("/proc/self/status").split(separator: "\n").first { $0.hasPrefix(name) }
  let digits = line?.dropFirst(name.utf8.count).drop { $0 == "\t" || $0 == " " }
  guard let digits, let held = UInt64(digits, radix: 16) else { return false }
  return held & needed == needed
}
