// What the parts of CNATS share.
#pragma once
#include "CNATS.h"

#include <nats/nats.h>
#include <pthread.h>
#include <stdatomic.h>

enum { FB_NATS_WAIT_MS = 3000, FB_NATS_REFUSALS = 16 };
enum { FB_NATS_DONE = 64, FB_NATS_KEPT_BYTES = 1024 };

struct fb_nats {
  natsConnection *connection;
  natsOptions *options;
  jsCtx *js;
  char *jwt, *seed;
  bool is_driven;
  int wake_descriptor;
  atomic_int socket;
  atomic_bool wants_write;
  /// The caller, libnats's callbacks and its event loop; the last one to leave frees the link.
  atomic_int users;
  pthread_mutex_t lock;
  /// Under the lock: the newest error, and what the server did not permit.
  char error[FB_NATS_MESSAGE_BYTES];
  char refusals[FB_NATS_REFUSALS][FB_NATS_MESSAGE_BYTES];
  int refusal_count;
};

struct fb_nats_listener {
  natsSubscription *subscription;
  bool is_stream;
  /// Messages that are done with. libnats wakes a thread to free some, so they are freed together.
  natsMsg *done[FB_NATS_DONE];
  int done_count;
};

/// Writes what failed and why.
void fb_nats_say(char *message, natsStatus status, const char *what);
void fb_nats_fill(struct fb_nats_message *message, natsMsg *found);
/// Takes the subscription. NULL if out of memory.
fb_nats_listener *fb_nats_listener_of(natsSubscription *subscription, bool is_stream);
/// Why the newest connection that failed the check of CNATSGuard.h was cut; NULL for none.
const char *fb_nats_take_fault(void);
/// Tries to connect to a host, and writes why that fails; false if it does not fail.
bool fb_nats_explain(const char *host, int port, char *message);
