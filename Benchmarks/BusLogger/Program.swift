import AppGroup
import LogKit
import Logging
import Platform
import SharedLog
import SharedLogHandler

// SharedLog behind swift-log's Logger as a subject of `framebus bench log`: a user's program, with
// the public API alone.

/// `BusLogger call|rate|durable PLACE lines=N`, as LogKit.h says. PLACE is the root of a group.
@main
struct Program {
  static func main() {
    do { try run() } catch {
      try? writeFully(Array("error: \(error)\n".utf8), to: 2)
      exitProcess(1)
    }
  }

  private static func run() throws {
    let job = log_job_from(CommandLine.argc, CommandLine.unsafeArgv)
    let group = try AppGroup.open(.local, root: String(cString: job.place))
    var options = LogOptions()
    // Nothing may be lost, nor removed while the turn goes on.
    options.overflow = .wait(atMost: .seconds(60))
    options.rotateBytes = 1 << 26
    options.quotaBytes = 1 << 30
    if job.is_durable { options.durability = .everything }
    let log = try SharedLog.open(group, role: .host, options: options)
    let logger = Logger(label: "bench") { SharedLogHandler(label: $0, log: log) }
    let message = Logger.Message(stringLiteral: String(cString: log_message()))
    let run = log_begin(job)
    while log_next(run) {
      for _ in 0..<LOG_STRIDE { logger.info(message) }
    }
    if job.is_durable { try log.flush(until: .after(.seconds(60))) }
    try log.close(until: .after(.seconds(60)))
    log_report(run)
  }
}
