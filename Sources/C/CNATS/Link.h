// What the parts of CNATS share.
#pragma once
#include "CNATS.h"

#include <nats/nats.h>
#include <pthread.h>
#include <stdatomic.h>

enum { FB_NATS_WAIT_MS = 3000 };

struct fb_nats {
  natsConnection *connection;
  natsOptions *options;
  jsCtx *js;
  char *jwt, *seed;
  bool is_driven;
  int wake_descriptor;
  atomic_int socket;
  atomic_bool wants_write;
  atomic_uint_fast64_t connections;
  pthread_mutex_t lock;
  /// Under the lock.
  char error[FB_NATS_MESSAGE_BYTES];
};

struct fb_nats_listener {
  natsSubscription *subscription;
  bool is_stream;
};

/// Writes what failed and why.
void fb_nats_say(char *message, natsStatus status, const char *what);
void fb_nats_fill(struct fb_nats_message *message, natsMsg *found);
/// Takes the subscription. NULL if out of memory.
fb_nats_listener *fb_nats_listener_of(natsSubscription *subscription, bool is_stream);
