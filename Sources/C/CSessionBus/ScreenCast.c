#define _GNU_SOURCE
#include "CScreenCast.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "ScreenCastLibrary.h"

static const char *const portal_name = "org.freedesktop.portal.Desktop";
static const char *const portal_path = "/org/freedesktop/portal/desktop";
static const char *const screencast_interface = "org.freedesktop.portal.ScreenCast";
static const char *const request_interface = "org.freedesktop.portal.Request";
static const char *const session_interface = "org.freedesktop.portal.Session";
static const char *const properties_interface = "org.freedesktop.DBus.Properties";

/// More entries in a dictionary of the portal are not read.
enum { MAXIMUM_ENTRIES = 64, MAXIMUM_PATH = 255 };

enum { PERSIST_UNTIL_REVOKED = 2 };

/// The first version whose sessions can be restored.
enum { RESTORE_VERSION = 4 };

struct screencast {
  struct screencast_library library;
  sd_bus *bus;
  int stopDescriptor;
  struct screencast_offer offer;
  /// The portal's unique name: signals of other senders do not count.
  char portal[MAXIMUM_PATH + 1];
  char session[MAXIMUM_PATH + 1];
  uint32_t requestCount;
  enum screencast_news news;
  char failure[256];

  /// The call that is waited for: its answer, or the response of its request.
  bool isAnswered;
  enum screencast_result outcome;
  void (*take)(struct screencast *screencast, sd_bus_message *message);
  struct screencast_stream *stream;
};

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t earlier(uint64_t one, uint64_t other) { return one < other ? one : other; }

static enum screencast_result fail(struct screencast *self, enum screencast_result result,
                                   const char *what, const char *why) {
  snprintf(self->failure, sizeof self->failure, "%s: %s", what, why);
  return result;
}

static enum screencast_result malformed(struct screencast *self, const char *what) {
  return fail(self, SCREENCAST_MALFORMED, what, "its answer is malformed");
}

// MARK: Waiting

/// Waits until the bus has something to read or to write, until the deadline, or the stop.
static enum screencast_result wait_for_bus(struct screencast *self, uint64_t deadlineNs) {
  uint64_t bus_deadline_us = UINT64_MAX;
  self->library.get_timeout(self->bus, &bus_deadline_us);
  uint64_t until = deadlineNs;
  if (bus_deadline_us < UINT64_MAX / 1000) until = earlier(until, bus_deadline_us * 1000);
  uint64_t now = now_ns();
  struct timespec rest = {0, 0};
  if (until > now) {
    rest.tv_sec = (time_t)((until - now) / 1000000000);
    rest.tv_nsec = (long)((until - now) % 1000000000);
  }
  int events = self->library.get_events(self->bus);
  struct pollfd polled[2] = {
      {.fd = self->library.get_fd(self->bus), .events = (short)(events < 0 ? 0 : events)},
      {.fd = self->stopDescriptor, .events = POLLIN},
  };
  if (ppoll(polled, 2, &rest, NULL) < 0 && errno != EINTR) {
    return fail(self, SCREENCAST_NO_BUS, "ppoll", strerror(errno));
  }
  if (polled[1].revents != 0) return SCREENCAST_STOPPED;
  return SCREENCAST_OK;
}

/// Reads and writes until `isDone`.
static enum screencast_result drive(struct screencast *self, uint64_t deadlineNs,
                                    bool (*isDone)(struct screencast *self)) {
  while (true) {
    int handled = self->library.process(self->bus, NULL);
    if (handled < 0) return fail(self, SCREENCAST_NO_BUS, "the session bus", strerror(-handled));
    if (isDone(self)) return SCREENCAST_OK;
    if (self->news == SCREENCAST_GONE) {
      return fail(self, SCREENCAST_NO_PORTAL, "the portal", "it has ended");
    }
    if (self->news == SCREENCAST_CLOSED) {
      return fail(self, SCREENCAST_ENDED, "the portal", "it closed the session");
    }
    // Before the wait, and after it, so that an endless stream of messages ends at the deadline.
    if (now_ns() >= deadlineNs) return SCREENCAST_SILENT;
    if (handled > 0) continue;
    enum screencast_result result = wait_for_bus(self, deadlineNs);
    if (result != SCREENCAST_OK) return result;
  }
}

