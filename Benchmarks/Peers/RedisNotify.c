// Redis as a subject of `framebus bench notify`: PUBLISH and SUBSCRIBE over a Unix socket, in its
// protocol (RESP), to the turn's own server without persistence.

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "RingKit.h"

static void start_server(const ring_job *job) {
  char *socket = ring_path(job, "redis");
  char *arguments[] = {
      "redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no",
      NULL};
  ring_start_daemon(arguments, socket);
  free(socket);
}

static int connect_to(const ring_job *job) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char *path = ring_path(job, "redis");
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  free(path);
  int number = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number < 0) ring_fail("socket");
  if (connect(number, (struct sockaddr *)&address, sizeof address) != 0) ring_fail("connect");
  return number;
}

static void send_all(int number, const void *bytes, size_t count) {
  if (send(number, bytes, count, MSG_NOSIGNAL) != (ssize_t)count) ring_fail("send");
}

/// Reads exactly `count` bytes.
static void receive_all(int number, void *bytes, size_t count) {
  if (recv(number, bytes, count, MSG_WAITALL) != (ssize_t)count) ring_fail("recv");
}

// MARK: Posting

static void post(int number, const ring_head *head) {
  static const char command[] = "*3\r\n$7\r\nPUBLISH\r\n$1\r\nb\r\n$16\r\n";
  char bytes[sizeof command - 1 + sizeof *head + 2];
  memcpy(bytes, command, sizeof command - 1);
  memcpy(bytes + sizeof command - 1, head, sizeof *head);
  memcpy(bytes + sizeof bytes - 2, "\r\n", 2);
  send_all(number, bytes, sizeof bytes);
  // Reads the number of receivers, one line.
  for (char byte = 0; byte != '\n';) receive_all(number, &byte, 1);
}

static void publish(const ring_job *job) {
  start_server(job);
  int number = connect_to(job);
  ring_head head = {0};
  ring_publishing *run = ring_begin_publishing(job);
  while (ring_next(run)) {
    ring_write(run, &head);
    post(number, &head);
    ring_posted(run, &head);
  }
  ring_write_end(&head);
  while (ring_unreleased(run)) post(number, &head);
  ring_report_publishing(run);
}

// MARK: Observing

static void observe(const ring_job *job) {
  static const char command[] = "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nb\r\n";
  static const char answer[] = "*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:1\r\n";
  static const char heading[] = "*3\r\n$7\r\nmessage\r\n$1\r\nb\r\n$16\r\n";
  int number = connect_to(job);
  send_all(number, command, sizeof command - 1);
  char bytes[64];
  receive_all(number, bytes, sizeof answer - 1);
  ring_head head = {0};
  ring_receiving *run = ring_begin_receiving(job);
  do {
    ring_work(run);
    receive_all(number, bytes, sizeof heading - 1 + sizeof head + 2);
    memcpy(&head, bytes + sizeof heading - 1, sizeof head);
  } while (ring_take(run, &head));
  ring_report_receiving(run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  ring_print_version("redis-server, RESP");
  if (job.publishes) {
    publish(&job);
  } else {
    observe(&job);
  }
  return 0;
}
