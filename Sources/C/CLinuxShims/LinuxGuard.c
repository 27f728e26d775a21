#define _GNU_SOURCE
#include "LinuxGuard.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

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

// Held while pages are replaced or mapped again: a page that one thread replaced and wrote to must
// not be replaced once more by a thread that met the same loss. U. Drepper, "Futexes Are Tricky",
// mutex 2: 0 free, 1 held, 2 held and waited for. Its holder takes no signals, so a handler never
// waits for the thread that it interrupted.
static atomic_uint paging;

static void begin_paging(sigset_t *taken) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, taken);
  unsigned found = 0;
  if (atomic_compare_exchange_strong(&paging, &found, 1)) return;
  while (atomic_exchange(&paging, 2) != 0) {
    syscall(SYS_futex, &paging, FUTEX_WAIT_PRIVATE, 2, NULL);
  }
}

static void end_paging(const sigset_t *taken) {
  if (atomic_exchange(&paging, 0) == 2) syscall(SYS_futex, &paging, FUTEX_WAKE_PRIVATE, 1);
  pthread_sigmask(SIG_SETMASK, taken, NULL);
}

// Whether an access succeeds now. EINVAL: the mapping is read-only, so the access was a read.
static bool is_present(void *page) {
  if (madvise(page, pageBytes, MADV_POPULATE_WRITE) == 0) return true;
  return errno == EINVAL && madvise(page, pageBytes, MADV_POPULATE_READ) == 0;
}

// Called in a signal handler: atomics and system calls, nothing else.
static bool replace_lost_page(uintptr_t address) {
  for (int number = 0; number < LINUX_GUARDED_RANGES; number++) {
    if (!covers(&ranges[number], address)) continue;
    void *page = (void *)(address & ~(pageBytes - 1));
    sigset_t taken;
    begin_paging(&taken);
    bool isThere = is_present(page);
    if (!isThere) {
      atomic_store_explicit(&ranges[number].isLost, true, memory_order_release);
      isThere = mmap(page, pageBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
    }
    end_paging(&taken);
    return isThere;
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

int linux_guard_renew(int number, int descriptor, int protection) {
  struct range *range = &ranges[number];
  void *start = (void *)atomic_load_explicit(&range->start, memory_order_acquire);
  size_t byteCount = atomic_load_explicit(&range->byteCount, memory_order_acquire);
  sigset_t taken;
  begin_paging(&taken);
  void *mapped = mmap(start, byteCount, protection, MAP_SHARED | MAP_FIXED, descriptor, 0);
  int error = errno;
  if (mapped == start) atomic_store_explicit(&range->isLost, false, memory_order_release);
  end_paging(&taken);
  errno = error;
  return mapped == start ? 0 : -1;
}

void linux_unguard(int number) {
  atomic_store_explicit(&ranges[number].start, 0, memory_order_release);
  atomic_store_explicit(&ranges[number].isTaken, false, memory_order_release);
}
