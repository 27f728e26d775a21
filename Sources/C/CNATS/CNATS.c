#include "CNATS.h"

#ifdef FRAMEBUS_MEDIA
#include "Link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// What libnats says about this thread's newest failure, without its place in libnats's source.
static const char *reason(natsStatus status) {
  const char *detail = nats_GetLastError(NULL);
  if (detail == NULL || detail[0] == 0) return natsStatus_GetText(status);
  const char *end = detail[0] == '(' ? strstr(detail, "): ") : NULL;
  return end == NULL ? detail : end + 3;
}

void fb_nats_say(char *message, natsStatus status, const char *what) {
  snprintf(message, FB_NATS_MESSAGE_BYTES, "%s: %s", what, reason(status));
}

static char *copy(const char *text) { return text == NULL ? NULL : strdup(text); }

static void wipe(char **secret) {
  if (*secret != NULL) explicit_bzero(*secret, strlen(*secret));
  free(*secret);
  *secret = NULL;
}

static void wake(fb_nats *link) {
  uint64_t one = 1;
  if (link->wake_descriptor >= 0 && write(link->wake_descriptor, &one, sizeof one) < 0) return;
}

/// Notes why the connection ended, and where it was not permitted to go on.
static void note_error(fb_nats *link, natsStatus status, const char *detail) {
  const char *text = detail != NULL && detail[0] != 0 ? detail : natsStatus_GetText(status);
  pthread_mutex_lock(&link->lock);
  if (status != NATS_NOT_PERMITTED) {
    snprintf(link->error, sizeof link->error, "%s", text);
  } else if (link->refusal_count < FB_NATS_REFUSALS) {
    snprintf(link->refusals[link->refusal_count++], FB_NATS_MESSAGE_BYTES, "%s", text);
  }
  pthread_mutex_unlock(&link->lock);
}

static void release(fb_nats *link) {
  if (atomic_fetch_sub(&link->users, 1) > 1) return;
  natsOptions_Destroy(link->options);
  wipe(&link->jwt);
  wipe(&link->seed);
  pthread_mutex_destroy(&link->lock);
  free(link);
}

static void disconnected(natsConnection *connection, void *context) {
  fb_nats *link = context;
  const char *detail = NULL;
  natsStatus status = natsConnection_GetLastError(connection, &detail);
  note_error(link, status == NATS_OK ? NATS_CONNECTION_CLOSED : status, detail);
  wake(link);
}

/// The last call for a connection.
static void closed(natsConnection *connection, void *context) {
  (void)connection;
  wake(context);
  release(context);
}

static void failed(
    natsConnection *connection, natsSubscription *subscription, natsStatus status, void *context) {
  (void)subscription;
  // Messages that were dropped here are counted by their listener.
  if (status == NATS_SLOW_CONSUMER) return;
  // The connection's own error may be that of a later failure.
  const char *detail = NULL;
  natsConnection_GetLastError(connection, &detail);
  note_error(context, status, status == NATS_NOT_PERMITTED ? reason(status) : detail);
  wake(context);
}

static natsStatus hand_jwt(char **jwt, char **why, void *context) {
  (void)why;
  fb_nats *link = context;
  *jwt = strdup(link->jwt);
  return *jwt == NULL ? NATS_NO_MEMORY : NATS_OK;
}

static natsStatus sign(
    char **why, unsigned char **signature, int *count, const char *nonce, void *context) {
  (void)why;
  fb_nats *link = context;
  return nats_Sign(link->seed, nonce, signature, count);
}

// The event loop of a driven connection: a socket, and whether to wait for writing.

static natsStatus attach(
    void **user, void *loop, natsConnection *connection, natsSock socket) {
  (void)connection;
  fb_nats *link = loop;
  *user = link;
  atomic_fetch_add(&link->users, 1);
  atomic_store(&link->socket, (int)socket);
  wake(link);
  return NATS_OK;
}

static natsStatus watch_reading(void *user, bool is_on) {
  fb_nats *link = user;
  if (!is_on) {
    atomic_store(&link->socket, -1);
    wake(link);
  }
  return NATS_OK;
}

/// Set while this thread publishes: it writes by itself, without waking the one that drives.
static _Thread_local bool is_publishing;

