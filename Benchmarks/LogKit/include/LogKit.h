// What the programs of `framebus bench log` have in common, so that they differ only in how a line
// is logged: the job, the bursts, the clock, the figures.
//
//   PROGRAM call|rate|durable PLACE lines=N
//
//   log_job job = log_job_from(argc, argv);
//   log_run *run = log_begin(job);
//   while (log_next(run)) { for (int i = 0; i < LOG_STRIDE; i++) append(log_message()); }
//   … wait until all is in the file, and on the disk if the job is durable
//   log_report(run);
//
// A call's time is that of a stride divided by its length, so that the clock costs nothing. For
// `call`, lines come in bursts that no log needs to hold back; for the others, as fast as they go.
#ifndef LOG_KIT_H
#define LOG_KIT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LOG_STRIDE = 25, LOG_BURST = 1000 };

typedef struct {
  /// A directory of this turn.
  const char *place;
  /// A multiple of LOG_BURST.
  uint64_t lines;
  /// Bursts, with rests between them.
  bool rests;
  /// All lines survive a power cut when the turn ends.
  bool is_durable;
} log_job;

typedef struct log_run log_run;

/// Ends the program when the arguments are wrong.
log_job log_job_from(int count, char *const *arguments);

/// A path in the job's place; the caller frees it.
char *log_path(const log_job *job, const char *name);

/// A line's message: 120 bytes.
const char *log_message(void);

log_run *log_begin(log_job job);

/// Whether another stride is to be logged.
bool log_next(log_run *run);

/// Writes the figures in one line.
void log_report(log_run *run);

/// Ends the program: `error: WHAT: errno's text`.
void log_fail(const char *what);

#ifdef __cplusplus
}
#endif

#endif
