import LogKit
import Logging
import SharedLog
import SharedLogHandler
import SubjectKit

// SharedLog behind swift-log's Logger as a subject of `framebus bench log`: a user's program, with
// the public API alone.

/// `BusLogger call|rate|durable DIRECTORY lines=N`, see LogKit.h. DIRECTORY is the root of a group.
@main
struct Program {
  static func main() {
    runSubject {
      try runLogSubject { log, text in
        let logger = Logger(label: "bench") { SharedLogHandler(label: $0, log: log) }
        let message = Logger.Message(stringLiteral: text)
        return { for _ in 0..<LOG_STRIDE { logger.info(message) } }
      }
    }
  }
}