static natsStatus watch_writing(void *user, bool is_on) {
  fb_nats *link = user;
  atomic_store(&link->wants_write, is_on);
  if (is_on && !is_publishing) wake(link);
  return NATS_OK;
}

static natsStatus detach(void *user) {
  fb_nats *link = user;
  atomic_store(&link->socket, -1);
  wake(link);
  release(link);
  return NATS_OK;
}

/// Sets an option, unless one before it failed.
#define SET(call) \
  if (status == NATS_OK) status = call

static natsStatus set_options(fb_nats *link, const struct fb_nats_options *given) {
  char url[512];
  snprintf(url, sizeof url, "nats://%s:%d", given->host, given->port);
  natsStatus status = natsOptions_Create(&link->options);
  natsOptions *options = link->options;
  SET(natsOptions_SetURL(options, url));
  SET(natsOptions_SetName(options, given->name));
  SET(natsOptions_SetTimeout(options, 5000));
  // The caller connects again, and so learns each time why that fails.
  SET(natsOptions_SetAllowReconnect(options, false));
  SET(natsOptions_SetIgnoreDiscoveredServers(options, !given->learns_servers));
  SET(natsOptions_SetPingInterval(options, 2000));
  SET(natsOptions_SetMaxPingsOut(options, 2));
  SET(natsOptions_SetWriteDeadline(options, 5000));
  // Of answers that wait here: as many KiB.
  SET(natsOptions_SetMaxPendingMsgs(options, 16384));
  // Without it, a thread of libnats would send what others published, some time later.
  SET(natsOptions_SetSendAsap(options, true));
  SET(natsOptions_SetFailRequestsOnDisconnect(options, true));
  SET(natsOptions_SetDisconnectedCB(options, disconnected, link));
  SET(natsOptions_SetClosedCB(options, closed, link));
  SET(natsOptions_SetErrorHandler(options, failed, link));
  if (given->is_secure) SET(natsOptions_SetSecure(options, true));
  if (given->is_secure) SET(natsOptions_SkipServerVerification(options, false));
  if (given->certificates != NULL) {
    SET(natsOptions_LoadCATrustedCertificates(options, given->certificates));
  }
  if (given->certificate_name != NULL) {
    SET(natsOptions_SetExpectedHostname(options, given->certificate_name));
  }
  if (given->password != NULL) {
    SET(natsOptions_SetUserInfo(options, given->user, given->password));
  } else if (given->token != NULL) {
    SET(natsOptions_SetToken(options, given->token));
  } else if (link->jwt != NULL) {
    SET(natsOptions_SetUserCredentialsCallbacks(options, hand_jwt, link, sign, link));
  } else if (link->seed != NULL) {
    SET(natsOptions_SetNKey(options, given->public_key, sign, link));
  }
  if (link->seed != NULL) {
    unsigned char *signature = NULL;
    int count = 0;
    SET(nats_Sign(link->seed, "a", &signature, &count));
    free(signature);
  }
  if (given->is_driven) {
    SET(natsOptions_SetEventLoop(options, link, attach, watch_reading, watch_writing, detach));
  }
  return status;
}

/// Says why a connection failed.
static enum fb_nats_failure explain(
    const struct fb_nats_options *given, natsStatus status, char *message) {
  const char *fault = fb_nats_take_fault();
  const char *detail = reason(status);
  snprintf(message, FB_NATS_MESSAGE_BYTES, "%s", detail);
  if (fault != NULL) {
    snprintf(message, FB_NATS_MESSAGE_BYTES, "the server was cut off: %s", fault);
    return FB_NATS_UNREACHABLE;
  }
  switch (status) {
    case NATS_CONNECTION_AUTH_FAILED: return FB_NATS_REFUSED;
    case NATS_SECURE_CONNECTION_WANTED: return FB_NATS_PLAIN;
    case NATS_SSL_ERROR: {
      // As libnats writes it if OpenSSL does not trust a certificate.
      bool is_verdict = strstr(detail, ":depth=") != NULL || strstr(detail, ":expected=") != NULL;
      return is_verdict ? FB_NATS_UNTRUSTED : FB_NATS_UNREACHABLE;
    }
    case NATS_NO_SERVER:
    case NATS_TIMEOUT: fb_nats_explain(given->host, given->port, message);
    default: return FB_NATS_UNREACHABLE;
  }
}

