// What a group shares besides frames, through the C interface.
//
//   Group ROOT GROUP [SERVICE ACCOUNT]     all checks; with a credential, prints its bytes
#define _GNU_SOURCE
#include <framebus-group.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "Check.h"

static framebus_group *group;
static const uint64_t minute = 60000000000;

static int is_readable(int descriptor, int milliseconds) {
  struct pollfd waiting = {descriptor, POLLIN, 0};
  return poll(&waiting, 1, milliseconds);
}

static void check_notifications(void) {
  framebus_notifications *center;
  framebus_observation *observation;
  framebus_delivery delivery = {.size = sizeof delivery};
  EXPECT_ERROR(framebus_notifications_open(group, "Not a role", &center, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_notifications_open(group, "unknown", &center, &error),
               FRAMEBUS_ERROR_PERMISSION);
  EXPECT(framebus_notifications_open(group, "host", &center, &error), 0);
  EXPECT_ERROR(framebus_notifications_post(center, "", NULL, &error), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(framebus_observation_open(center, "org.example.a", &observation, &error), 0);
  int descriptor = framebus_observation_descriptor(observation);
  EXPECT(is_readable(descriptor, 0), 0);
  EXPECT(framebus_observation_next(observation, 0, NULL, &delivery, &error), FRAMEBUS_TIMED_OUT);
  uint64_t total, state;
  EXPECT(framebus_notifications_set_state(center, "org.example.a", 7, &error), 0);
  EXPECT(framebus_notifications_post(center, "org.example.a", &total, &error), 0);
  EXPECT(framebus_notifications_post(center, "org.example.a", &total, &error), 0);
  EXPECT(total, 2);
  EXPECT(is_readable(descriptor, 60000), 1);
  uint64_t posts = 0;
  while (posts < 2) {
    EXPECT(framebus_observation_next(observation, framebus_after_ns(minute), NULL, &delivery,
                                     &error), FRAMEBUS_OK);
    posts += delivery.coalesced_count;
  }
  EXPECT(delivery.total_count, 2);
  EXPECT(delivery.state, 7);
  EXPECT(framebus_notifications_get_state(center, "org.example.a", &state, &error), 0);
  EXPECT(state, 7);
  EXPECT(framebus_notifications_close(center), 0);
  EXPECT(framebus_observation_close(observation), 0);
  EXPECT(framebus_observation_close(observation), FRAMEBUS_ERROR_HANDLE);
  EXPECT_ERROR(framebus_notifications_post(center, "org.example.a", NULL, &error),
               FRAMEBUS_ERROR_HANDLE);
}

static void check_settings(void) {
  framebus_settings *settings;
  framebus_settings_observation *observation;
  int boolean;
  int64_t integer;
  double number;
  char text[16] = "unchanged", key[FRAMEBUS_MAXIMUM_KEY_BYTES + 1];
  size_t length;
  uint32_t type;
  EXPECT_ERROR(framebus_settings_open(group, "no/suite", &settings, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(framebus_settings_open(group, NULL, &settings, &error), 0);
  EXPECT_ERROR(framebus_settings_get_integer(settings, "bitrate", &integer, &error),
               FRAMEBUS_ERROR_NOT_FOUND);
  EXPECT(framebus_settings_observe(settings, NULL, &observation, &error), 0);
  int descriptor = framebus_settings_observation_descriptor(observation);
  EXPECT(is_readable(descriptor, 0), 0);
  EXPECT(framebus_settings_set_integer(settings, "bitrate", -4000000000, &error), 0);
  EXPECT(is_readable(descriptor, 60000), 1);
  EXPECT_ERROR(framebus_settings_observation_next(observation, 0, NULL, key, 3, &error),
               FRAMEBUS_ERROR_LIMIT);
  EXPECT(framebus_settings_observation_next(observation, 0, NULL, key, sizeof key, &error), 0);
  EXPECT(strcmp(key, "bitrate"), 0);
  EXPECT(framebus_settings_observation_next(observation, 0, NULL, key, sizeof key, &error),
         FRAMEBUS_TIMED_OUT);
  EXPECT(is_readable(descriptor, 0), 0);
  EXPECT(framebus_settings_get_integer(settings, "bitrate", &integer, &error), 0);
  EXPECT(integer, -4000000000);
  EXPECT_ERROR(framebus_settings_get_double(settings, "bitrate", &number, &error),
               FRAMEBUS_ERROR_TYPE);
  EXPECT(framebus_settings_get_type(settings, "bitrate", &type, &error), 0);
  EXPECT(type, FRAMEBUS_TYPE_INTEGER);
  EXPECT(framebus_settings_set_bool(settings, "mirror", 5, &error), 0);
  EXPECT(framebus_settings_get_bool(settings, "mirror", &boolean, &error), 0);
  EXPECT(boolean, 1);
  EXPECT(framebus_settings_set_double(settings, "gain", 0.5, &error), 0);
  EXPECT(framebus_settings_get_double(settings, "gain", &number, &error), 0);
  EXPECT(number == 0.5, 1);
  EXPECT(framebus_settings_set_text(settings, "title", "fünf", &error), 0);
  EXPECT_ERROR(framebus_settings_get_text(settings, "title", text, 5, &length, &error),
               FRAMEBUS_ERROR_LIMIT);
  EXPECT(length, 5);
  EXPECT(strcmp(text, "unchanged"), 0);
  EXPECT(framebus_settings_get_text(settings, "title", text, 6, &length, &error), 0);
  EXPECT(strcmp(text, "fünf"), 0);
  EXPECT(framebus_settings_set_bytes(settings, "raw", "a\0b", 3, &error), 0);
  EXPECT(framebus_settings_get_bytes(settings, "raw", text, 3, &length, &error), 0);
  EXPECT(memcmp(text, "a\0b", 3), 0);
  EXPECT_ERROR(framebus_settings_set_text(settings, "password", "x", &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_settings_set_text(settings, "title", "\xff", &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_settings_set_text(settings, "", "x", &error), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(framebus_settings_synchronize(settings, &error), 0);
  EXPECT(framebus_settings_remove(settings, "title", &error), 0);
  EXPECT_ERROR(framebus_settings_get_text(settings, "title", text, 6, &length, &error),
               FRAMEBUS_ERROR_NOT_FOUND);
  EXPECT(framebus_settings_close(settings), 0);
  EXPECT(framebus_settings_observation_close(observation), 0);
  EXPECT(framebus_settings_observation_close(observation), FRAMEBUS_ERROR_HANDLE);
}

static void check_log(void) {
  framebus_log *log;
  framebus_log_field fields[] = {{"frames", "250", 0, 0}, {"server", "example.com", 1, 0}};
  EXPECT_ERROR(framebus_log_open(group, "host", 9, &log, &error), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(framebus_log_open(group, "host", FRAMEBUS_LOG_WARNING, &log, &error), 0);
  EXPECT(framebus_log_writes(log, FRAMEBUS_LOG_INFO), 0);
  EXPECT(framebus_log_writes(log, FRAMEBUS_LOG_ERROR), 1);
  EXPECT_ERROR(framebus_log_append(log, 0, NULL, "x", NULL, 0, &error), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_log_append(log, FRAMEBUS_LOG_ERROR, NULL, NULL, NULL, 0, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_log_append(log, FRAMEBUS_LOG_ERROR, NULL, "x", NULL, 1, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(framebus_log_append(log, FRAMEBUS_LOG_INFO, "c", "not written", NULL, 0, &error), 0);
  EXPECT(framebus_log_append(log, FRAMEBUS_LOG_ERROR, "c", "written from C", fields, 2, &error),
         0);
  EXPECT(framebus_log_flush(log, framebus_after_ns(minute), &error), 0);
  EXPECT(framebus_log_close(log, framebus_after_ns(minute), &error), 0);
  EXPECT_ERROR(framebus_log_append(log, FRAMEBUS_LOG_ERROR, NULL, "x", NULL, 0, &error),
               FRAMEBUS_ERROR_HANDLE);
}

static void check_semaphores(void) {
  framebus_semaphore *one, *other;
  uint32_t value;
  EXPECT_ERROR(framebus_semaphore_open(group, "gpu", &one, &error), FRAMEBUS_ERROR_NOT_FOUND);
  EXPECT_ERROR(framebus_semaphore_create(group, "Not a name", 1, 0, &one, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT_ERROR(framebus_semaphore_create(group, "gpu", 2000, 1, &one, &error),
               FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(framebus_semaphore_create(group, "gpu", 1, 1, &one, &error), 0);
  EXPECT_ERROR(framebus_semaphore_create(group, "gpu", 1, 1, &other, &error),
               FRAMEBUS_ERROR_EXISTS);
  EXPECT(framebus_semaphore_open(group, "gpu", &other, &error), 0);
  EXPECT(framebus_semaphore_wait(one, 0, NULL, &error), FRAMEBUS_OK);
  EXPECT(framebus_semaphore_wait(other, 0, NULL, &error), FRAMEBUS_TIMED_OUT);
  framebus_stop *stop;
  EXPECT(framebus_stop_open(&stop, &error), 0);
  EXPECT(framebus_stop_raise(stop), 0);
  EXPECT(framebus_semaphore_wait(other, FRAMEBUS_NEVER, stop, &error), FRAMEBUS_STOPPED);
  EXPECT(framebus_stop_close(stop), 0);
  // The permit comes back with its holder's handle.
  EXPECT(framebus_semaphore_close(one), 0);
  EXPECT(framebus_semaphore_get_value(other, &value, &error), 0);
  EXPECT(value, 1);
  EXPECT(framebus_semaphore_wait(other, framebus_after_ns(minute), NULL, &error), FRAMEBUS_OK);
  EXPECT(framebus_semaphore_post(other, &error), 0);
  EXPECT(framebus_semaphore_remove(group, "gpu", &error), 0);
  EXPECT_ERROR(framebus_semaphore_post(other, &error), FRAMEBUS_ERROR_NOT_FOUND);
  EXPECT(framebus_semaphore_close(other), 0);
  EXPECT_ERROR(framebus_semaphore_post(other, &error), FRAMEBUS_ERROR_HANDLE);
}

static void check_credential(const char *service, const char *account) {
  framebus_secret *secret;
  const void *bytes;
  size_t count;
  EXPECT_ERROR(framebus_secret_open(group, "host", service, "nobody", NULL, &secret, &error),
               FRAMEBUS_ERROR_NOT_FOUND);
  EXPECT(framebus_secret_open(group, "host", service, account, NULL, &secret, &error), 0);
  EXPECT(framebus_secret_get(secret, &bytes, &count, &error), 0);
  printf("secret %.*s\n", (int)count, (const char *)bytes);
  fflush(stdout);
  // A child that is forked meanwhile has none of it.
  pid_t child = fork();
  int status, bits = 0;
  if (child == 0) {
    for (size_t index = 0; index < count; index++) bits |= ((const char *)bytes)[index];
    _exit(bits == 0 ? 0 : 1);
  }
  waitpid(child, &status, 0);
  EXPECT(status, 0);
  EXPECT(framebus_secret_close(secret), 0);
  EXPECT_ERROR(framebus_secret_get(secret, &bytes, &count, &error), FRAMEBUS_ERROR_HANDLE);
  // The memory is gone: reading it ends a process.
  child = fork();
  // A sanitizer's handler would end it otherwise.
  if (child == 0) signal(SIGSEGV, SIG_DFL);
  if (child == 0) _exit(*(volatile const char *)bytes);
  waitpid(child, &status, 0);
  EXPECT(WIFSIGNALED(status), 1);
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  group = open_group(arguments[1], arguments[2]);
  if (count > 4) {
    check_credential(arguments[3], arguments[4]);
  } else {
    check_notifications();
    check_settings();
    check_log();
    check_semaphores();
  }
  EXPECT(framebus_group_close(group), 0);
  printf("%d checks\n", checks);
}
