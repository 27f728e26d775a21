import LogKit
import SharedLog
import SubjectKit

// SharedLog as a subject of `framebus bench log`: a user's program, with the public API alone.

/// `BusLog call|rate|durable DIRECTORY lines=N`, see LogKit.h. DIRECTORY is the root of a group.
@main
struct Program {
  static func main() {
    runSubject {
      try runLogSubject { log, message in
        { for _ in 0..<LOG_STRIDE { log.append(.info, message, label: "bench") } }
      }
    }
  }
}
