// Semaphores waited for by descriptor, in programs that a test can kill:
//
//   Permits hold|wait ROOT GROUP NAME
//
// hold: creates a recoverable semaphore with one permit, takes it and keeps it. wait: waits for a
// permit with poll(2), says “waiting” when there was none for a while, and then how that ended.
#include <framebus-group.h>
#include <poll.h>
#include <unistd.h>

#include "Check.h"

static void hold(framebus_group *group, const char *name) {
  framebus_semaphore *semaphore;
  EXPECT(framebus_semaphore_create(group, name, 1, 1, &semaphore, &error), 0);
  EXPECT(framebus_semaphore_wait(semaphore, 0, NULL, &error), FRAMEBUS_OK);
  puts("holding");
  pause();
}

static void wait_for_permit(framebus_group *group, const char *name) {
  framebus_semaphore *semaphore;
  EXPECT(framebus_semaphore_open(group, name, &semaphore, &error), 0);
  struct pollfd waiting = {framebus_semaphore_descriptor(semaphore, &error), POLLIN, 0};
  // At first it says nothing.
  EXPECT(poll(&waiting, 1, 0), 1);
  int result;
  while ((result = framebus_semaphore_wait(semaphore, 0, NULL, &error)) == FRAMEBUS_TIMED_OUT) {
    if (poll(&waiting, 1, 100) == 1) continue;
    puts("waiting");
    EXPECT(poll(&waiting, 1, 120000), 1);
  }
  printf("result %d\n", result);
  EXPECT(framebus_semaphore_close(semaphore), 0);
}

int main(int count, char **arguments) {
  if (count != 5) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  framebus_group *group = open_group(arguments[2], arguments[3]);
  if (strcmp(arguments[1], "hold") == 0) {
    hold(group, arguments[4]);
  } else {
    wait_for_permit(group, arguments[4]);
  }
}
