// A Unix stream socket as a subject of `framebus bench ring`: each frame is written to each
// subscriber and read by it, with two copies by the kernel, as without shared memory.

#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "RingKit.h"

static struct sockaddr_un address_of(const ring_job *job) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char *path = ring_path(job, "socket");
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  free(path);
  return address;
}

static int open_socket(void) {
  int number = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number < 0) ring_fail("socket");
  return number;
}

static uint8_t *allocate(size_t bytes) {
  uint8_t *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (memory == NULL) ring_fail("aligned_alloc");
  return memset(memory, 0, bytes);
}

// MARK: Publishing

/// Returns false if the subscriber has closed the connection.
static bool send_all(int number, const uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t sent = send(number, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    bytes += sent;
    count -= (size_t)sent;
  }
  return true;
}

static void publish(const ring_job *job) {
  int listener = open_socket();
  struct sockaddr_un address = address_of(job);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0) ring_fail("bind");
  if (listen(listener, (int)job->subscribers) != 0) ring_fail("listen");
  uint8_t *frame = allocate(job->bytes);

  ring_publishing *run = ring_begin_publishing(job);
  int subscribers[64];
  for (unsigned index = 0; index < job->subscribers; index++) {
    subscribers[index] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (subscribers[index] < 0) ring_fail("accept4");
  }
  while (ring_next(run)) {
    ring_write(run, frame);
    for (unsigned index = 0; index < job->subscribers; index++) {
      if (!send_all(subscribers[index], frame, job->bytes)) ring_fail("send");
    }
  }
  ring_write_end(frame);
  while (ring_unreleased(run)) {
    for (unsigned index = 0; index < job->subscribers; index++) {
      (void)send_all(subscribers[index], frame, job->bytes);
    }
  }
  ring_report_publishing(run);
}

// MARK: Receiving

static void receive_all(const ring_job *job, int number, uint8_t *bytes) {
  size_t count = job->bytes;
  while (count > 0) {
    ssize_t received = recv(number, bytes, count, job->polls ? MSG_DONTWAIT : 0);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) {
      ring_relax();
      continue;
    }
    if (received <= 0) ring_fail("recv");
    bytes += received;
    count -= (size_t)received;
  }
}

static void subscribe(const ring_job *job) {
  int number = open_socket();
  struct sockaddr_un address = address_of(job);
  if (connect(number, (struct sockaddr *)&address, sizeof address) != 0) ring_fail("connect");
  uint8_t *frame = allocate(job->bytes);
  ring_receiving *run = ring_begin_receiving(job);
  do {
    receive_all(job, number, frame);
  } while (ring_take(run, frame));
  ring_report_receiving(run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  ring_print_version("SOCK_STREAM");
  if (job.publishes) {
    publish(&job);
  } else {
    subscribe(&job);
  }
  return 0;
}
