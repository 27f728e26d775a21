// Wrong arguments of every kind, in one process: each is an error code.
//
//   Arguments ROOT GROUP
#define _GNU_SOURCE
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "Check.h"

static framebus_group *group;
static framebus_publisher *publisher;
static framebus_subscriber *subscriber;

static framebus_slot loan(void) {
  framebus_slot slot = FRAMEBUS_SLOT_INIT;
  EXPECT(framebus_publisher_loan(publisher, 0, NULL, &slot, &error), FRAMEBUS_OK);
  return slot;
}

static framebus_frame receive(void) {
  framebus_frame frame = FRAMEBUS_FRAME_INIT;
  EXPECT(framebus_subscriber_next(subscriber, FRAMEBUS_NEVER, NULL, &frame, &error), FRAMEBUS_OK);
  return frame;
}

static void check_groups(const char *root, const char *id) {
  framebus_group *none;
  EXPECT_ERROR(framebus_group_open("not an id", root, &none, &error), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_group_open("\xff", root, &none, &error), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_group_open("org.example.other", root, &none, &error),
               FRAMEBUS_ERROR_NOT_FOUND);
  EXPECT(none == NULL, 1);
  EXPECT_ERROR(framebus_group_open(id, root, NULL, &error), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(framebus_group_open(id, root, &none, NULL), 0);
  EXPECT(framebus_group_close(none), 0);
  EXPECT(framebus_group_close(none), FRAMEBUS_ERROR_HANDLE);
  EXPECT(framebus_group_close(NULL), FRAMEBUS_ERROR_HANDLE);
  // An error object that is too small is not written.
  framebus_error small = {.size = 8, .code = 7};
  EXPECT(framebus_group_open("?", root, &none, &small), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(small.code, 7);
}

static void check_handles(void) {
  framebus_frame frame = FRAMEBUS_FRAME_INIT;
  framebus_slot slot = FRAMEBUS_SLOT_INIT;
  uintptr_t bits[] = {0, 1, 0x10001, 0x7fffffff, UINTPTR_MAX, (uintptr_t)&frame, (uintptr_t)group};
  for (size_t index = 0; index < sizeof bits / sizeof *bits; index++) {
    void *handle = (void *)bits[index];
    EXPECT_ERROR(framebus_subscriber_next((framebus_subscriber *)handle, 0, NULL, &frame, &error),
                 FRAMEBUS_ERROR_HANDLE);
    EXPECT_ERROR(framebus_publisher_loan((framebus_publisher *)handle, 0, NULL, &slot, &error),
                 FRAMEBUS_ERROR_HANDLE);
    EXPECT_ERROR(framebus_loan_publish((framebus_loan *)handle, NULL, 1, NULL, &error),
                 FRAMEBUS_ERROR_HANDLE);
    EXPECT(framebus_loan_abandon((framebus_loan *)handle), FRAMEBUS_ERROR_HANDLE);
    EXPECT(framebus_lease_release((framebus_lease *)handle), FRAMEBUS_ERROR_HANDLE);
    EXPECT(framebus_subscriber_close((framebus_subscriber *)handle), FRAMEBUS_ERROR_HANDLE);
    EXPECT(framebus_publisher_close((framebus_publisher *)handle, 0, NULL), FRAMEBUS_ERROR_HANDLE);
    EXPECT(framebus_subscriber_descriptor((framebus_subscriber *)handle), FRAMEBUS_ERROR_HANDLE);
    EXPECT(framebus_publisher_descriptor((framebus_publisher *)handle), FRAMEBUS_ERROR_HANDLE);
    EXPECT(framebus_streams_count((framebus_streams *)handle), FRAMEBUS_ERROR_HANDLE);
    EXPECT(framebus_stop_raise((framebus_stop *)handle), FRAMEBUS_ERROR_HANDLE);
    if (handle != NULL) {
      EXPECT_ERROR(framebus_publisher_wait(publisher, 0, (framebus_stop *)handle, &error),
                   FRAMEBUS_ERROR_HANDLE);
    }
  }
}

static void check_formats(void) {
  framebus_format format = {.size = sizeof format};
  framebus_publisher *none;
  EXPECT_ERROR(framebus_format_video(FRAMEBUS_XRGB8888, 0, 1, &format, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_format_video(1, 2, 2, &format, &error), FRAMEBUS_ERROR_ARGUMENT);
  format.size = 8;
  EXPECT_ERROR(framebus_format_video(FRAMEBUS_NV12, 2, 2, &format, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_format_audio(FRAMEBUS_KIND_APP_AUDIO, 99, 48000, 2, 480, &format, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_publisher_open(group, "a", NULL, NULL, &none, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  format = picture(64, 4);
  EXPECT_ERROR(framebus_publisher_open(group, NULL, &format, NULL, &none, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_publisher_open(group, "Not a name", &format, NULL, &none, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_publisher_open(group, "screen", &format, NULL, &none, &error),
               FRAMEBUS_ERROR_BUSY);
  framebus_publisher_options options = FRAMEBUS_PUBLISHER_OPTIONS_INIT;
  options.ring_depth = 1;
  EXPECT_ERROR(framebus_publisher_open(group, "a", &format, &options, &none, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  for (uint32_t *field = &format.kind; field <= &format.plane_count; field++) {
    uint32_t before = *field;
    *field = UINT32_MAX;
    if (field != &format.fourcc && field != &format.rate_numerator &&
        field != &format.rate_denominator) {
      EXPECT_ERROR(framebus_publisher_open(group, "a", &format, NULL, &none, &error),
                   FRAMEBUS_ERROR_ARGUMENT);
    }
    *field = before;
  }
  format.planes[0].stride = 8;
  EXPECT_ERROR(framebus_publisher_set_format(publisher, &format, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  // A structure of a later version: unknown fields must be 0.
  struct {
    framebus_format format;
    uint64_t later;
  } larger = {picture(64, 4), 0};
  larger.format.size = sizeof larger;
  EXPECT(framebus_publisher_set_format(publisher, &larger.format, &error), 0);
  larger.later = 1;
  EXPECT_ERROR(framebus_publisher_set_format(publisher, &larger.format, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(framebus_format_video(FRAMEBUS_NV12, 3, 3, &larger.format, &error), 0);
  EXPECT(larger.later, 0);
  EXPECT(larger.format.size, sizeof larger);
  EXPECT(larger.format.plane_count, 2);
}

static void check_loans(void) {
  framebus_slot slot = loan(), second = FRAMEBUS_SLOT_INIT;
  EXPECT_ERROR(framebus_publisher_loan(publisher, 0, NULL, &second, &error),
               FRAMEBUS_ERROR_LIMIT);
  EXPECT_ERROR(framebus_publisher_loan(publisher, 0, NULL, NULL, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_loan_publish(slot.loan, NULL, 1, NULL, &error), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_loan_publish(slot.loan, NULL, UINT64_MAX - 1, NULL, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  framebus_metadata metadata = {.size = sizeof metadata, .orientation = 9};
  EXPECT_ERROR(framebus_loan_publish(slot.loan, &metadata, FRAMEBUS_WHOLE, NULL, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  metadata.orientation = 1;
  metadata.damage_count = 5;
  EXPECT_ERROR(framebus_loan_publish(slot.loan, &metadata, FRAMEBUS_WHOLE, NULL, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(framebus_loan_abandon(slot.loan), 0);
  EXPECT(framebus_loan_abandon(slot.loan), FRAMEBUS_ERROR_HANDLE);
  EXPECT_ERROR(framebus_loan_publish(slot.loan, NULL, FRAMEBUS_WHOLE, NULL, &error),
               FRAMEBUS_ERROR_HANDLE);
  EXPECT(framebus_publisher_pause(publisher, FRAMEBUS_PAUSE_REQUESTED, &error), 0);
  EXPECT_ERROR(framebus_publisher_loan(publisher, 0, NULL, &slot, &error),
               FRAMEBUS_ERROR_PAUSED);
  EXPECT_ERROR(framebus_publisher_pause(publisher, 9, &error), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(framebus_publisher_resume(publisher, &error), 0);
  EXPECT_ERROR(framebus_publisher_set_application(publisher, "a\nb", &error),
               FRAMEBUS_ERROR_ARGUMENT);
}

static void check_leases(void) {
  framebus_slot slot = loan();
  fill(&slot, slot.capacity, 1);
  EXPECT(framebus_loan_publish(slot.loan, NULL, FRAMEBUS_WHOLE, NULL, &error), 0);
  framebus_frame frame = receive();
  slot = loan();
  EXPECT(framebus_loan_publish(slot.loan, NULL, FRAMEBUS_WHOLE, NULL, &error), 0);
  framebus_frame second = FRAMEBUS_FRAME_INIT;
  EXPECT_ERROR(framebus_subscriber_next(subscriber, 0, NULL, &second, &error),
               FRAMEBUS_ERROR_LIMIT);
  framebus_lease *released = frame.lease;
  EXPECT(framebus_lease_release(released), 0);
  EXPECT(framebus_lease_release(released), FRAMEBUS_ERROR_HANDLE);
  second = receive();
  // The place is in use again, and the old handle is still not valid.
  EXPECT(framebus_lease_release(released), FRAMEBUS_ERROR_HANDLE);
  framebus_format format = {.size = sizeof format};
  EXPECT_ERROR(framebus_lease_format(released, &format, &error), FRAMEBUS_ERROR_HANDLE);
  EXPECT(framebus_lease_format(second.lease, &format, &error), 0);
  EXPECT_ERROR(framebus_lease_format(second.lease, NULL, &error), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(framebus_subscriber_close(subscriber), 0);
  EXPECT(framebus_subscriber_close(subscriber), FRAMEBUS_ERROR_HANDLE);
  EXPECT_ERROR(framebus_subscriber_next(subscriber, 0, NULL, &frame, &error),
               FRAMEBUS_ERROR_HANDLE);
  // A lease outlives its subscriber.
  EXPECT(framebus_lease_format(second.lease, &format, &error), 0);
  EXPECT(framebus_lease_release(second.lease), 0);
  EXPECT(framebus_lease_release(second.lease), FRAMEBUS_ERROR_HANDLE);
}

static void check_subscribers(void) {
  framebus_subscriber *none;
  framebus_subscriber_options options = FRAMEBUS_SUBSCRIBER_OPTIONS_INIT;
  EXPECT_ERROR(framebus_subscriber_open(group, "nothing", NULL, 0, NULL, &none, &error),
               FRAMEBUS_ERROR_NOT_FOUND);
  EXPECT_ERROR(framebus_subscriber_open(group, NULL, NULL, 0, NULL, &none, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  for (uint32_t *field = &options.policy; field <= &options.verifies_checksums; field++) {
    *field = 99;
    if (field != &options.policy_count) {
      EXPECT_ERROR(framebus_subscriber_open(group, "screen", &options, 0, NULL, &none, &error),
                   FRAMEBUS_ERROR_ARGUMENT);
    }
    *field = 0;
  }
  options.policy = FRAMEBUS_POLICY_LOSSLESS;
  EXPECT_ERROR(framebus_subscriber_open(group, "screen", &options, 0, NULL, &none, &error),
               FRAMEBUS_ERROR_REFUSED);
  EXPECT(framebus_subscriber_descriptor(subscriber), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_subscriber_set_demand(subscriber, 1, 0, 0, 0, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_subscriber_set_utilization(subscriber, 2, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  framebus_frame frame = FRAMEBUS_FRAME_INIT;
  EXPECT_ERROR(framebus_subscriber_copy_next(subscriber, NULL, 0, &frame, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  // A stop ends waits, also later ones.
  framebus_stop *stop;
  EXPECT(framebus_stop_open(&stop, &error), 0);
  EXPECT(framebus_stop_raise(stop), 0);
  EXPECT(framebus_subscriber_next(subscriber, FRAMEBUS_NEVER, stop, &frame, &error),
         FRAMEBUS_STOPPED);
  EXPECT(framebus_subscriber_open(group, "nothing", NULL, FRAMEBUS_NEVER, stop, &none, &error),
         FRAMEBUS_STOPPED);
  EXPECT(framebus_stop_close(stop), 0);
  EXPECT(framebus_stop_close(stop), FRAMEBUS_ERROR_HANDLE);
}

static void check_fork(void) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    framebus_group *none;
    framebus_frame frame = FRAMEBUS_FRAME_INIT;
    EXPECT_ERROR(framebus_subscriber_next(subscriber, 0, NULL, &frame, &error),
                 FRAMEBUS_ERROR_FORKED);
    EXPECT_ERROR(framebus_publisher_close(publisher, 1, &error), FRAMEBUS_ERROR_FORKED);
    EXPECT_ERROR(framebus_group_open(NULL, NULL, &none, &error), FRAMEBUS_ERROR_FORKED);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  EXPECT(status, 0);
}

// Whether a thread of this process still runs and is the library's, and which signals it has
// blocked. Those of a sanitizer have the program's name.
static int is_own(const char *task, unsigned long long *blocked) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/self/task/%.16s/status", task);
  FILE *status = fopen(path, "r");
  int is_named = 0, is_found = 0;
  while (status != NULL && !is_found && fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, "Name:", 5) == 0) is_named = strstr(line, "Arguments") == NULL;
    is_found = is_named && sscanf(line, "SigBlk: %llx", blocked) == 1;
  }
  if (status != NULL) fclose(status);
  return is_found;
}

static int blocks(unsigned long long blocked, int signal) { return blocked >> (signal - 1) & 1; }

// The library's threads leave the program's signals to the program's.
static void check_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  int others = 0;
  for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
    if (task->d_name[0] == '.' || atoi(task->d_name) == getpid()) continue;
    unsigned long long blocked;
    int is_there = is_own(task->d_name, &blocked);
    // The C library blocks all signals of a thread that is about to end.
    for (int tries = 0; tries < 60000 && is_there && blocks(blocked, SIGBUS); tries++) {
      poll(NULL, 0, 1);
      is_there = is_own(task->d_name, &blocked);
    }
    if (!is_there) continue;
    EXPECT(blocks(blocked, SIGTERM), 1);
    EXPECT(blocks(blocked, SIGPROF), 1);
    EXPECT(blocks(blocked, SIGBUS), 0);
    others++;
  }
  closedir(tasks);
  EXPECT(others > 0, 1);
}

// Whether this process has mapped an address.
static int is_mapped(void *address) {
  unsigned char page;
  uintptr_t start = (uintptr_t)address / 4096 * 4096;
  return mincore((void *)start, 1, &page) == 0;
}

// Whether it is not, when the threads of an ended stream have ended.
static int is_gone(void *address) {
  for (int tries = 0; tries < 60000 && is_mapped(address); tries++) poll(NULL, 0, 1);
  return !is_mapped(address);
}

// What is left of a stream that ended: its name is free, and loans keep its memory.
static void check_end(void) {
  framebus_publisher *next;
  framebus_publisher_options options = FRAMEBUS_PUBLISHER_OPTIONS_INIT;
  options.maximum_loans = 3;
  framebus_format format = picture(64, 4);
  framebus_slot slots[3] = {FRAMEBUS_SLOT_INIT, FRAMEBUS_SLOT_INIT, FRAMEBUS_SLOT_INIT};
  EXPECT_ERROR(framebus_publisher_finish(publisher, 9, &error), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_publisher_close(publisher, 9, &error), FRAMEBUS_ERROR_ARGUMENT);
  framebus_slot slot = loan();
  EXPECT(framebus_publisher_finish(publisher, FRAMEBUS_END_ENDED, &error), 0);
  EXPECT(framebus_publisher_finish(publisher, FRAMEBUS_END_ENDED, &error), FRAMEBUS_FINISHED);
  EXPECT(framebus_publisher_open(group, "screen", &format, &options, &next, &error), 0);
  framebus_publisher_status status = {.size = sizeof status};
  EXPECT(framebus_publisher_get_status(publisher, &status, &error), 0);
  EXPECT(status.loan_count, 1);
  EXPECT(status.published_count > 0, 1);
  EXPECT(framebus_publisher_loan(publisher, 0, NULL, slots, &error), FRAMEBUS_FINISHED);
  EXPECT(framebus_publisher_set_format(publisher, &format, &error), FRAMEBUS_FINISHED);
  EXPECT(framebus_publisher_wait(publisher, FRAMEBUS_NEVER, NULL, &error), FRAMEBUS_FINISHED);
  EXPECT(framebus_publisher_pause(publisher, 1, &error), FRAMEBUS_FINISHED);
  EXPECT_ERROR(framebus_publisher_loan_descriptor(publisher, &error), FRAMEBUS_ERROR_ARGUMENT);
  fill(&slot, slot.capacity, 7);
  EXPECT(framebus_loan_publish(slot.loan, NULL, FRAMEBUS_WHOLE, NULL, &error), FRAMEBUS_FINISHED);
  EXPECT(framebus_loan_abandon(slot.loan), FRAMEBUS_ERROR_HANDLE);
  // Its publisher is not closed.
  fill(&slot, slot.capacity, 8);
  EXPECT(framebus_publisher_close(publisher, FRAMEBUS_END_ENDED, &error), 0);
  EXPECT(framebus_publisher_close(publisher, FRAMEBUS_END_ENDED, &error), FRAMEBUS_ERROR_HANDLE);
  EXPECT(is_gone(slot.bytes), 1);

  for (int index = 0; index < 3; index++) {
    EXPECT(framebus_publisher_loan(next, 0, NULL, slots + index, &error), 0);
  }
  EXPECT(framebus_publisher_close(next, FRAMEBUS_END_ENDED, &error), 0);
  EXPECT(framebus_publisher_open(group, "screen", &format, &options, &next, &error), 0);
  for (int index = 0; index < 3; index++) fill(slots + index, slots[index].capacity, 9);
  EXPECT(framebus_loan_abandon(slots[1].loan), 0);
  EXPECT(framebus_loan_abandon(slots[1].loan), FRAMEBUS_ERROR_HANDLE);
  EXPECT(framebus_loan_publish(slots[0].loan, NULL, FRAMEBUS_WHOLE, NULL, &error),
         FRAMEBUS_FINISHED);
  EXPECT(is_mapped(slots[2].bytes), 1);
  EXPECT(framebus_loan_abandon(slots[2].loan), 0);
  EXPECT(is_gone(slots[2].bytes), 1);
  EXPECT(framebus_publisher_close(next, FRAMEBUS_END_ENDED, &error), 0);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  EXPECT(framebus_abi_version(), FRAMEBUS_ABI_VERSION);
  for (int code = -20; code < 10; code++) EXPECT(strlen(framebus_strerror(code)) > 5, 1);
  check_groups(arguments[1], arguments[2]);
  group = open_group(arguments[1], arguments[2]);
  framebus_format format = picture(64, 4);
  EXPECT(framebus_publisher_open(group, "screen", &format, NULL, &publisher, &error), 0);
  EXPECT(framebus_publisher_wait(publisher, 0, NULL, &error), FRAMEBUS_TIMED_OUT);
  struct pollfd joined = {framebus_publisher_descriptor(publisher), POLLIN, 0};
  EXPECT(poll(&joined, 1, 0), 0);
  EXPECT(framebus_subscriber_open(group, "screen", NULL, 0, NULL, &subscriber, &error), 0);
  EXPECT(poll(&joined, 1, 60000), 1);
  framebus_publisher_status status = {.size = sizeof status};
  EXPECT(framebus_publisher_get_status(publisher, &status, &error), 0);
  EXPECT(status.subscriber_count, 1);
  EXPECT(poll(&joined, 1, 0), 0);
  check_handles();
  check_formats();
  check_loans();
  check_subscribers();
  check_fork();
  check_leases();
  check_threads();
  check_end();
  EXPECT(framebus_group_close(group), 0);
  printf("%d checks\n", checks);
}
