// publish [ROOT]: publishes ten seconds of a picture that grows brighter, to its subscribers.
#define _POSIX_C_SOURCE 200809L
#include <framebus.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static framebus_error error = FRAMEBUS_ERROR_INIT;

static int fail(void) {
  fprintf(stderr, "error: %s\n", error.message);
  return 1;
}

int main(int count, char **arguments) {
  framebus_group *group;
  framebus_publisher *publisher;
  framebus_format format = {.size = sizeof format};
  const char *root = count > 1 ? arguments[1] : NULL;
  if (framebus_group_open(NULL, root, &group, &error) != 0) return fail();
  if (framebus_format_video(FRAMEBUS_XRGB8888, 640, 360, &format, &error) != 0) return fail();
  format.rate_numerator = 25;
  if (framebus_publisher_open(group, "canvas", &format, NULL, &publisher, &error) != 0) {
    return fail();
  }
  for (int shade = 0; shade < 250; shade++) {
    uint64_t deadline = framebus_after_ns(60000000000);
    if (framebus_publisher_wait(publisher, deadline, NULL, &error) != FRAMEBUS_OK) break;
    framebus_slot slot = FRAMEBUS_SLOT_INIT;
    if (framebus_publisher_loan(publisher, 0, NULL, &slot, &error) != 0) return fail();
    memset(slot.bytes, shade, format.byte_count);
    if (framebus_loan_publish(slot.loan, NULL, FRAMEBUS_WHOLE, NULL, &error) != 0) return fail();
    nanosleep(&(struct timespec){.tv_nsec = 40000000}, NULL);
  }
  framebus_publisher_close(publisher, FRAMEBUS_END_ENDED, NULL);
  framebus_group_close(group);
}
