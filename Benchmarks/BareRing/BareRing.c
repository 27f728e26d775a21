// The baseline of `framebus bench ring`: a ring in one memory file that all processes map for
// reading and writing. One cursor, one position for each subscriber, a futex each; no metadata, no
// drop counts, no protection, and no detection of dead processes. It is the minimum that two
// processes can do with shared memory.
//
// A subscriber finds the memory through a symbolic link to the publisher's descriptor in /proc.

#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "RingKit.h"

enum { LINE = 64, PAGE = 4096, MOST_SUBSCRIBERS = 64 };

typedef struct {
  // Written by the publisher alone.
  _Alignas(LINE) _Atomic uint64_t cursor;
  _Atomic uint32_t wake;
  _Atomic uint32_t publisher_waits;
  _Alignas(LINE) _Atomic uint32_t seats;
  // Written by one subscriber each.
  struct {
    _Alignas(LINE) _Atomic uint64_t position;
    _Atomic uint32_t progress;
    _Atomic uint32_t waits;
  } subscribers[MOST_SUBSCRIBERS];
  _Alignas(PAGE) uint8_t slots[];
} ring;

static size_t slot_bytes(const ring_job *job) {
  size_t unit = job->bytes < PAGE ? LINE : PAGE;
  return (job->bytes + unit - 1) / unit * unit;
}

static ring *map_ring(const ring_job *job, int file) {
  size_t bytes = sizeof(ring) + slot_bytes(job) * job->depth;
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) ring_fail("mmap");
  return memory;
}

static void sleep_on(_Atomic uint32_t *word, uint32_t seen) {
  syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static void wake_all(_Atomic uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

// MARK: Publishing

/// The position of the slowest subscriber.
static uint64_t least_position(const ring *self, unsigned subscribers) {
  uint64_t least = UINT64_MAX;
  for (unsigned index = 0; index < subscribers; index++) {
    uint64_t position =
        atomic_load_explicit(&self->subscribers[index].position, memory_order_acquire);
    if (position < least) least = position;
  }
  return least;
}

static void wait_for_room(ring *self, const ring_job *job, uint64_t next) {
  for (;;) {
    uint32_t seen = atomic_load(&self->subscribers[0].progress);
    if (least_position(self, job->subscribers) + job->depth >= next) return;
    if (job->polls) {
      ring_relax();
      continue;
    }
    atomic_store(&self->publisher_waits, 1);
    if (least_position(self, job->subscribers) + job->depth < next) {
      sleep_on(&self->subscribers[0].progress, seen);
    }
    atomic_store_explicit(&self->publisher_waits, 0, memory_order_relaxed);
  }
}

static inline void make_visible(ring *self, const ring_job *job, uint64_t next) {
  atomic_store_explicit(&self->cursor, next, memory_order_release);
  if (job->polls || job->idles) return;
  uint32_t wake = atomic_load_explicit(&self->wake, memory_order_relaxed) + 1;
  atomic_store_explicit(&self->wake, wake, memory_order_release);
  atomic_thread_fence(memory_order_seq_cst);
  for (unsigned index = 0; index < job->subscribers; index++) {
    if (atomic_load_explicit(&self->subscribers[index].waits, memory_order_relaxed) == 0) continue;
    wake_all(&self->wake);
    return;
  }
}

static void publish(const ring_job *job) {
  int file = memfd_create("bare-ring", MFD_CLOEXEC);
  size_t stride = slot_bytes(job);
  if (file < 0 || ftruncate(file, (off_t)(sizeof(ring) + stride * job->depth)) != 0) {
    ring_fail("memfd_create");
  }
  ring *self = map_ring(job, file);
  memset(self, 0, sizeof(ring) + stride * job->depth);
  char target[64];
  snprintf(target, sizeof target, "/proc/%d/fd/%d", getpid(), file);
  if (symlink(target, ring_path(job, "bare-ring")) != 0) ring_fail("symlink");

  ring_publishing *run = ring_begin_publishing(job);
  uint64_t next = 0;
  while (ring_next(run)) {
    next++;
    if (job->lossless) wait_for_room(self, job, next);
    ring_write(run, self->slots + next % job->depth * stride);
    make_visible(self, job, next);
  }
  while (ring_unreleased(run)) {
    next++;
    ring_write_end(self->slots + next % job->depth * stride);
    make_visible(self, job, next);
  }
  ring_report_publishing(run);
}

// MARK: Receiving

static void wait_for_frame(ring *self, const ring_job *job, unsigned seat, uint64_t position) {
  while (atomic_load_explicit(&self->cursor, memory_order_acquire) == position) {
    if (job->polls) {
      ring_relax();
      continue;
    }
    atomic_store(&self->subscribers[seat].waits, 1);
    uint32_t seen = atomic_load(&self->wake);
    if (atomic_load(&self->cursor) == position) sleep_on(&self->wake, seen);
    atomic_store_explicit(&self->subscribers[seat].waits, 0, memory_order_relaxed);
  }
}

static void advance(ring *self, const ring_job *job, unsigned seat, uint64_t position) {
  atomic_store_explicit(&self->subscribers[seat].position, position, memory_order_release);
  if (job->polls || !job->lossless) return;
  // All subscribers notify the publisher through the word of the first.
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&self->publisher_waits, memory_order_relaxed) == 0) return;
  atomic_fetch_add(&self->subscribers[0].progress, 1);
  wake_all(&self->subscribers[0].progress);
}

static void subscribe(const ring_job *job) {
  int file = open(ring_path(job, "bare-ring"), O_RDWR | O_CLOEXEC);
  if (file < 0) ring_fail("bare-ring");
  ring *self = map_ring(job, file);
  unsigned seat = atomic_fetch_add(&self->seats, 1);
  size_t stride = slot_bytes(job);

  ring_receiving *run = ring_begin_receiving(job);
  if (!ring_idles(run)) {
    uint64_t position = 0;
    bool goes_on = true;
    while (goes_on) {
      wait_for_frame(self, job, seat, position);
      // No subscriber is late enough for its slot to be overwritten, so this baseline does not
      // check.
      position = job->lossless ? position + 1 : atomic_load(&self->cursor);
      goes_on = ring_take(run, self->slots + position % job->depth * stride);
      advance(self, job, seat, position);
    }
  }
  ring_report_receiving(run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  ring_print_version("bare ring");
  if (job.publishes) {
    publish(&job);
  } else {
    subscribe(&job);
  }
  return 0;
}
