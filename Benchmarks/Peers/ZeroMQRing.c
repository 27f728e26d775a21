// ZeroMQ over ipc as a subject of `framebus bench ring`: XPUB and SUB, a message for each frame.
// The publisher fills the message it sends, so ZeroMQ itself copies nothing; the kernel copies
// twice.

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

#include "RingKit.h"

static void set(void *socket, int option, int value) {
  if (zmq_setsockopt(socket, option, &value, sizeof value) != 0) ring_fail("zmq_setsockopt");
}

static void *open_socket(const ring_job *job, int kind) {
  void *context = zmq_ctx_new();
  void *socket = zmq_socket(context, kind);
  if (socket == NULL) ring_fail("zmq_socket");
  set(socket, ZMQ_LINGER, 0);
  set(socket, ZMQ_SNDHWM, (int)job->depth);
  set(socket, ZMQ_RCVHWM, (int)job->depth);
  return socket;
}

static char *endpoint(const ring_job *job) {
  char *text = NULL;
  if (asprintf(&text, "ipc://%s/zeromq", job->directory) < 0) ring_fail("asprintf");
  return text;
}

// MARK: Publishing

static void send_message(void *socket, zmq_msg_t *message) {
  while (zmq_msg_send(message, socket, 0) < 0) {
    if (errno != EINTR) ring_fail("zmq_msg_send");
  }
}

static void new_message(zmq_msg_t *message, size_t bytes) {
  if (zmq_msg_init_size(message, bytes) != 0) ring_fail("zmq_msg_init_size");
}

static void publish(const ring_job *job) {
  void *socket = open_socket(job, ZMQ_XPUB);
  if (job->lossless) set(socket, ZMQ_XPUB_NODROP, 1);
  // Without this, subscriptions after the first are not reported as messages.
  set(socket, ZMQ_XPUB_VERBOSE, 1);
  if (zmq_bind(socket, endpoint(job)) != 0) ring_fail("zmq_bind");

  ring_publishing *run = ring_begin_publishing(job);
  for (unsigned count = 0; count < job->subscribers; count++) {
    char subscription[2];
    if (zmq_recv(socket, subscription, sizeof subscription, 0) < 0) ring_fail("zmq_recv");
  }
  zmq_msg_t message;
  while (ring_next(run)) {
    new_message(&message, job->bytes);
    ring_write(run, zmq_msg_data(&message));
    send_message(socket, &message);
  }
  while (ring_unreleased(run)) {
    new_message(&message, job->bytes);
    ring_write_end(zmq_msg_data(&message));
    send_message(socket, &message);
  }
  ring_report_publishing(run);
}

// MARK: Receiving

static void receive(const ring_job *job, void *socket, zmq_msg_t *message) {
  while (zmq_msg_recv(message, socket, job->polls ? ZMQ_DONTWAIT : 0) < 0) {
    if (errno != EAGAIN && errno != EINTR) ring_fail("zmq_msg_recv");
    ring_relax();
  }
}

static void subscribe(const ring_job *job) {
  void *socket = open_socket(job, ZMQ_SUB);
  if (zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0) != 0) ring_fail("zmq_setsockopt");
  if (zmq_connect(socket, endpoint(job)) != 0) ring_fail("zmq_connect");
  ring_receiving *run = ring_begin_receiving(job);
  if (!ring_idles(run)) {
    bool goes_on = true;
    zmq_msg_t message;
    zmq_msg_init(&message);
    while (goes_on) {
      receive(job, socket, &message);
      goes_on = ring_take(run, zmq_msg_data(&message));
    }
  }
  ring_report_receiving(run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  int major, minor, patch;
  zmq_version(&major, &minor, &patch);
  char version[64];
  snprintf(version, sizeof version, "ZeroMQ %d.%d.%d", major, minor, patch);
  ring_print_version(version);
  if (job.publishes) {
    publish(&job);
  } else {
    subscribe(&job);
  }
  // The figures are printed, and nothing is left to send.
  return 0;
}
