// subscribe [ROOT]: receives the frames of publish.c, or of the Swift example Paint.
#include <framebus.h>
#include <stdio.h>

static framebus_error error = FRAMEBUS_ERROR_INIT;

static int fail(void) {
  fprintf(stderr, "error: %s\n", error.message);
  return 1;
}

int main(int count, char **arguments) {
  framebus_group *group;
  framebus_subscriber *subscriber;
  framebus_format format = {.size = sizeof format};
  uint64_t epoch = 0;
  const char *root = count > 1 ? arguments[1] : NULL;
  if (framebus_group_open(NULL, root, &group, &error) != 0) return fail();
  if (framebus_subscriber_open(group, "canvas", NULL, framebus_after_ns(60000000000), NULL,
                               &subscriber, &error) != 0) {
    return fail();
  }
  framebus_frame frame = FRAMEBUS_FRAME_INIT;
  int result;
  while ((result = framebus_subscriber_next(subscriber, FRAMEBUS_NEVER, NULL, &frame, &error)) ==
         FRAMEBUS_OK) {
    if (frame.format_epoch != epoch) framebus_lease_format(frame.lease, &format, NULL);
    epoch = frame.format_epoch;
    printf("frame %ju, %u×%u: %u\n", (uintmax_t)frame.sequence, format.width, format.height,
           *(const unsigned char *)frame.bytes);
    framebus_lease_release(frame.lease);
  }
  if (result < 0) return fail();
  framebus_subscriber_status status = {.size = sizeof status};
  framebus_subscriber_get_status(subscriber, &status, NULL);
  printf("%ju received, %ju dropped\n", (uintmax_t)status.received_count,
         (uintmax_t)status.dropped_count);
  framebus_subscriber_close(subscriber);
  framebus_group_close(group);
}
