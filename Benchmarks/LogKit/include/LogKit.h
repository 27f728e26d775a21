// The common part of the programs of `framebus bench log`, which differ only in how they log a
// line: the job, the bursts, the clock, the figures.
//
//   PROGRAM call|rate|durable DIRECTORY lines=N
//
//   log_job job = log_job_from(argc, argv);
//   log_run *run = log_begin(job);
//   while (log_next(run)) { for (int i = 0; i < LOG_STRIDE; i++) append(log_message()); }
//   … wait until all lines are in the file, and on the disk if the job is durable
//   log_report(run);
//
// The time of a call is that of a stride divided by its length, so that reading the clock costs
// nothing. For `call`, lines come in bursts that a log can buffer; otherwise, as fast as possible.
#ifndef LOG_KIT_H
#define LOG_KIT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LOG_STRIDE = 25, LOG_BURST = 1000 };

typedef struct {
  /// A directory for this turn.
  const char *directory;
  /// A multiple of LOG_BURST.
  uint64_t lines;
  /// Bursts, with rests between them.
  bool rests;
  /// All lines survive a power cut when the turn ends.
  bool is_durable;
} log_job;

typedef struct log_run log_run;

/// Ends the program if the arguments are wrong.
log_job log_job_from(int count, char *const *arguments);

/// A path in the job's directory; the caller frees it.
char *log_path(const log_job *job, const char *name);

/// The message of each line: 120 bytes.
const char *log_message(void);

log_run *log_begin(log_job job);

/// Whether to log another stride.
bool log_next(log_run *run);

/// Prints the figures in one line.
void log_report(log_run *run);

/// Ends the program with `error: WHAT: errno's text`.
void log_fail(const char *what);

#ifdef __cplusplus
}
#endif

#endif
