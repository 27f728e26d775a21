import AppGroup
import LogKit
import SharedLog

/// Runs a job of LogKit.h with a SharedLog, from the program's arguments. The job's directory is
/// the root of a group.
///
/// - Parameter begin: receives the log and the message of all lines; returns a closure that logs a
///   stride.
package func runLogSubject(_ begin: (SharedLog, String) -> () -> Void) throws {
  let job = log_job_from(CommandLine.argc, CommandLine.unsafeArgv)
  let group = try AppGroup.open(.local, root: String(cString: job.directory))
  var options = LogOptions()
  // No line may be lost, or removed during the turn.
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
