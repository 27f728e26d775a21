// The common part of the programs of `framebus bench ring`, `bench notify` and `bench credential`,
// which differ only in how they transfer a frame or a post, or open a credential: the job, the
// pacing, the clock, the bytes, the figures.
//
//   PROGRAM publish|subscribe DIRECTORY key=value…
//
// A publisher prints "ready" once subscribers can attach, and waits for a byte on descriptor 3. A
// subscriber prints "ready" once it is attached. When the time is over, the publisher sends end
// frames until descriptor 3 is closed; a subscriber ends at the first of them, or, if it idles,
// when its descriptor 3 is closed. At its end each program prints its figures in one line.
//
//   ring_job job = ring_job_from(argc, argv);
//
//   ring_publishing *run = ring_begin_publishing(&job);    // prints "ready", waits for the byte
//   while (ring_next(run)) { slot = loan(); ring_write(run, slot); publish(slot); }
//   while (ring_unreleased(run)) { slot = loan(); ring_write_end(slot); publish(slot); }
//   ring_report_publishing(run);
//
//   ring_receiving *run = ring_begin_receiving(&job);      // prints "ready"
//   if (ring_idles(run)) …                                 // stays attached, receives nothing
//   do { frame = receive(); } while (ring_take(run, frame));
//   ring_report_receiving(run);

#ifndef RING_KIT_H
#define RING_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The work of a program.
typedef struct {
  bool publishes;
  /// A directory for this run, used by both sides.
  const char *directory;
  /// Size of a frame; at least sizeof(ring_head).
  size_t bytes;
  /// Time between two frames; 0 for as fast as possible.
  uint64_t interval_ns;
  uint64_t duration_ns;
  /// The number of subscribers.
  unsigned subscribers;
  /// Frames in flight, for programs that can set it.
  unsigned depth;
  /// Both sides spin; otherwise they sleep.
  bool polls;
  /// A publisher that paces itself spins until the next frame is due, also if it does not poll.
  bool spins;
  /// All bytes are written and summed; otherwise only the first words.
  bool fills;
  /// Every frame arrives; the publisher waits for its subscribers.
  bool lossless;
  /// The subscribers attach and do nothing; the publisher measures its calls.
  bool idles;
  /// The publisher receives each frame itself, on its thread: no process waits for another.
  bool receives;
  /// The publisher measures each call, with ring_posted.
  bool times;
  /// The publisher measures the time until the last subscriber has a frame.
  bool lasts;
  /// A subscriber gets its frames from a process of its own that receives them.
  bool relays;
  /// A subscriber works on each frame for a millisecond, with ring_work.
  bool works;
  /// The publisher checks for a post instead of publishing.
  bool checks;
  /// The publisher opens one of this many credentials instead of publishing; 0 if it publishes.
  unsigned credentials;
  /// The publisher lists all credentials instead of opening one, like a program after its start.
  bool lists;
  /// The publisher opens the store for each credential, like a program that needs one.
  bool opens;
} ring_job;

/// The header of each frame.
typedef struct {
  /// Monotonic time when the frame was filled, or one of the values below.
  uint64_t stamp;
  /// From 1.
  uint64_t number;
} ring_head;

/// A page shared by all programs of a turn, for transports without a payload, and for results that
/// all of them contribute to.
typedef struct {
  ring_head head;
  uint32_t word;
  /// The latency of the last subscriber to receive frame N, at N % RING_LASTS.
  uint64_t lasts[64];
} ring_page;

enum { RING_LASTS = 64, RING_LATER = 8 };

enum { RING_END = 0, RING_WARM_UP = 1, RING_UNTIMED = 2 };

/// Counts of values: exact below 256, then 128 steps for each doubling (0.8 %).
enum { RING_BUCKETS = 256 + 128 * 32 };

typedef struct {
  const ring_job *job;
  uint64_t number;
  uint64_t due_ns;
  uint64_t begin_ns;
  uint64_t end_ns;
  uint64_t lap_ns;
  uint64_t lap_mask;
  uint64_t first;
  uint64_t cpu_ns;
  bool is_warm;
  ring_page *page;
  uint64_t buckets[RING_BUCKETS];
} ring_publishing;

typedef struct {
  const ring_job *job;
  uint64_t frames;
  uint64_t lost;
  uint64_t last;
  uint64_t cpu_ns;
  ring_page *page;
  uint64_t buckets[RING_BUCKETS];
} ring_receiving;

