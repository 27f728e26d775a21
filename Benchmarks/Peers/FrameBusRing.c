// FrameBus through its C interface, as a subject of `framebus bench ring`: what a program in C does
// in place of Benchmarks/BusRing.
#define _GNU_SOURCE
#include <framebus.h>
#include <stdio.h>
#include <stdlib.h>

#include "RingKit.h"

static framebus_error error = FRAMEBUS_ERROR_INIT;

static void check(int result) {
  if (result == FRAMEBUS_OK) return;
  fprintf(stderr, "error: %s\n", error.message);
  exit(1);
}

static void *loan(framebus_publisher *publisher, const ring_job *job, framebus_slot *slot) {
  uint64_t deadline = job->lossless && !job->polls ? FRAMEBUS_NEVER : 0;
  int result;
  while ((result = framebus_publisher_loan(publisher, deadline, NULL, slot, &error)) ==
         FRAMEBUS_ERROR_BACKPRESSURE) {
    ring_relax();
  }
  check(result);
  return slot->bytes;
}

// Receives the frame that this thread has published.
static void receive(framebus_subscriber *subscriber) {
  framebus_frame frame = FRAMEBUS_FRAME_INIT;
  check(framebus_subscriber_next(subscriber, 0, NULL, &frame, &error));
  if (*(const uint64_t *)frame.bytes == RING_END) exit(4);
  framebus_lease_release(frame.lease);
}

static void publish(framebus_group *group, const ring_job *job) {
  framebus_publisher_options options = FRAMEBUS_PUBLISHER_OPTIONS_INIT;
  options.ring_depth = job->depth;
  options.allows_lossless = job->lossless;
  framebus_format format = {
      .size = sizeof format, .byte_count = job->bytes, .kind = FRAMEBUS_KIND_DATA};
  framebus_publisher *publisher;
  check(framebus_publisher_open(group, "bench", &format, &options, &publisher, &error));
  framebus_subscriber *own = NULL;
  if (job->receives) check(framebus_subscriber_open(group, "bench", NULL, 0, NULL, &own, &error));
  ring_publishing *run = ring_begin_publishing(job);
  framebus_slot slot = FRAMEBUS_SLOT_INIT;
  while (ring_next(run)) {
    ring_write(run, loan(publisher, job, &slot));
    framebus_loan_publish(slot.loan, NULL, FRAMEBUS_WHOLE, NULL, NULL);
    if (own != NULL) receive(own);
  }
  while (ring_unreleased(run)) {
    if (framebus_publisher_loan(publisher, 0, NULL, &slot, NULL) != FRAMEBUS_OK) continue;
    ring_write_end(slot.bytes);
    framebus_loan_publish(slot.loan, NULL, FRAMEBUS_WHOLE, NULL, NULL);
  }
  ring_report_publishing(run);
  framebus_publisher_close(publisher, FRAMEBUS_END_ENDED, NULL);
}

static void subscribe(framebus_group *group, const ring_job *job) {
  framebus_subscriber_options options = FRAMEBUS_SUBSCRIBER_OPTIONS_INIT;
  options.start = FRAMEBUS_START_NEXT;
  if (job->lossless) options.policy = FRAMEBUS_POLICY_LOSSLESS;
  options.lossless_limit_ns = 30000000000;
  framebus_subscriber *subscriber;
  check(framebus_subscriber_open(group, "bench", &options, 0, NULL, &subscriber, &error));
  ring_receiving *run = ring_begin_receiving(job);
  uint64_t deadline = job->polls ? 0 : FRAMEBUS_NEVER;
  framebus_frame frame = FRAMEBUS_FRAME_INIT;
  for (bool goes_on = !ring_idles(run); goes_on;) {
    int result = framebus_subscriber_next(subscriber, deadline, NULL, &frame, &error);
    if (result == FRAMEBUS_TIMED_OUT) {
      ring_relax();
      continue;
    }
    check(result);
    goes_on = ring_take(run, frame.bytes);
    framebus_lease_release(frame.lease);
  }
  ring_report_receiving(run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  ring_print_version("FrameBus in C");
  framebus_group *group;
  check(framebus_group_open(NULL, job.directory, &group, &error));
  if (job.publishes) {
    publish(group, &job);
  } else {
    subscribe(group, &job);
  }
}
