// The baseline of the notification rows of `framebus bench link`: the header of each post as a NATS
// message, without streams and without FrameBus, by libnats as its examples use it, but that each
// message is sent at once. The turn's own server is the publisher's child.

#ifdef FRAMEBUS_MEDIA

#define _GNU_SOURCE
#include <LinkKit.h>
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void observe(const ring_job *job) {
  natsConnection *connection = connect_to(link_server_port(job));
  natsSubscription *subscription = NULL;
  require(natsConnection_SubscribeSync(&subscription, connection, "bench"), "subscribe");
  require(natsConnection_Flush(connection), "flush");
  ring_receiving *run = ring_begin_receiving(job);
  for (bool goes_on = true; goes_on;) {
    natsMsg *message = NULL;
    require(natsSubscription_NextMsg(&message, subscription, 60000), "receive");
    ring_head head;
    memcpy(&head, natsMsg_GetData(message), sizeof head);
    goes_on = ring_take(run, &head);
    natsMsg_Destroy(message);
  }
  ring_report_receiving(run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  ring_print_version("libnats " NATS_VERSION_STRING);
  if (job.publishes) {
    publish(&job);
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
