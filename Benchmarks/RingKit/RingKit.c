#define _GNU_SOURCE
#include "RingKit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { GATE = 3, SECOND = 1000000000 };

void ring_fail(const char *what) {
  fprintf(stderr, "error: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t number_of(const char *text, const char *key, uint64_t fallback) {
  size_t length = strlen(key);
  if (strncmp(text, key, length) != 0 || text[length] != '=') return fallback;
  return strtoull(text + length + 1, NULL, 10);
}

ring_job ring_job_from(int count, char *const *arguments) {
  if (count < 3) {
    fprintf(stderr, "usage: %s publish|subscribe DIRECTORY key=value…\n", arguments[0]);
    exit(2);
  }
  ring_job job = {.publishes = strcmp(arguments[1], "publish") == 0, .directory = arguments[2]};
  job.bytes = 64;
  job.duration_ns = SECOND;
  job.subscribers = 1;
  job.depth = 64;
  for (int index = 3; index < count; index++) {
    const char *text = arguments[index];
    job.bytes = number_of(text, "bytes", job.bytes);
    job.interval_ns = number_of(text, "interval_ns", job.interval_ns);
    job.duration_ns = number_of(text, "duration_ns", job.duration_ns);
    job.subscribers = (unsigned)number_of(text, "subscribers", job.subscribers);
    job.depth = (unsigned)number_of(text, "depth", job.depth);
    job.polls = number_of(text, "polls", job.polls) != 0;
    job.spins = number_of(text, "spins", job.spins) != 0;
    job.fills = number_of(text, "fills", job.fills) != 0;
    job.lossless = number_of(text, "lossless", job.lossless) != 0;
    job.idles = number_of(text, "idles", job.idles) != 0;
    job.receives = number_of(text, "receives", job.receives) != 0;
    job.times = number_of(text, "times", job.times) != 0;
    job.lasts = number_of(text, "lasts", job.lasts) != 0;
    job.relays = number_of(text, "relays", job.relays) != 0;
    job.works = number_of(text, "works", job.works) != 0;
    job.checks = number_of(text, "checks", job.checks) != 0;
    job.credentials = (unsigned)number_of(text, "credentials", job.credentials);
    job.lists = number_of(text, "lists", job.lists) != 0;
    job.opens = number_of(text, "opens", job.opens) != 0;
  }
  return job;
}

char *ring_path(const ring_job *job, const char *name) {
  char *path = NULL;
  if (asprintf(&path, "%s/%s", job->directory, name) < 0) ring_fail("asprintf");
  return path;
}

ring_page *ring_shared_page(const ring_job *job) {
  char *path = ring_path(job, "page");
  int number = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (number < 0 || ftruncate(number, 4096) != 0) ring_fail(path);
  ring_page *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0);
  if (page == MAP_FAILED) ring_fail("mmap");
  close(number);
  free(path);
  return page;
}

void ring_start_daemon(char *const *arguments, const char *socket) {
  pid_t child = fork();
  if (child < 0) ring_fail("fork");
  if (child == 0) {
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0) _exit(127);
    // The gate stays open in this process alone.
    close(GATE);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) _exit(127);
    execvp(arguments[0], arguments);
    _exit(127);
  }
  for (int tries = 0; access(socket, F_OK) != 0; tries++) {
    if (tries > 10000) ring_fail(arguments[0]);
    usleep(1000);
  }
}

static void print_line(const char *line) {
  if (puts(line) < 0 || fflush(stdout) != 0) ring_fail("standard output");
}

// How scripts/peers compiled the program.
#ifndef RING_FLAGS
#define RING_FLAGS "swift build"
#endif

void ring_print_version(const char *version) {
  printf("version %s, %s\n", version, RING_FLAGS);
}

static uint64_t processor_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/// With one subscriber, it and the publisher each get a processor, because a migration to the
/// other's processor would measure the scheduler. With several, the scheduler decides.
static void take_processor(const ring_job *job) {
  if (job->subscribers > 1) return;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) ring_fail("sched_getaffinity");
  if (CPU_COUNT(&allowed) < 2) return;
  int own = job->publishes ? 1 : 2;
  for (int processor = 0; processor < CPU_SETSIZE; processor++) {
    if (!CPU_ISSET(processor, &allowed) || --own != 0) continue;
    CPU_ZERO(&allowed);
    CPU_SET(processor, &allowed);
    // This thread alone: a transport's own threads can use all processors.
    if (sched_setaffinity(0, sizeof allowed, &allowed) != 0) ring_fail("sched_setaffinity");
    return;
  }
}

// MARK: Publishing

ring_publishing *ring_begin_publishing(const ring_job *job) {
  ring_publishing *run = calloc(1, sizeof *run);
  if (run == NULL) ring_fail("calloc");
  run->job = job;
  // Large frames and credentials take long enough to read the clock for each.
  run->lap_mask = job->bytes > 65536 || job->credentials > 0 ? 0 : 63;
  run->page = ring_shared_page(job);
  take_processor(job);
  print_line("ready");
  char byte;
  if (read(GATE, &byte, 1) != 1) ring_fail("waiting for the subscribers");
  run->begin_ns = run->due_ns = run->lap_ns = ring_now_ns();
  // During the first eighth, memory and caches reach their steady state.
  run->end_ns = run->begin_ns + job->duration_ns / 8;
  return run;
}

