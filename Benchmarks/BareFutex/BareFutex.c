// A bare futex as a subject of `framebus bench notify`: one word in shared memory on which all
// observers sleep. It has no names and no access control.

#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "RingKit.h"

static void post(ring_page *page) {
  __atomic_add_fetch(&page->word, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &page->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void publish(const ring_job *job) {
  ring_publishing *run = ring_begin_publishing(job);
  ring_page *page = run->page;
  while (ring_next(run)) {
    ring_write(run, &page->head);
    post(page);
    ring_posted(run, &page->head);
  }
  ring_write_end(&page->head);
  while (ring_unreleased(run)) post(page);
  ring_report_publishing(run);
}

static void observe(const ring_job *job) {
  ring_page *page = ring_shared_page(job);
  uint32_t seen = __atomic_load_n(&page->word, __ATOMIC_SEQ_CST);
  ring_receiving *run = ring_begin_receiving(job);
  do {
    ring_work(run);
    uint32_t word;
    while ((word = __atomic_load_n(&page->word, __ATOMIC_SEQ_CST)) == seen) {
      syscall(SYS_futex, &page->word, FUTEX_WAIT, seen, NULL, NULL, 0);
    }
    seen = word;
  } while (ring_take(run, &page->head));
  ring_report_receiving(run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  ring_print_version("futex");
  if (job.publishes) {
    publish(&job);
  } else {
    observe(&job);
  }
  return 0;
}