fb_nats *fb_nats_open(
    const struct fb_nats_options *given, enum fb_nats_failure *failure, char *message) {
  *failure = FB_NATS_UNUSABLE;
  fb_nats *link = calloc(1, sizeof *link);
  if (link == NULL) return NULL;
  pthread_mutex_init(&link->lock, NULL);
  atomic_store(&link->socket, -1);
  atomic_store(&link->users, 1);
  link->wake_descriptor = given->wake_descriptor;
  link->is_driven = given->is_driven;
  link->jwt = copy(given->jwt);
  link->seed = copy(given->seed);
  natsStatus status = set_options(link, given);
  if (status != NATS_OK) {
    fb_nats_say(message, status, "the options of the connection are not usable");
    release(link);
    return NULL;
  }
  fb_nats_take_fault();
  status = natsConnection_Connect(&link->connection, link->options);
  if (status != NATS_OK) {
    *failure = explain(given, status, message);
    release(link);
    return NULL;
  }
  // Until `closed`.
  atomic_fetch_add(&link->users, 1);
  if (!given->is_driven) {
    jsOptions js;
    jsOptions_Init(&js);
    js.Wait = FB_NATS_WAIT_MS;
    status = natsConnection_JetStream(&link->js, link->connection, &js);
  }
  if (status == NATS_OK) return link;
  fb_nats_say(message, status, "cannot use the connection");
  fb_nats_close(link);
  return NULL;
}

void fb_nats_close(fb_nats *link) {
  if (link == NULL) return;
  jsCtx_Destroy(link->js);
  natsConnection_Close(link->connection);
  natsConnection_Destroy(link->connection);
  release(link);
}

bool fb_nats_is_connected(fb_nats *link) {
  return natsConnection_Status(link->connection) == NATS_CONN_STATUS_CONNECTED;
}

void fb_nats_last_error(fb_nats *link, char *message) {
  const char *fault = fb_nats_take_fault();
  pthread_mutex_lock(&link->lock);
  memcpy(message, link->error, sizeof link->error);
  pthread_mutex_unlock(&link->lock);
  if (fault != NULL) {
    snprintf(message, FB_NATS_MESSAGE_BYTES, "the server was cut off: %s", fault);
  }
}

bool fb_nats_take_refusal(fb_nats *link, char *message) {
  pthread_mutex_lock(&link->lock);
  bool has_one = link->refusal_count > 0;
  if (has_one) memcpy(message, link->refusals[--link->refusal_count], FB_NATS_MESSAGE_BYTES);
  pthread_mutex_unlock(&link->lock);
  return has_one;
}

bool fb_nats_learned_server(fb_nats *link, int index, char *address) {
  char **servers = NULL;
  int count = 0;
  if (natsConnection_GetDiscoveredServers(link->connection, &servers, &count) != NATS_OK) {
    return false;
  }
  bool has_one = index < count;
  if (has_one) {
    const char *host = strstr(servers[index], "://");
    snprintf(address, FB_NATS_MESSAGE_BYTES, "%s", host == NULL ? "" : host + 3);
  }
  for (int each = 0; each < count; each++) free(servers[each]);
  free(servers);
  return has_one;
}

int fb_nats_drive(fb_nats *link, int stop, int wake, int timeout_ms) {
  struct pollfd polled[] = {
      {.fd = atomic_load(&link->socket), .events = POLLIN},
      {.fd = wake, .events = POLLIN},
      {.fd = stop, .events = POLLIN},
  };
  if (atomic_load(&link->wants_write)) polled[0].events |= POLLOUT;
  if (poll(polled, 3, timeout_ms) < 0) return errno == EINTR ? 0 : -1;
  short found = polled[0].revents;
  // A hung-up socket is read too, which is how libnats learns of it.
  if ((found & ~POLLOUT) != 0) natsConnection_ProcessReadEvent(link->connection);
  if ((found & POLLOUT) != 0) natsConnection_ProcessWriteEvent(link->connection);
  return polled[1].revents != 0;
}

