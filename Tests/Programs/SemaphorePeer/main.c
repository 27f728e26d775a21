// A C program of the group: it maps a semaphore's file and uses its sem_t with sem_wait(3) and
// sem_post(3), or does what a hostile member could do.
//
//   SemaphorePeer FILE post | value | wait MILLISECONDS
//   SemaphorePeer FILE scribble SEED MILLISECONDS   random bytes, everywhere
//   SemaphorePeer FILE poison                       invalid wait flags in the sem_t
//   SemaphorePeer FILE steal                        moves the sleepers to a word of its own
#define _GNU_SOURCE
#include <CSemaphoreLayout.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void print_line(const char *text) {
  puts(text);
  fflush(stdout);
}

static struct timespec after(long milliseconds) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  long nanoseconds = time.tv_nsec + milliseconds % 1000 * 1000000;
  time.tv_sec += milliseconds / 1000 + nanoseconds / 1000000000;
  time.tv_nsec = nanoseconds % 1000000000;
  return time;
}

static int take(sem_t *semaphore, long milliseconds) {
  print_line("waiting");
  struct timespec deadline = after(milliseconds);
  while (sem_clockwait(semaphore, CLOCK_MONOTONIC, &deadline) != 0) {
    if (errno != EINTR) return print_line("timed out"), 1;
  }
  return print_line("taken"), 0;
}

static int scribble(unsigned char *bytes, uint64_t seed, long milliseconds) {
  struct timespec deadline = after(milliseconds), now;
  print_line("scribbling");
  do {
    for (int i = 0; i < 1000; i++) {
      seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      // Half of the writes go to the most sensitive part: the sem_t and the bell.
      size_t at = (seed >> 33) % (seed >> 63 ? GS_BYTES : 256);
      // The magic number stays: without it, nothing else would be read.
      if (at >= 8) bytes[at] = (unsigned char)(seed >> 24);
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec < deadline.tv_sec ||
           (now.tv_sec == deadline.tv_sec && now.tv_nsec < deadline.tv_nsec));
  return print_line("scribbled"), 0;
}

static int steal(struct gs_semaphore *file) {
  static uint32_t own;
  uint32_t *words[] = {(uint32_t *)file->posix, &file->bell};
  for (int i = 0; i < 2; i++) {
    syscall(SYS_futex, words[i], FUTEX_CMP_REQUEUE, 0, (void *)(intptr_t)INT_MAX, &own,
            __atomic_load_n(words[i], __ATOMIC_ACQUIRE));
  }
  print_line("stolen");
  pause();
  return 0;
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  int file = open(arguments[1], O_RDWR);
  void *bytes = mmap(NULL, GS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bytes == MAP_FAILED) return perror("mmap"), 2;
  struct gs_semaphore *semaphore = bytes;
  sem_t *posix = (sem_t *)semaphore->posix;
  const char *verb = arguments[2];
  if (strcmp(verb, "post") == 0) return sem_post(posix) != 0;
  if (strcmp(verb, "wait") == 0 && count > 3) return take(posix, atol(arguments[3]));
  if (strcmp(verb, "scribble") == 0 && count > 4) {
    return scribble(bytes, strtoull(arguments[3], NULL, 10), atol(arguments[4]));
  }
  if (strcmp(verb, "steal") == 0) return steal(semaphore);
  if (strcmp(verb, "poison") == 0) {
    // glibc aborts on this: an invalid futex call, and a waiter to wake with it.
    semaphore->posix[0] |= UINT64_C(1) << 32;
    semaphore->posix[1] = UINT64_C(0xdeadbeef);
    return 0;
  }
  if (strcmp(verb, "value") == 0) {
    int value;
    sem_getvalue(posix, &value);
    printf("%d\n", value);
    return 0;
  }
  return 2;
}
