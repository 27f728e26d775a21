// D-Bus as a subject of `framebus bench notify`: a signal on the turn's own bus, sent and received
// with sd-bus.

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>

#include "RingKit.h"

static const char path[] = "/bench", interface[] = "org.framebus.Bench", member[] = "Posted";

static void check(int result, const char *what) {
  if (result >= 0) return;
  errno = -result;
  ring_fail(what);
}

static sd_bus *connect_to(const ring_job *job) {
  char *address = NULL;
  if (asprintf(&address, "unix:path=%s/bus", job->directory) < 0) ring_fail("asprintf");
  sd_bus *bus = NULL;
  check(sd_bus_new(&bus), "sd_bus_new");
  check(sd_bus_set_address(bus, address), "sd_bus_set_address");
  check(sd_bus_set_bus_client(bus, 1), "sd_bus_set_bus_client");
  check(sd_bus_start(bus), "sd_bus_start");
  free(address);
  return bus;
}

static void start_bus(const ring_job *job) {
  char *socket = ring_path(job, "bus"), *option = NULL;
  if (asprintf(&option, "--address=unix:path=%s", socket) < 0) ring_fail("asprintf");
  char *arguments[] = {"dbus-daemon", "--session", "--nofork", "--nopidfile", option, NULL};
  ring_start_daemon(arguments, socket);
  free(option);
  free(socket);
}

// MARK: Posting

static void post(sd_bus *bus, const ring_head *head) {
  check(
      sd_bus_emit_signal(bus, path, interface, member, "tt", head->stamp, head->number),
      "sd_bus_emit_signal");
  check(sd_bus_flush(bus), "sd_bus_flush");
}

static void publish(const ring_job *job) {
  start_bus(job);
  sd_bus *bus = connect_to(job);
  ring_head head = {0};
  ring_publishing *run = ring_begin_publishing(job);
  while (ring_next(run)) {
    ring_write(run, &head);
    post(bus, &head);
    ring_posted(run, &head);
  }
  ring_write_end(&head);
  while (ring_unreleased(run)) post(bus, &head);
  ring_report_publishing(run);
}

// MARK: Observing

typedef struct {
  ring_receiving *run;
  bool is_over;
} observer;

static int take(sd_bus_message *message, void *context, sd_bus_error *error) {
  (void)error;
  observer *self = context;
  ring_head head;
  check(sd_bus_message_read(message, "tt", &head.stamp, &head.number), "sd_bus_message_read");
  if (self->run == NULL) return 0;
  if (!ring_take(self->run, &head)) self->is_over = true;
  ring_work(self->run);
  return 0;
}

static void observe(const ring_job *job) {
  sd_bus *bus = connect_to(job);
  observer self = {0};
  check(
      sd_bus_match_signal(bus, NULL, NULL, path, interface, member, take, &self),
      "sd_bus_match_signal");
  self.run = ring_begin_receiving(job);
  while (!self.is_over) {
    int result = sd_bus_process(bus, NULL);
    check(result, "sd_bus_process");
    if (result == 0) check(sd_bus_wait(bus, UINT64_MAX), "sd_bus_wait");
  }
  ring_report_receiving(self.run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  ring_print_version("dbus-daemon, sd-bus");
  if (job.publishes) {
    publish(&job);
  } else {
    observe(&job);
  }
  return 0;
}
