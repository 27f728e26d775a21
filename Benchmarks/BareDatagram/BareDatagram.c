// The baseline of `framebus bench notify`: a Unix datagram to each observer, over a connected
// socket. A datagram for a full queue is dropped.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "RingKit.h"

static const char prefix[] = "observer-";

static int open_socket(void) {
  int number = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (number < 0) ring_fail("socket");
  return number;
}

static struct sockaddr_un address_of(const ring_job *job, const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char *path = ring_path(job, name);
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  free(path);
  return address;
}

/// Connects a socket to each observer.
static unsigned find_observers(const ring_job *job, int *sockets) {
  DIR *directory = opendir(job->directory);
  if (directory == NULL) ring_fail(job->directory);
  unsigned count = 0;
  for (struct dirent *entry; count < job->subscribers && (entry = readdir(directory)) != NULL;) {
    if (strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0) continue;
    struct sockaddr_un address = address_of(job, entry->d_name);
    sockets[count] = open_socket();
    if (connect(sockets[count], (struct sockaddr *)&address, sizeof address) != 0) {
      ring_fail("connect");
    }
    count++;
  }
  closedir(directory);
  return count;
}

static void post(const ring_head *head, const int *sockets, unsigned count) {
  for (unsigned index = 0; index < count; index++) {
    (void)send(sockets[index], head, sizeof *head, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

static void publish(const ring_job *job) {
  int *sockets = calloc(job->subscribers + 1, sizeof *sockets);
  if (sockets == NULL) ring_fail("calloc");
  ring_head head = {0};
  ring_publishing *run = ring_begin_publishing(job);
  unsigned count = find_observers(job, sockets);
  while (ring_next(run)) {
    ring_write(run, &head);
    post(&head, sockets, count);
    ring_posted(run, &head);
  }
  ring_write_end(&head);
  while (ring_unreleased(run)) post(&head, sockets, count);
  ring_report_publishing(run);
}

static void observe(const ring_job *job) {
  char name[64];
  snprintf(name, sizeof name, "%s%d", prefix, getpid());
  struct sockaddr_un address = address_of(job, name);
  int number = open_socket();
  if (bind(number, (struct sockaddr *)&address, sizeof address) != 0) ring_fail("bind");
  ring_head head = {0};
  ring_receiving *run = ring_begin_receiving(job);
  do {
    ring_work(run);
    if (recv(number, &head, sizeof head, 0) != sizeof head) ring_fail("recv");
  } while (ring_take(run, &head));
  ring_report_receiving(run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  ring_print_version("SOCK_DGRAM");
  if (job.publishes) {
    publish(&job);
  } else {
    observe(&job);
  }
  return 0;
}
