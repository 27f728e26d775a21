// A crowd of threads that sleep where a publisher wakes: hundreds on the board's futex, or polling
// one bell. For WakingTests.
//
// build: cc -O1 -pthread -o crowd crowd.c
// usage: crowd futex|poll DESCRIPTOR THREADS
//   futex  DESCRIPTOR is a board's memory, which is mapped read-only
//   poll   DESCRIPTOR is the hearing end of a bell
// Says "ready" when all threads are about to sleep, and goes on until it is killed. They are of low
// priority, so that other tests get on meanwhile, but not of the idle one: beside other programs,
// they would then never get to sleep again.
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../Sources/C/CFrameLayout/include/CFrameLayout.h"

enum { PAGE = 4096 };

static atomic_int parked;
static const volatile uint32_t *word;
static int bell;

static void *sleep_on_futex(void *unused) {
  parked++;
  while (1) syscall(SYS_futex, word, FUTEX_WAIT, *word, NULL, NULL, 0);
  return unused;
}

static void *sleep_in_poll(void *unused) {
  parked++;
  while (1) {
    // Whatever is in the socket stays there: only what comes wakes them, and that wakes all.
    struct pollfd entry = {.fd = bell, .events = POLLPRI};
    poll(&entry, 1, -1);
  }
  return unused;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  int descriptor = atoi(arguments[2]);
  int threads = atoi(arguments[3]);
  int futexes = strcmp(arguments[1], "futex") == 0;
  if (futexes) {
    const char *board = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, descriptor, 0);
    if (board == MAP_FAILED) return 1;
    word = (const volatile uint32_t *)(board + FB_AT_WAKE);
  }
  bell = descriptor;
  setpriority(PRIO_PROCESS, 0, 10);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  for (int i = 0; i < threads; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, futexes ? sleep_on_futex : sleep_in_poll, NULL) != 0) {
      perror("pthread_create");
      return 1;
    }
  }
  while (parked < threads) usleep(1000);
  puts("ready");
  fflush(stdout);
  pause();
}
