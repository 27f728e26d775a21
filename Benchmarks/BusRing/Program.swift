import AppGroup
import FrameBus
import Platform
import RingKit

// FrameBus as a subject of `framebus bench ring`: a user's program, with the public API alone.

/// `BusRing publish|subscribe PLACE key=value…`, as RingKit.h says. PLACE is the root of a group.
@main
struct Program {
  static func main() {
    do { try run() } catch {
      try? writeFully(Array("error: \(error)\n".utf8), to: 2)
      exitProcess(1)
    }
  }

  private static func run() throws {
    let job = ring_job_from(CommandLine.argc, CommandLine.unsafeArgv)
    ring_say_version("FrameBus")
    // For as long as the process lives: runs point to it.
    let kept = UnsafeMutablePointer<ring_job>.allocate(capacity: 1)
    kept.initialize(to: job)
    let group = try AppGroup.open(.local, root: String(cString: job.place))
    let stream = try StreamName("bench")
    if job.publishes {
      try publish(stream, group, kept)
    } else {
      try subscribe(stream, group, kept)
    }
  }
}