/// After the first eighth, counting begins; after the rest, the run ends.
static bool advance(ring_publishing *run, uint64_t now) {
  if (now < run->end_ns) return true;
  if (run->is_warm) {
    run->number--;
    run->end_ns = now;
    run->cpu_ns = processor_ns() - run->cpu_ns;
    return false;
  }
  run->is_warm = true;
  run->first = run->number;
  run->begin_ns = now;
  run->end_ns = now + run->job->duration_ns;
  run->cpu_ns = processor_ns();
  return true;
}

bool ring_pace(ring_publishing *run) {
  run->due_ns += run->job->interval_ns;
  uint64_t now = ring_now_ns();
  // Missed frames are not sent later.
  if (run->due_ns < now) run->due_ns = now;
  if (run->job->polls || run->job->spins) {
    while (now < run->due_ns) now = ring_now_ns();
  } else {
    struct timespec time = {(time_t)(run->due_ns / SECOND), (long)(run->due_ns % SECOND)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) continue;
    now = ring_now_ns();
  }
  return advance(run, now);
}

bool ring_lap(ring_publishing *run) {
  uint64_t now = ring_now_ns();
  if (run->is_warm && run->job->idles) {
    ring_count(run->buckets, (now - run->lap_ns) / (run->lap_mask + 1));
  }
  run->lap_ns = now;
  return advance(run, now);
}

void ring_fill(void *frame, size_t bytes, uint64_t number) {
  uint64_t *words = frame;
  for (size_t index = 0; index < bytes / 8; index++) words[index] = number + index;
}

bool ring_unreleased(ring_publishing *run) {
  if (run->job->idles) return false;
  struct pollfd gate = {.fd = GATE, .events = POLLIN};
  return poll(&gate, 1, 10) == 0;
}

// MARK: Receiving

ring_receiving *ring_begin_receiving(const ring_job *job) {
  ring_receiving *run = calloc(1, sizeof *run);
  if (run == NULL) ring_fail("calloc");
  run->job = job;
  run->page = ring_shared_page(job);
  take_processor(job);
  run->cpu_ns = processor_ns();
  print_line("ready");
  return run;
}

bool ring_idles(ring_receiving *run) {
  if (!run->job->idles) return false;
  char byte;
  while (read(GATE, &byte, 1) > 0) continue;
  return true;
}

/// The first two words are the head and are not summed.
void ring_check_sum(const void *frame, size_t bytes, uint64_t number) {
  const uint64_t *words = frame;
  uint64_t count = bytes / 8;
  uint64_t sum = 0;
  for (uint64_t index = 2; index < count; index++) sum += words[index];
  if (sum == (count - 2) * number + count * (count - 1) / 2 - 1) return;
  fprintf(stderr, "error: frame %llu has wrong content\n", (unsigned long long)number);
  exit(3);
}

/// With the first counted frame, the processor time of starting and warming up is not counted.
void ring_warm(ring_receiving *run) { run->cpu_ns = processor_ns(); }

void ring_lose(ring_receiving *run, uint64_t number) {
  // A subscriber may attach while frames are published; earlier frames were not lost.
  if (run->last != 0 && number > run->last) run->lost += number - run->last - 1;
}

void ring_note_last(ring_receiving *run, uint64_t number, uint64_t ns) {
  uint64_t *last = &run->page->lasts[number % RING_LASTS];
  uint64_t seen = __atomic_load_n(last, __ATOMIC_RELAXED);
  while (seen < ns &&
         !__atomic_compare_exchange_n(last, &seen, ns, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    continue;
  }
}

/// Called some frames later, when every subscriber has received the frame.
void ring_count_last(ring_publishing *run) {
  uint64_t *last = &run->page->lasts[(run->number - RING_LATER) % RING_LASTS];
  uint64_t ns = __atomic_exchange_n(last, 0, __ATOMIC_RELAXED);
  if (ns > 0) ring_count(run->buckets, ns);
}

// MARK: Figures

static void report(
    uint64_t frames, uint64_t lost, uint64_t elapsed_ns, uint64_t cpu_ns, const uint64_t *buckets) {
  printf(
      "figures frames=%llu lost=%llu elapsed_ns=%llu cpu_ns=%llu values=",
      (unsigned long long)frames, (unsigned long long)lost, (unsigned long long)elapsed_ns,
      (unsigned long long)cpu_ns);
  for (unsigned bucket = 0; bucket < RING_BUCKETS; bucket++) {
    if (buckets[bucket] == 0) continue;
    unsigned doublings = bucket < 256 ? 0 : bucket / 128 - 1;
    uint64_t least = (uint64_t)(bucket - 128 * doublings) << doublings;
    uint64_t middle = least + ((1ull << doublings) >> 1);
    printf("%llu:%llu,", (unsigned long long)middle, (unsigned long long)buckets[bucket]);
  }
  print_line("");
}

void ring_report_publishing(ring_publishing *run) {
  report(
      run->number - run->first, 0, run->end_ns - run->begin_ns, run->cpu_ns, run->buckets);
}

void ring_report_receiving(ring_receiving *run) {
  report(run->frames, run->lost, 0, processor_ns() - run->cpu_ns, run->buckets);
}