static bool is_connected(struct screencast *self) { return self->library.is_ready(self->bus) > 0; }
static bool is_answered(struct screencast *self) { return self->isAnswered; }

// MARK: Calls

/// Whether an error says that there is no such service, or that it lacks the interface.
static bool is_absence(const char *name) {
  return strstr(name, "ServiceUnknown") || strstr(name, "NameHasNoOwner") ||
         strstr(name, "UnknownInterface") || strstr(name, "UnknownMethod") ||
         strstr(name, "Spawn.");
}

/// Takes the answer of the call that is waited for.
static int answer(sd_bus_message *message, void *user, sd_bus_error *unused) {
  (void)unused;
  struct screencast *self = user;
  const sd_bus_error *error = self->library.get_error(message);
  if (error != NULL) {
    bool isMissing = error->name != NULL && is_absence(error->name);
    self->outcome = fail(self, isMissing ? SCREENCAST_NO_PORTAL : SCREENCAST_REFUSED,
                         error->name != NULL ? error->name : "error",
                         error->message != NULL ? error->message : "no explanation");
    self->isAnswered = true;
  } else if (self->take != NULL) {
    self->take(self, message);
    self->isAnswered = true;
  }
  return 0;
}

/// Sends a call and waits for its answer, which `take` reads. Without `take`, a request's response
/// is waited for, of which another handler takes care.
static enum screencast_result call(struct screencast *self, sd_bus_message *message,
                                   uint64_t deadlineNs,
                                   void (*take)(struct screencast *self, sd_bus_message *message)) {
  self->isAnswered = false;
  self->outcome = SCREENCAST_OK;
  self->take = take;
  sd_bus_slot *slot = NULL;
  int sent = self->library.call_async(self->bus, &slot, message, answer, self, UINT64_MAX);
  enum screencast_result result =
      sent < 0 ? fail(self, SCREENCAST_NO_BUS, "the session bus", strerror(-sent))
               : drive(self, deadlineNs, is_answered);
  self->library.unref_slot(slot);
  if (result == SCREENCAST_OK) result = self->outcome;
  if (result == SCREENCAST_OK) self->failure[0] = 0;
  return result;
}

static void take_offer(struct screencast *self, sd_bus_message *message) {
  struct screencast_library *library = &self->library;
  const char *sender = library->get_sender(message);
  self->outcome = malformed(self, "the properties of ScreenCast");
  if (sender == NULL || strlen(sender) > MAXIMUM_PATH) return;
  if (library->enter_container(message, 'a', "{sv}") <= 0) return;
  for (int count = 0; count < MAXIMUM_ENTRIES; count++) {
    if (library->enter_container(message, 'e', "sv") <= 0) break;
    const char *name = NULL, *contents = NULL;
    char type = 0;
    if (library->read(message, "s", &name) <= 0) return;
    if (library->peek_type(message, &type, &contents) <= 0 || contents == NULL) return;
    uint32_t *value = !strcmp(name, "version")                ? &self->offer.version
                      : !strcmp(name, "AvailableSourceTypes") ? &self->offer.sourceTypes
                      : !strcmp(name, "AvailableCursorModes") ? &self->offer.cursorModes
                                                              : NULL;
    int read = value != NULL && !strcmp(contents, "u") ? library->read(message, "v", "u", value)
                                                       : library->skip(message, "v");
    if (read < 0 || library->exit_container(message) < 0) return;
  }
  if (self->offer.version == 0) return;
  strcpy(self->portal, sender);
  self->outcome = SCREENCAST_OK;
}

static int note_end(sd_bus_message *message, void *user, sd_bus_error *unused) {
  (void)unused;
  struct screencast *self = user;
  const char *name, *before, *after;
  if (self->library.read(message, "sss", &name, &before, &after) > 0 &&
      !strcmp(before, self->portal)) {
    self->news = SCREENCAST_GONE;
  }
  return 0;
}

