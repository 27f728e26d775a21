import AppGroup
import Platform
import RingKit

// What subjects written in Swift have in common: how they begin, and how they fail.

/// Runs a subject to its end; one that fails says so on standard error, and its status is 1.
package func runSubject(_ body: () throws -> Void) {
  do { try body() } catch {
    try? writeFully(Array("error: \(error)\n".utf8), to: 2)
    exitProcess(1)
  }
}

/// The job of RingKit.h that the program's arguments say. Its place is the root of a group. It is
/// kept for as long as the process lives: runs point to it.
///
/// - Parameter name: the module that is measured.
package func ringJob(measuring name: String) -> UnsafePointer<ring_job> {
  let job = ring_job_from(CommandLine.argc, CommandLine.unsafeArgv)
  ring_say_version(name)
  let kept = UnsafeMutablePointer<ring_job>.allocate(capacity: 1)
  kept.initialize(to: job)
  return UnsafePointer(kept)
}

extension UnsafePointer<ring_job> {
  package func openGroup() throws(GroupError) -> AppGroup {
    try AppGroup.open(.local, root: String(cString: pointee.place))
  }
}