static void free_done(fb_nats_listener *listener) {
  while (listener->done_count > 0) natsMsg_Destroy(listener->done[--listener->done_count]);
}

void fb_nats_message_free(struct fb_nats_message *message) {
  fb_nats_listener *listener = message->listener;
  if (listener == NULL || message->count > FB_NATS_KEPT_BYTES) {
    natsMsg_Destroy(message->handle);
  } else {
    if (listener->done_count == FB_NATS_DONE) free_done(listener);
    listener->done[listener->done_count++] = message->handle;
  }
  message->handle = NULL;
}

bool fb_nats_publish(
    fb_nats *link, const char *subject, const char *reply, const uint8_t *bytes, size_t count) {
  is_publishing = true;
  natsStatus status =
      reply == NULL
          ? natsConnection_Publish(link->connection, subject, bytes, (int)count)
          : natsConnection_PublishRequest(link->connection, subject, reply, bytes, (int)count);
  is_publishing = false;
  if (status != NATS_OK) return false;
  // On the caller's thread: waking the one that drives would take longer.
  if (link->is_driven && atomic_load(&link->wants_write)) {
    natsConnection_ProcessWriteEvent(link->connection);
    // The rest, once the socket takes it.
    if (atomic_load(&link->wants_write)) wake(link);
  }
  return true;
}

fb_nats_listener *fb_nats_listener_of(natsSubscription *subscription, bool is_stream) {
  fb_nats_listener *listener = calloc(1, sizeof *listener);
  if (listener == NULL) {
    natsSubscription_Destroy(subscription);
    return NULL;
  }
  listener->subscription = subscription;
  listener->is_stream = is_stream;
  return listener;
}

fb_nats_listener *fb_nats_listen(
    fb_nats *link, const char *subject, int most_messages, int most_bytes) {
  natsSubscription *subscription = NULL;
  natsStatus status = natsConnection_SubscribeSync(&subscription, link->connection, subject);
  if (status != NATS_OK) return NULL;
  natsSubscription_SetPendingLimits(subscription, most_messages, most_bytes);
  return fb_nats_listener_of(subscription, false);
}

int fb_nats_next(fb_nats_listener *listener, int64_t timeout_ms, struct fb_nats_message *message) {
  // Without messages, libnats would write a text about that at each call.
  uint64_t queued = 0;
  if (timeout_ms <= 0 && !listener->is_stream &&
      natsSubscription_QueuedMsgs(listener->subscription, &queued) == NATS_OK && queued == 0) {
    return 0;
  }
  natsMsg *found = NULL;
  natsStatus status = natsSubscription_NextMsg(&found, listener->subscription, timeout_ms);
  if (status == NATS_TIMEOUT) return 0;
  if (status != NATS_OK) return -1;
  fb_nats_fill(message, found);
  message->listener = listener;
  if (listener->is_stream) {
    jsMsgMetaData *facts = NULL;
    if (natsMsg_GetMetaData(&facts, found) == NATS_OK) {
      message->sequence = facts->Sequence.Stream;
      message->pending = facts->NumPending;
      message->server_ns = (uint64_t)facts->Timestamp;
      jsMsgMetaData_Destroy(facts);
    }
  }
  return 1;
}

void fb_nats_fill(struct fb_nats_message *message, natsMsg *found) {
  int count = natsMsg_GetDataLength(found);
  const char *subject = natsMsg_GetSubject(found);
  *message = (struct fb_nats_message){
      .handle = found,
      .subject = subject,
      .subject_count = strlen(subject),
      .bytes = (const uint8_t *)natsMsg_GetData(found),
      .count = count > 0 ? (size_t)count : 0,
      .is_unhandled = natsMsg_IsNoResponders(found),
  };
}

int64_t fb_nats_dropped(fb_nats_listener *listener) {
  int64_t count = 0;
  natsSubscription_GetDropped(listener->subscription, &count);
  return count;
}

void fb_nats_listener_free(fb_nats_listener *listener) {
  if (listener == NULL) return;
  free_done(listener);
  natsSubscription_Destroy(listener->subscription);
  free(listener);
}
#endif
