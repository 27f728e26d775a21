import AppGroup
import Platform
import RingKit

// The common part of subjects in Swift: how they start and how they fail.

/// Runs a subject to its end. An error is reported on standard error, with exit status 1.
package func runSubject(_ body: () throws -> Void) {
  do { try body() } catch {
    try? writeFully(Array("error: \(error)\n".utf8), to: 2)
    exitProcess(1)
  }
}

/// The job of RingKit.h from the program's arguments. Its directory is the root of a group. It is
/// never freed: runs point to it.
///
/// - Parameter name: the measured module.
package func ringJob(measuring name: String) -> UnsafePointer<ring_job> {
  let job = ring_job_from(CommandLine.argc, CommandLine.unsafeArgv)
  ring_print_version(name)
  let result = UnsafeMutablePointer<ring_job>.allocate(capacity: 1)
  result.initialize(to: job)
  return UnsafePointer(result)
}

extension UnsafePointer<ring_job> {
  package func openGroup() throws(GroupError) -> AppGroup {
    try AppGroup.open(.local, root: String(cString: pointee.directory))
  }
}
