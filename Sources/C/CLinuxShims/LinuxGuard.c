#define _GNU_SOURCE
#include "LinuxGuard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

// What the handler reads must be plain machine words: it may interrupt anything.
_Static_assert(ATOMIC_POINTER_LOCK_FREE == 2 && ATOMIC_BOOL_LOCK_FREE == 2, "signal-safe atomics");

struct range {
  atomic_bool isTaken;
  atomic_bool isLost;
  // 0 if the entry is free. Stored last and cleared first, so that the handler never pairs one
  // range's start with another's size.
  atomic_uintptr_t start;
  atomic_size_t byteCount;
};

static struct range ranges[LINUX_GUARDED_RANGES];
static struct sigaction previous;
static uintptr_t pageBytes;
static int installError;

static bool covers(struct range *range, uintptr_t address) {
  uintptr_t start = atomic_load_explicit(&range->start, memory_order_acquire);
  if (start == 0 || address < start) return false;
  size_t byteCount = atomic_load_explicit(&range->byteCount, memory_order_acquire);
  return address - start < byteCount &&
         atomic_load_explicit(&range->start, memory_order_acquire) == start;
}

// Called in a signal handler: atomics and one system call, nothing else.
static bool replace_lost_page(uintptr_t address) {
  for (int number = 0; number < LINUX_GUARDED_RANGES; number++) {
    if (!covers(&ranges[number], address)) continue;
    atomic_store_explicit(&ranges[number].isLost, true, memory_order_release);
    void *page = (void *)(address & ~(pageBytes - 1));
    return mmap(page, pageBytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
  }
  return false;
}

static void pass_on(int number, siginfo_t *info, void *context) {
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(number);
  } else if (info->si_code > 0 || previous.sa_handler == SIG_DFL) {
    // Faults again, or comes again, and ends the process as if nobody had handled it. (The kernel
    // lets nobody ignore a fault.)
    signal(number, SIG_DFL);
    if (info->si_code <= 0) raise(number);
  }
}

static void handle(int number, siginfo_t *info, void *context) {
  int savedErrno = errno;
  bool isFault = info->si_code == BUS_ADRERR;
  if (!isFault || !replace_lost_page((uintptr_t)info->si_addr)) pass_on(number, info, context);
  errno = savedErrno;
}

static void install(void) {
  pageBytes = (uintptr_t)sysconf(_SC_PAGESIZE);
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  // `previous` is whole before the handler can run: the old action is read first.
  if (sigaction(SIGBUS, NULL, &previous) != 0 || sigaction(SIGBUS, &action, NULL) != 0) {
    installError = errno;
  }
}

int linux_guard(void *start, size_t byteCount) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
  if (installError != 0) {
    errno = installError;
    return -1;
  }
  for (int number = 0; number < LINUX_GUARDED_RANGES; number++) {
    struct range *range = &ranges[number];
    if (atomic_exchange_explicit(&range->isTaken, true, memory_order_acquire)) continue;
    atomic_store_explicit(&range->isLost, false, memory_order_relaxed);
    atomic_store_explicit(&range->byteCount, byteCount, memory_order_release);
    atomic_store_explicit(&range->start, (uintptr_t)start, memory_order_release);
    return number;
  }
  errno = ENOSPC;
  return -1;
}

bool linux_guard_is_lost(int number) {
  return atomic_load_explicit(&ranges[number].isLost, memory_order_acquire);
}

void linux_guard_renew(int number) {
  atomic_store_explicit(&ranges[number].isLost, false, memory_order_release);
}

void linux_unguard(int number) {
  atomic_store_explicit(&ranges[number].start, 0, memory_order_release);
  atomic_store_explicit(&ranges[number].isTaken, false, memory_order_release);
}