static int note_closed(sd_bus_message *message, void *user, sd_bus_error *unused) {
  (void)message;
  (void)unused;
  struct screencast *self = user;
  if (self->news == SCREENCAST_NO_NEWS) self->news = SCREENCAST_CLOSED;
  return 0;
}

enum screencast_result screencast_connect(struct screencast *self, uint64_t answerNs,
                                          struct screencast_offer *offer) {
  struct screencast_library *library = &self->library;
  if (!screencast_load(library)) {
    return fail(self, SCREENCAST_NO_LIBRARY, session_bus_library, "it cannot be loaded");
  }
  int result = library->open_user(&self->bus);
  if (result < 0) {
    self->bus = NULL;
    return fail(self, SCREENCAST_NO_BUS, "the session bus",
                result == -ENOMEDIUM ? "no address" : strerror(-result));
  }
  uint64_t deadlineNs = now_ns() + answerNs;
  enum screencast_result outcome = drive(self, deadlineNs, is_connected);
  if (outcome == SCREENCAST_SILENT) {
    return fail(self, SCREENCAST_NO_BUS, "the session bus", "it does not answer");
  }
  if (outcome != SCREENCAST_OK) return outcome;
  sd_bus_message *message = NULL;
  if (library->new_call(self->bus, &message, portal_name, portal_path, properties_interface,
                        "GetAll") < 0 ||
      library->append(message, "s", screencast_interface) < 0) {
    library->unref_message(message);
    return fail(self, SCREENCAST_NO_BUS, "the session bus", "no memory");
  }
  outcome = call(self, message, deadlineNs, take_offer);
  library->unref_message(message);
  if (outcome != SCREENCAST_OK) return outcome;
  *offer = self->offer;
  library->match_signal_async(self->bus, NULL, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                              "org.freedesktop.DBus", "NameOwnerChanged", note_end, NULL, self);
  return SCREENCAST_OK;
}

// MARK: Requests: a call, and a signal with the response

static void take_streams(struct screencast *self, sd_bus_message *message) {
  struct screencast_library *library = &self->library;
  if (library->enter_container(message, 'v', "a(ua{sv})") <= 0) return;
  if (library->enter_container(message, 'a', "(ua{sv})") <= 0) return;
  if (library->enter_container(message, 'r', "ua{sv}") > 0) {
    uint32_t node = UINT32_MAX;
    if (library->read(message, "u", &node) <= 0) return;
    self->stream->node = node;
    if (library->skip(message, "a{sv}") < 0 || library->exit_container(message) < 0) return;
    // Only one was asked for: the others are left.
    for (int count = 0; count < MAXIMUM_ENTRIES; count++) {
      if (library->skip(message, "(ua{sv})") <= 0) break;
    }
  }
  if (library->exit_container(message) >= 0) library->exit_container(message);
}

static void take_session(struct screencast *self, const char *text) {
  if (text[0] == '/' && strlen(text) <= MAXIMUM_PATH) strcpy(self->session, text);
}

static void take_token(struct screencast *self, const char *text) {
  if (self->stream != NULL && strlen(text) <= SCREENCAST_TOKEN_BYTES) {
    strcpy(self->stream->token, text);
  }
}

/// - Returns: false if the entry cannot be read.
static bool take_entry(struct screencast *self, sd_bus_message *message) {
  struct screencast_library *library = &self->library;
  const char *name = NULL, *contents = NULL, *text = NULL;
  char type = 0;
  if (library->read(message, "s", &name) <= 0) return false;
  if (library->peek_type(message, &type, &contents) <= 0 || contents == NULL) return false;
  bool isText = !strcmp(contents, "s") || !strcmp(contents, "o");
  if (!strcmp(name, "streams") && self->stream != NULL && !strcmp(contents, "a(ua{sv})")) {
    take_streams(self, message);
  } else if (isText) {
    if (library->read(message, "v", contents, &text) <= 0) return false;
    if (!strcmp(name, "session_handle")) take_session(self, text);
    if (!strcmp(name, "restore_token")) take_token(self, text);
  } else if (library->skip(message, "v") < 0) {
    return false;
  }
  return library->exit_container(message) >= 0;
}