/// Ends the program if the arguments are wrong.
ring_job ring_job_from(int count, char *const *arguments);

/// A path in the job's directory; the caller frees it.
char *ring_path(const ring_job *job, const char *name);

/// The page shared by all programs of the turn.
ring_page *ring_shared_page(const ring_job *job);

/// Starts a program that ends with this one, and waits until it has created a socket.
void ring_start_daemon(char *const *arguments, const char *socket);

/// Ends the program with `error: WHAT: errno's text`.
void ring_fail(const char *what);

/// Prints the version line of this program: the name and version of a library.
void ring_print_version(const char *version);

ring_publishing *ring_begin_publishing(const ring_job *job);
ring_receiving *ring_begin_receiving(const ring_job *job);

/// If the job idles, waits for the end and returns true; false if the job is to receive.
bool ring_idles(ring_receiving *run);

/// Waits 10 ms; false once all subscribers have ended, or at once if they idle.
bool ring_unreleased(ring_publishing *run);

void ring_report_publishing(ring_publishing *run);
void ring_report_receiving(ring_receiving *run);

// Parts of the inline functions that do not run for every frame.
bool ring_pace(ring_publishing *run);
bool ring_lap(ring_publishing *run);
void ring_fill(void *frame, size_t bytes, uint64_t number);
void ring_check_sum(const void *frame, size_t bytes, uint64_t number);
void ring_warm(ring_receiving *run);
void ring_lose(ring_receiving *run, uint64_t number);
void ring_note_last(ring_receiving *run, uint64_t number, uint64_t ns);
void ring_count_last(ring_publishing *run);

static inline uint64_t ring_now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/// The processor's hint for spin loops.
static inline void ring_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Waits until the next frame is due; false at the end of the run.
static inline bool ring_next(ring_publishing *run) {
  run->number++;
  if (run->job->lasts) ring_count_last(run);
  if (run->job->interval_ns != 0) return ring_pace(run);
  return (run->number & run->lap_mask) != 0 || ring_lap(run);
}

/// Writes the frame, and the time last. Everything after that belongs to the transport.
static inline void ring_write(const ring_publishing *run, void *slot) {
  ring_head *head = (ring_head *)slot;
  if (run->job->fills) ring_fill(slot, run->job->bytes, run->number);
  head->number = run->number;
  if (!run->is_warm) {
    head->stamp = RING_WARM_UP;
  } else {
    head->stamp = run->job->interval_ns == 0 ? (uint64_t)RING_UNTIMED : ring_now_ns();
  }
}

static inline void ring_write_end(void *slot) { ((ring_head *)slot)->stamp = RING_END; }

static inline void ring_count(uint64_t *buckets, uint64_t value) {
  if (value < 256) {
    buckets[value]++;
    return;
  }
  unsigned doublings = 63u - (unsigned)__builtin_clzll(value) - 7u;
  uint64_t bucket = 128u * doublings + (value >> doublings);
  buckets[bucket < RING_BUCKETS ? bucket : RING_BUCKETS - 1]++;
}

/// Records that a frame can be read; false if it is an end frame.
static inline bool ring_take(ring_receiving *run, const void *frame) {
  const ring_head *head = (const ring_head *)frame;
  uint64_t stamp = head->stamp;
  if (stamp == RING_END) return false;
  uint64_t number = head->number;
  if (stamp > RING_UNTIMED) {
    uint64_t ns = ring_now_ns() - stamp;
    ring_count(run->buckets, ns);
    if (run->job->lasts) ring_note_last(run, number, ns);
  }
  if (stamp != RING_WARM_UP && run->frames++ == 0) ring_warm(run);
  if (number != run->last + 1) ring_lose(run, number);
  run->last = number;
  if (run->job->fills) ring_check_sum(frame, run->job->bytes, number);
  return true;
}

/// Records that the call that published a frame has returned.
static inline void ring_posted(ring_publishing *run, const void *frame) {
  uint64_t stamp = ((const ring_head *)frame)->stamp;
  if (run->job->times && stamp > RING_UNTIMED) ring_count(run->buckets, ring_now_ns() - stamp);
}

/// Simulates work on a received frame.
static inline void ring_work(const ring_receiving *run) {
  if (!run->job->works) return;
  uint64_t end = ring_now_ns() + 1000000;
  while (ring_now_ns() < end) continue;
}

#ifdef __cplusplus
}
#endif

#endif
