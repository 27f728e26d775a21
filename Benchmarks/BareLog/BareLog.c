// The bare primitives of `framebus bench log`: a line with its time, written to a file.
//
//   limit     (BareLog): many lines in each write; durable: fdatasync(2) after each write
//   write     (named BareLogWrite): one write(2) for each line
//
// When the process dies, buffered lines are lost and written lines are not.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "LogKit.h"

enum { BUFFER_BYTES = 65536, LINE_BYTES = 256 };

static int file;
static char buffer[BUFFER_BYTES];
static size_t filled;

static void write_all(const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(file, bytes, count);
    if (written < 0) log_fail("write");
    bytes += written;
    count -= (size_t)written;
  }
}

static void flush(bool is_durable) {
  write_all(buffer, filled);
  filled = 0;
  if (is_durable && fdatasync(file) != 0) log_fail("fdatasync");
}

static size_t format(char *line) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int count = snprintf(line, LINE_BYTES, "%ld.%09ld info bench %s\n", (long)now.tv_sec,
                       now.tv_nsec, log_message());
  return (size_t)count;
}

int main(int count, char **arguments) {
  log_job job = log_job_from(count, arguments);
  const char *name = strrchr(arguments[0], '/');
  bool is_each = strcmp(name == NULL ? arguments[0] : name + 1, "BareLogWrite") == 0;
  char *path = log_path(&job, "log");
  file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) log_fail(path);
  free(path);
  log_run *run = log_begin(job);
  while (log_next(run)) {
    for (int line = 0; line < LOG_STRIDE; line++) {
      if (is_each) {
        char bytes[LINE_BYTES];
        write_all(bytes, format(bytes));
        continue;
      }
      if (filled + LINE_BYTES > BUFFER_BYTES) flush(job.is_durable);
      filled += format(buffer + filled);
    }
  }
  flush(job.is_durable);
  log_report(run);
  return 0;
}
