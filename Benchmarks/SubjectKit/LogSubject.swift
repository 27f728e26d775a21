import AppGroup
import LogKit
import SharedLog

/// A run of LogKit.h over a SharedLog, by the program's arguments. The job's place is the root of a
/// group.
///
/// - Parameter begin: is given the log and every line's message, and returns what logs a stride.
package func runLogSubject(_ begin: (SharedLog, String) -> () -> Void) throws {
  let job = log_job_from(CommandLine.argc, CommandLine.unsafeArgv)
  let group = try AppGroup.open(.local, root: String(cString: job.place))
  var options = LogOptions()
  // Nothing may be lost, nor removed while the turn goes on.
  options.overflow = .wait(atMost: .seconds(60))
  options.rotateBytes = 1 << 26
  options.quotaBytes = 1 << 30
  if job.is_durable { options.durability = .everything }
  let log = try SharedLog.open(group, role: .host, options: options)
  let logStride = begin(log, String(cString: log_message()))
  let run = log_begin(job)
  while log_next(run) { logStride() }
  if job.is_durable { try log.flush(until: .after(.seconds(60))) }
  try log.close(until: .after(.seconds(60)))
  log_report(run)
}
