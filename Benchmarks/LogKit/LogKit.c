#define _GNU_SOURCE
#include "LogKit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REST_NS = 5000000 };

struct log_run {
  log_job job;
  uint64_t lines;
  uint64_t begin_ns;
  uint64_t stride_ns;
  uint64_t count;
  /// The time of one call in each stride.
  uint32_t *times;
};

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void log_fail(const char *what) {
  fprintf(stderr, "error: %s: %s\n", what, strerror(errno));
  exit(1);
}

log_job log_job_from(int count, char *const *arguments) {
  log_job job = {0};
  if (count != 4 || sscanf(arguments[3], "lines=%lu", &job.lines) != 1 || job.lines == 0 ||
      job.lines % LOG_BURST != 0) {
    fprintf(stderr, "usage: %s call|rate|durable DIRECTORY lines=N\n", arguments[0]);
    exit(2);
  }
  job.directory = arguments[2];
  job.rests = strcmp(arguments[1], "call") == 0;
  job.is_durable = strcmp(arguments[1], "durable") == 0;
  return job;
}

char *log_path(const log_job *job, const char *name) {
  char *path;
  if (asprintf(&path, "%s/%s", job->directory, name) < 0) log_fail("asprintf");
  return path;
}

const char *log_message(void) {
  return "a line of the benchmark, long enough to be like those of real programs: 120 bytes in "
         "all, as in the design of this log!.";
}

log_run *log_begin(log_job job) {
  log_run *run = calloc(1, sizeof *run);
  uint32_t *times = calloc(job.lines / LOG_STRIDE, sizeof *times);
  if (run == NULL || times == NULL) log_fail("calloc");
  run->job = job;
  run->times = times;
  // Touches the pages before the measurement begins.
  memset(times, 1, job.lines / LOG_STRIDE * sizeof *times);
  run->begin_ns = now_ns();
  return run;
}

bool log_next(log_run *run) {
  uint64_t now = now_ns();
  if (run->stride_ns != 0) {
    run->times[run->count++] = (uint32_t)((now - run->stride_ns) / LOG_STRIDE);
    run->lines += LOG_STRIDE;
    if (run->job.rests && run->lines % LOG_BURST == 0) {
      struct timespec rest = {.tv_nsec = REST_NS};
      nanosleep(&rest, NULL);
    }
  }
  run->stride_ns = now_ns();
  return run->lines < run->job.lines;
}

static int ascending(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

void log_report(log_run *run) {
  uint64_t took = now_ns() - run->begin_ns;
  qsort(run->times, run->count, sizeof *run->times, ascending);
  printf("{\"p50_ns\":%u,\"p99_ns\":%u,\"p999_ns\":%u,\"per_second\":%.0f,\"samples\":%lu}\n",
         run->times[run->count / 2], run->times[run->count * 99 / 100],
         run->times[run->count * 999 / 1000], (double)run->lines * 1e9 / (double)took, run->lines);
}
