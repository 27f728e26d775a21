// The baseline of the notification rows of `framebus bench link`: the header of each post as a NATS
// message, without streams and without FrameBus, by libnats as its examples use it, but that each
// message is sent at once. The turn's own server is the publisher's child. A subscriber that relays
// has a child that receives the messages and sends each one to it.

#ifdef FRAMEBUS_MEDIA

#define _GNU_SOURCE
#include <LinkKit.h>
#include <nats/nats.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void require(natsStatus status, const char *what) {
  if (status == NATS_OK) return;
  fprintf(stderr, "error: %s: %s\n", what, natsStatus_GetText(status));
  exit(1);
}

static natsConnection *connect_to(int port) {
  char address[64];
  snprintf(address, sizeof address, "nats://127.0.0.1:%d", port);
  natsOptions *options = NULL;
  natsConnection *connection = NULL;
  require(natsOptions_Create(&options), "options");
  require(natsOptions_SetURL(options, address), "options");
  require(natsOptions_SetSendAsap(options, true), "options");
  require(natsConnection_Connect(&connection, options), address);
  natsOptions_Destroy(options);
  return connection;
}

static void publish(const ring_job *job) {
  natsConnection *connection = connect_to(link_start_server(job));
  ring_head head = {0};
  ring_publishing *run = ring_begin_publishing(job);
  while (ring_next(run)) {
    ring_write(run, &head);
    require(natsConnection_Publish(connection, "bench", &head, sizeof head), "publish");
    ring_posted(run, &head);
  }
  ring_write_end(&head);
  while (ring_unreleased(run)) {
    require(natsConnection_Publish(connection, "bench", &head, sizeof head), "publish");
  }
  ring_report_publishing(run);
}

static natsSubscription *subscribe(const ring_job *job) {
  natsConnection *connection = connect_to(link_server_port(job));
  natsSubscription *subscription = NULL;
  require(natsConnection_SubscribeSync(&subscription, connection, "bench"), "subscribe");
  require(natsConnection_Flush(connection), "flush");
  return subscription;
}

static ring_head next(natsSubscription *subscription) {
  natsMsg *message = NULL;
  require(natsSubscription_NextMsg(&message, subscription, 60000), "receive");
  ring_head head;
  memcpy(&head, natsMsg_GetData(message), sizeof head);
  natsMsg_Destroy(message);
  return head;
}

static void observe(const ring_job *job) {
  natsSubscription *subscription = subscribe(job);
  ring_receiving *run = ring_begin_receiving(job);
  for (bool goes_on = true; goes_on;) {
    ring_head head = next(subscription);
    goes_on = ring_take(run, &head);
  }
  ring_report_receiving(run);
}

/// Sends each message to the observer, until that ends.
static void relay(const ring_job *job, int observer) {
  natsSubscription *subscription = subscribe(job);
  ring_head head = {0};
  while (send(observer, &head, sizeof head, MSG_NOSIGNAL) == sizeof head) head = next(subscription);
  exit(0);
}

static void observe_relayed(const ring_job *job) {
  int ends[2];
  ring_head head;
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) ring_fail("socketpair");
  pid_t child = fork();
  if (child < 0) ring_fail("fork");
  if (child == 0) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) ring_fail("prctl");
    relay(job, ends[1]);
  }
  close(ends[1]);
  // The first one says that the child is subscribed.
  if (recv(ends[0], &head, sizeof head, 0) != sizeof head) ring_fail("relay");
  ring_receiving *run = ring_begin_receiving(job);
  do {
    if (recv(ends[0], &head, sizeof head, 0) != sizeof head) ring_fail("relay");
  } while (ring_take(run, &head));
  ring_report_receiving(run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  ring_print_version("libnats " NATS_VERSION_STRING);
  if (job.publishes) {
    publish(&job);
  } else if (job.relays) {
    observe_relayed(&job);
  } else {
    observe(&job);
  }
  return 0;
}

#else

#include <stdio.h>

int main(void) {
  fputs("error: this build lacks NATS: it was built without the package trait Media\n", stderr);
  return 1;
}

#endif
