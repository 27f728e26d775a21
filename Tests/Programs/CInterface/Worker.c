// A publisher or subscriber in C that a test can kill, with the frames of BusWorker:
//
//   Worker publish|subscribe ROOT GROUP STREAM [key=value…]
//
// publish: frames (0: for ever), intervalUs, lossless, width, grow (a frame from which on the
// picture is twice as wide), halfway (a frame in which to stop half filled), maps (1: say where the
// slots lie), descriptor (1: wait for loans with poll(2)). subscribe: frames (0: to the end),
// policy (latest, keep, lossless), limitMs (of lossless delivery), leases, hold (1: keep the first
// frame for ever), descriptor, maps.
#define _GNU_SOURCE
#include <inttypes.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "Check.h"

static char **settings;

static const char *text(const char *key, const char *usual) {
  size_t length = strlen(key);
  for (char **setting = settings; *setting != NULL; setting++) {
    if (strncmp(*setting, key, length) == 0 && (*setting)[length] == '=') {
      return *setting + length + 1;
    }
  }
  return usual;
}

static uint64_t number(const char *key, uint64_t usual) {
  const char *found = text(key, NULL);
  return found == NULL ? usual : strtoull(found, NULL, 10);
}

// The line of the kernel's list of mappings in which an address lies.
static void say_mapping(const void *address) {
  static char line[512];
  uintptr_t wanted = (uintptr_t)address, first, last;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &first, &last) != 2) continue;
    if (wanted >= first && wanted < last) printf("mapping %s", strchr(line, ' ') + 1);
  }
  fclose(maps);
}

// Loans a slot; says “waiting” where a lossless subscriber was not ready in time.
static void loan(framebus_publisher *publisher, framebus_slot *slot) {
  if (number("descriptor", 0) == 0) {
    EXPECT(framebus_publisher_loan(publisher, FRAMEBUS_NEVER, NULL, slot, &error), FRAMEBUS_OK);
    return;
  }
  struct pollfd waiting = {framebus_publisher_loan_descriptor(publisher, &error), POLLIN, 0};
  int result;
  while ((result = framebus_publisher_loan(publisher, 0, NULL, slot, &error)) ==
         FRAMEBUS_ERROR_BACKPRESSURE) {
    if (poll(&waiting, 1, 100) == 1) continue;
    puts("waiting");
    EXPECT(poll(&waiting, 1, 120000), 1);
  }
  EXPECT(result, FRAMEBUS_OK);
}

