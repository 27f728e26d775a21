import AppGroup
import FrameBus
import RingKit
import SubjectKit

// FrameBus as a subject of `framebus bench ring`: a user's program, with the public API alone.

/// `BusRing publish|subscribe DIRECTORY key=value…`, see RingKit.h. DIRECTORY is the root of a
/// group.
@main
struct Program {
  static func main() { runSubject(run) }

  private static func run() throws {
    let job = ringJob(measuring: "FrameBus")
    let group = try job.openGroup()
    let stream = try StreamName("bench")
    if job.pointee.publishes {
      try publish(stream, group, job)
    } else {
      try subscribe(stream, group, job)
    }
  }
}
