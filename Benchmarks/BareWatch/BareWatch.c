// The baseline of `framebus bench defaults`: eight bytes written to a file that observers watch by
// inotify. No lock, no checksum, no keys, no durability after a kill.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "RingKit.h"

static int open_file(const ring_job *job) {
  char *path = ring_path(job, "number");
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) ring_fail("open");
  free(path);
  return file;
}

static void set(int file, uint64_t number) {
  if (pwrite(file, &number, sizeof number, 0) != sizeof number) ring_fail("pwrite");
}

static void publish(const ring_job *job) {
  int file = open_file(job);
  ring_publishing *run = ring_begin_publishing(job);
  ring_page *page = run->page;
  while (ring_next(run)) {
    ring_write(run, &page->head);
    set(file, page->head.number);
    ring_posted(run, &page->head);
  }
  ring_write_end(&page->head);
  while (ring_unreleased(run)) set(file, 0);
  ring_report_publishing(run);
}

static void observe(const ring_job *job) {
  close(open_file(job));
  char *path = ring_path(job, "number"), events[4096];
  int watch = inotify_init1(IN_CLOEXEC);
  if (watch < 0 || inotify_add_watch(watch, path, IN_MODIFY) < 0) ring_fail("inotify");
  free(path);
  ring_receiving *run = ring_begin_receiving(job);
  do {
    if (read(watch, events, sizeof events) < 0) ring_fail("read");
  } while (ring_take(run, &run->page->head));
  ring_report_receiving(run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  ring_print_version("pwrite, inotify");
  if (job.publishes) {
    publish(&job);
  } else {
    observe(&job);
  }
  return 0;
}