static void publish(framebus_group *group, const char *stream) {
  uint32_t width = (uint32_t)number("width", 320);
  framebus_format format = picture(width, 200);
  framebus_publisher_options options = FRAMEBUS_PUBLISHER_OPTIONS_INIT;
  options.allows_lossless = (uint32_t)number("lossless", 0);
  framebus_publisher *publisher;
  EXPECT(framebus_publisher_open(group, stream, &format, &options, &publisher, &error), 0);
  printf("publishing %s\n", stream);
  uint64_t wanted = number("frames", 0), due = framebus_now_ns();
  if (wanted > 0) {
    EXPECT(framebus_publisher_wait(publisher, FRAMEBUS_NEVER, NULL, &error), FRAMEBUS_OK);
  }
  for (uint64_t frame = 1; wanted == 0 || frame <= wanted; frame++) {
    if (frame == number("grow", 0)) {
      format = picture(width * 2, 200);
      EXPECT(framebus_publisher_set_format(publisher, &format, &error), 0);
    }
    framebus_slot slot = FRAMEBUS_SLOT_INIT;
    loan(publisher, &slot);
    if (frame == 1 && number("maps", 0) == 1) say_mapping(slot.bytes);
    fill(&slot, frame == number("halfway", 0) ? format.byte_count / 2 : format.byte_count, frame);
    if (frame == number("halfway", 0)) {
      puts("halfway");
      pause();
    }
    uint64_t sequence;
    EXPECT(framebus_loan_publish(slot.loan, NULL, FRAMEBUS_WHOLE, &sequence, &error), 0);
    EXPECT(sequence, frame);
    if (frame % 100 == 1) printf("published %" PRIu64 "\n", frame);
    due += number("intervalUs", 1000) * 1000;
    struct timespec time = {(time_t)(due / 1000000000), (long)(due % 1000000000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
  }
  EXPECT(framebus_publisher_close(publisher, FRAMEBUS_END_ENDED, &error), 0);
  puts("finished");
}

static int next(framebus_subscriber *subscriber, framebus_frame *frame) {
  if (number("descriptor", 0) == 0) {
    return framebus_subscriber_next(subscriber, FRAMEBUS_NEVER, NULL, frame, &error);
  }
  int result;
  while ((result = framebus_subscriber_next(subscriber, 0, NULL, frame, &error)) ==
         FRAMEBUS_TIMED_OUT) {
    struct pollfd waiting = {framebus_subscriber_descriptor(subscriber), POLLIN, 0};
    EXPECT(poll(&waiting, 1, 120000), 1);
  }
  return result;
}

static void subscribe(framebus_group *group, const char *stream) {
  framebus_subscriber_options options = FRAMEBUS_SUBSCRIBER_OPTIONS_INIT;
  const char *policy = text("policy", "latest");
  if (strcmp(policy, "keep") == 0) options.policy = FRAMEBUS_POLICY_KEEP_LATEST;
  if (strcmp(policy, "lossless") == 0) options.policy = FRAMEBUS_POLICY_LOSSLESS;
  options.policy_count = 2;
  options.lossless_limit_ns = number("limitMs", 0) * 1000000;
  options.leases = (uint32_t)number("leases", 2);
  options.wait = number("descriptor", 0) == 1 ? FRAMEBUS_WAIT_DESCRIPTOR : FRAMEBUS_WAIT_FUTEX;
  framebus_subscriber *subscriber;
  EXPECT(framebus_subscriber_open(group, stream, &options, framebus_after_ns(60000000000), NULL,
                                  &subscriber, &error), 0);
  printf("attached %s\n", stream);
  uint64_t wanted = number("frames", 0), generation = 0, sequence = 0, epoch = 0;
  framebus_format format = {.size = sizeof format};
  framebus_frame frame = FRAMEBUS_FRAME_INIT;
  int result = FRAMEBUS_OK;
  uint64_t count = 0;
  while ((wanted == 0 || count < wanted) && (result = next(subscriber, &frame)) == FRAMEBUS_OK) {
    count++;
    if (frame.generation == generation && frame.sequence <= sequence) puts("AGAIN");
    if (frame.generation != generation || frame.format_epoch != epoch) {
      EXPECT(framebus_lease_format(frame.lease, &format, &error), 0);
      printf("format %ux%u of %" PRIu64 " bytes\n", format.width, format.height,
             format.byte_count);
    }
    generation = frame.generation;
    sequence = frame.sequence;
    epoch = frame.format_epoch;
    EXPECT(frame.byte_count, format.byte_count);
    number_of(&frame);
    if (count == 1 && number("maps", 0) == 1) say_mapping(frame.bytes);
    if (count == 1 || count % 100 == 0) printf("received %" PRIu64 "\n", count);
    if (number("hold", 0) == 1) {
      puts("holding");
      pause();
    }
    EXPECT(framebus_lease_release(frame.lease), 0);
  }
  if (result < 0) printf("error %d: %s\n", result, error.message);
  framebus_subscriber_status status = {.size = sizeof status};
  EXPECT(framebus_subscriber_get_status(subscriber, &status, &error), 0);
  EXPECT(status.received_count, count);
  EXPECT(status.held_leases, 0);
  printf("result %d reason %u received %" PRIu64 " dropped %" PRIu64 "\n", result,
         status.end_reason, count, status.dropped_count);
  EXPECT(framebus_subscriber_close(subscriber), 0);
}

int main(int count, char **arguments) {
  if (count < 5) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  settings = arguments + 5;
  framebus_group *group = open_group(arguments[2], arguments[3]);
  if (strcmp(arguments[1], "publish") == 0) publish(group, arguments[4]);
  if (strcmp(arguments[1], "subscribe") == 0) subscribe(group, arguments[4]);
  EXPECT(framebus_group_close(group), 0);
}