static int respond(sd_bus_message *message, void *user, sd_bus_error *unused) {
  (void)unused;
  struct screencast *self = user;
  struct screencast_library *library = &self->library;
  if (self->isAnswered) return 0;
  self->isAnswered = true;
  uint32_t code = 0;
  self->outcome = malformed(self, "the portal");
  if (library->read(message, "u", &code) <= 0) return 0;
  if (code != 0) {
    self->outcome = code == 1 ? SCREENCAST_DECLINED
                              : fail(self, SCREENCAST_ENDED, "the portal", "it ended the request");
    return 0;
  }
  if (library->enter_container(message, 'a', "{sv}") <= 0) return 0;
  for (int count = 0; count < MAXIMUM_ENTRIES; count++) {
    if (library->enter_container(message, 'e', "sv") <= 0) break;
    if (!take_entry(self, message)) return 0;
  }
  self->outcome = SCREENCAST_OK;
  return 0;
}

/// A name that nobody can foresee, so that nobody can have taken it.
static void make_token(char token[static 32]) {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) number = now_ns();
  snprintf(token, 32, "framebus_%016" PRIx64, number);
}

/// Sends a request and waits for its response.
/// - Parameter fill: appends the options besides the request's own token, in the open dictionary.
static enum screencast_result request(struct screencast *self, const char *member,
                                      const char *arguments, const char *parent,
                                      uint64_t deadlineNs,
                                      int (*fill)(struct screencast *self, sd_bus_message *message,
                                                  const struct screencast_request *request),
                                      const struct screencast_request *options) {
  struct screencast_library *library = &self->library;
  const char *own = NULL;
  if (library->get_unique_name(self->bus, &own) < 0 || own[0] != ':') {
    return fail(self, SCREENCAST_NO_BUS, "the session bus", "it gave this connection no name");
  }
  char token[32], path[MAXIMUM_PATH + 1], sender[MAXIMUM_PATH + 1];
  make_token(token);
  snprintf(sender, sizeof sender, "%.100s", own + 1);
  for (char *at = sender; *at != 0; at++) *at = *at == '.' ? '_' : *at;
  snprintf(path, sizeof path, "%s/request/%.100s/%s", portal_path, sender, token);
  sd_bus_slot *slot = NULL;
  // Before the call: the response may come with its answer.
  int result = library->match_signal_async(self->bus, &slot, self->portal, path, request_interface,
                                           "Response", respond, NULL, self);
  sd_bus_message *message = NULL;
  if (result >= 0) {
    result = library->new_call(self->bus, &message, portal_name, portal_path, screencast_interface,
                               member);
  }
  if (result >= 0 && arguments[0] == 'o') result = library->append(message, "o", self->session);
  if (result >= 0 && parent != NULL) result = library->append(message, "s", parent);
  if (result >= 0) result = library->open_container(message, 'a', "{sv}");
  if (result >= 0) result = library->append(message, "{sv}", "handle_token", "s", token);
  if (result >= 0 && fill != NULL) result = fill(self, message, options);
  if (result >= 0) result = library->close_container(message);
  enum screencast_result outcome =
      result < 0 ? fail(self, SCREENCAST_NO_BUS, member, strerror(-result))
                 : call(self, message, deadlineNs, NULL);
  library->unref_message(message);
  library->unref_slot(slot);
  return outcome;
}

// MARK: The session

static int fill_session(struct screencast *self, sd_bus_message *message,
                        const struct screencast_request *request) {
  (void)request;
  char token[32];
  make_token(token);
  return self->library.append(message, "{sv}", "session_handle_token", "s", token);
}

