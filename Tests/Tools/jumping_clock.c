// Preloaded into a program, simulates changes of the wall clock: from the 6th reading of
// CLOCK_REALTIME it is an hour slow, from the 11th an hour fast. Other clocks are unchanged.
//
// cc -shared -fPIC -o jumping_clock.so jumping_clock.c -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>

static atomic_int readings;

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*next)(clockid_t, struct timespec *);
  if (next == NULL) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = next(clock, time);
  if (clock != CLOCK_REALTIME || result != 0) return result;
  int reading = atomic_fetch_add(&readings, 1);
  if (reading >= 10) {
    time->tv_sec += 3600;
  } else if (reading >= 5) {
    time->tv_sec -= 3600;
  }
  return 0;
}