static int fill_sources(struct screencast *self, sd_bus_message *message,
                        const struct screencast_request *request) {
  struct screencast_library *library = &self->library;
  int result = library->append(message, "{sv}", "types", "u", request->sourceType);
  if (result >= 0) result = library->append(message, "{sv}", "multiple", "b", 0);
  if (result >= 0 && (self->offer.cursorModes & request->cursorMode) != 0) {
    result = library->append(message, "{sv}", "cursor_mode", "u", request->cursorMode);
  }
  if (result < 0 || self->offer.version < RESTORE_VERSION) return result;
  result = library->append(message, "{sv}", "persist_mode", "u", (uint32_t)PERSIST_UNTIL_REVOKED);
  if (result >= 0 && request->token != NULL) {
    result = library->append(message, "{sv}", "restore_token", "s", request->token);
  }
  return result;
}

static void take_remote(struct screencast *self, sd_bus_message *message) {
  int descriptor = -1;
  self->outcome = malformed(self, "OpenPipeWireRemote");
  // The message owns the descriptor.
  if (self->library.read(message, "h", &descriptor) <= 0) return;
  self->stream->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  self->outcome = self->stream->descriptor >= 0
                      ? SCREENCAST_OK
                      : fail(self, SCREENCAST_MALFORMED, "OpenPipeWireRemote", strerror(errno));
}

static enum screencast_result open_remote(struct screencast *self, uint64_t deadlineNs) {
  struct screencast_library *library = &self->library;
  sd_bus_message *message = NULL;
  int result = library->new_call(self->bus, &message, portal_name, portal_path,
                                 screencast_interface, "OpenPipeWireRemote");
  if (result >= 0) result = library->append(message, "oa{sv}", self->session, 0);
  enum screencast_result outcome =
      result < 0 ? fail(self, SCREENCAST_NO_BUS, "OpenPipeWireRemote", strerror(-result))
                 : call(self, message, deadlineNs, take_remote);
  library->unref_message(message);
  return outcome;
}

enum screencast_result screencast_start(struct screencast *self,
                                        const struct screencast_request *options,
                                        struct screencast_stream *stream) {
  *stream = (struct screencast_stream){.node = UINT32_MAX, .descriptor = -1};
  if ((self->offer.sourceTypes & options->sourceType) == 0) return SCREENCAST_UNSUPPORTED;
  enum screencast_result result = request(self, "CreateSession", "", NULL,
                                          now_ns() + options->answerNs, fill_session, options);
  if (result != SCREENCAST_OK) return result;
  if (self->session[0] == 0) return malformed(self, "CreateSession");
  int matched = self->library.match_signal_async(self->bus, NULL, self->portal, self->session,
                                                 session_interface, "Closed", note_closed, NULL,
                                                 self);
  if (matched < 0) return malformed(self, "CreateSession");
  result = request(self, "SelectSources", "o", NULL, now_ns() + options->answerNs, fill_sources,
                   options);
  if (result != SCREENCAST_OK) return result;
  self->stream = stream;
  result = request(self, "Start", "o", "", now_ns() + options->dialogNs, NULL, options);
  if (result == SCREENCAST_OK && stream->node == UINT32_MAX) {
    result = fail(self, SCREENCAST_MALFORMED, "Start", "it names no stream");
  }
  if (result == SCREENCAST_OK) result = open_remote(self, now_ns() + options->answerNs);
  self->stream = NULL;
  return result;
}

// MARK: Life

struct screencast *screencast_new(int stopDescriptor) {
  struct screencast *self = calloc(1, sizeof *self);
  if (self != NULL) self->stopDescriptor = stopDescriptor;
  return self;
}

int screencast_descriptor(const struct screencast *self) {
  return self->library.get_fd(self->bus);
}

enum screencast_news screencast_process(struct screencast *self) {
  // As much as one look at the clock allows: messages may come without end.
  for (int count = 0; count < MAXIMUM_ENTRIES; count++) {
    int handled = self->library.process(self->bus, NULL);
    if (handled < 0) self->news = SCREENCAST_GONE;
    if (handled <= 0) break;
  }
  return self->news;
}

const char *screencast_failure(const struct screencast *self) { return self->failure; }

void screencast_free(struct screencast *self) {
  if (self->bus != NULL) self->library.close(self->bus);
  free(self);
}
