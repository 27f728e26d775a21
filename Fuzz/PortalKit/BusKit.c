#include "../../Sources/C/CSessionBus/ScreenCast.c"

#include <stdarg.h>
#include <unistd.h>

#include "KitInput.h"
#include "PortalKit.h"

// The functions of sd-bus, which take from the input what a bus could say. A message has no
// contents: each call that reads one reads the input. Whatever the order of the calls, texts end
// with a zero, as sd-bus sees to it.

enum { HANDLERS = 16, TEXTS = 64, TEXT_BYTES = 1500 };

static struct kit_input input;
static struct {
  sd_bus_handler handler;
  void *user;
} handlers[HANDLERS], answering;
static int handlerCount;
static char texts[TEXTS][TEXT_BYTES + 1];
static int textCount;
static sd_bus_error error;

static const char *text(void) {
  static const char *const known[] = {
      "version", "AvailableSourceTypes", "AvailableCursorModes", "streams", "session_handle",
      "restore_token", "/org/freedesktop/portal/desktop/session/1", ":1.7", "u", "s", "o",
      "a(ua{sv})", "org.freedesktop.DBus.Error.ServiceUnknown"};
  enum { KNOWN = sizeof known / sizeof *known };
  uint8_t choice = kit_byte(&input);
  if (choice < 4 * KNOWN) return known[choice % KNOWN];
  char *own = texts[textCount++ % TEXTS];
  size_t count = choice < 250 ? choice : choice * 6;
  kit_fill(&input, own, count);
  own[count] = 0;
  return own;
}

static int sign(void) {
  uint8_t choice = kit_byte(&input);
  return input.count == 0 ? -ENXIO : choice < 248 ? 1 : choice < 252 ? 0 : -EBADMSG;
}

static int open_user(sd_bus **bus) {
  *bus = (sd_bus *)&input;
  return 0;
}
static int is_ready(sd_bus *bus) {
  (void)bus;
  return 1;
}
static int get_unique_name(sd_bus *bus, const char **name) {
  (void)bus;
  *name = ":1.42";
  return 0;
}
static int get_fd(sd_bus *bus) {
  (void)bus;
  return -1;
}
static int get_events(sd_bus *bus) {
  (void)bus;
  return 0;
}
static int get_timeout(sd_bus *bus, uint64_t *microseconds) {
  (void)bus;
  *microseconds = 0;
  return 0;
}

static int process(sd_bus *bus, sd_bus_message **message) {
  (void)bus;
  (void)message;
  if (input.count == 0) return -ECONNRESET;
  uint8_t choice = kit_byte(&input);
  sd_bus_message *any = (sd_bus_message *)&input;
  if (choice & 1 && answering.handler != NULL) {
    answering.handler(any, answering.user, NULL);
  } else if (handlerCount > 0) {
    int index = choice / 2 % handlerCount;
    if (handlers[index].handler != NULL) handlers[index].handler(any, handlers[index].user, NULL);
  }
  return choice % 8 != 0;
}

static int new_call(sd_bus *bus, sd_bus_message **message, const char *destination,
                    const char *path, const char *interface, const char *member) {
  (void)bus;
  (void)destination;
  (void)path;
  (void)interface;
  (void)member;
  *message = (sd_bus_message *)&input;
  return 0;
}
static int append(sd_bus_message *message, const char *types, ...) {
  (void)message;
  (void)types;
  return 0;
}
static int open_container(sd_bus_message *message, char type, const char *contents) {
  (void)message;
  (void)type;
  (void)contents;
  return 0;
}
static int close_container(sd_bus_message *message) {
  (void)message;
  return 0;
}
static int call_async(sd_bus *bus, sd_bus_slot **slot, sd_bus_message *message,
                      sd_bus_handler handler, void *user, uint64_t microseconds) {
  (void)bus;
  (void)message;
  (void)microseconds;
  answering.handler = handler;
  answering.user = user;
  *slot = (sd_bus_slot *)&answering;
  return 0;
}
static int match_signal_async(sd_bus *bus, sd_bus_slot **slot, const char *sender,
                              const char *path, const char *interface, const char *member,
                              sd_bus_handler handler, sd_bus_handler installed, void *user) {
  (void)bus;
  (void)installed;
  kit_require(interface != NULL && member != NULL, "a match");
  kit_require(sender[0] != 0 && path[0] == '/', "a match that any sender or path meets");
  kit_require(handlerCount < HANDLERS, "too many matches");
  handlers[handlerCount].handler = handler;
  handlers[handlerCount].user = user;
  if (slot != NULL) *slot = (sd_bus_slot *)&handlers[handlerCount];
  handlerCount++;
  return 0;
}

static int read_message(sd_bus_message *message, const char *types, ...) {
  (void)message;
  int result = sign();
  if (result <= 0) return result;
  va_list list;
  va_start(list, types);
  // A variant's contents are named by the next argument.
  const char *type = types[0] == 'v' ? va_arg(list, const char *) : types;
  for (; *type != 0; type++) {
    void *target = va_arg(list, void *);
    if (*type == 'u') *(uint32_t *)target = kit_byte(&input);
    if (*type == 's' || *type == 'o') *(const char **)target = text();
    if (*type == 'h') *(int *)target = kit_byte(&input) & 1 ? STDERR_FILENO : -1;
  }
  va_end(list);
  return result;
}
static int enter_container(sd_bus_message *message, char type, const char *contents) {
  (void)message;
  (void)type;
  (void)contents;
  return sign();
}
static int exit_container(sd_bus_message *message) {
  (void)message;
  return sign();
}
static int skip(sd_bus_message *message, const char *types) {
  (void)message;
  (void)types;
  return sign();
}
static int peek_type(sd_bus_message *message, char *type, const char **contents) {
  (void)message;
  *type = 'v';
  *contents = kit_byte(&input) == 0 ? NULL : text();
  return sign();
}
static const char *get_sender(sd_bus_message *message) {
  (void)message;
  const char *sender = kit_byte(&input) == 0 ? NULL : text();
  // A bus gives each program a name.
  return sender != NULL && sender[0] == 0 ? ":1.1" : sender;
}
static const sd_bus_error *get_error(sd_bus_message *message) {
  (void)message;
  if (kit_byte(&input) < 252) return NULL;
  error.name = kit_byte(&input) == 0 ? NULL : text();
  error.message = kit_byte(&input) == 0 ? NULL : text();
  return &error;
}
static sd_bus_message *unref_message(sd_bus_message *message) {
  (void)message;
  return NULL;
}
static sd_bus_slot *unref_slot(sd_bus_slot *slot) {
  for (int i = 0; i < handlerCount; i++) {
    if (slot == (sd_bus_slot *)&handlers[i]) handlers[i].handler = NULL;
  }
  if (slot == (sd_bus_slot *)&answering) answering.handler = NULL;
  return NULL;
}
static sd_bus *close_bus(sd_bus *bus) {
  (void)bus;
  return NULL;
}

bool screencast_load(struct screencast_library *library) {
  *library = (struct screencast_library){
      open_user,     is_ready,        get_unique_name, get_fd,          get_events, get_timeout,
      process,       new_call,        append,          open_container,  close_container,
      call_async,    match_signal_async, read_message, enter_container, exit_container,
      skip,          peek_type,       get_sender,      get_error,       unref_message,
      unref_slot,    close_bus};
  return true;
}

void portal_kit_bus(const uint8_t *bytes, size_t count) {
  input = (struct kit_input){bytes, count};
  handlerCount = textCount = 0;
  answering.handler = NULL;
  int next = dup(STDERR_FILENO);
  struct screencast *self = screencast_new(-1);
  struct screencast_offer offer = {0};
  struct screencast_stream stream;
  const uint64_t hour = 3600000000000;
  bool isStarted = false;
  if (screencast_connect(self, hour, &offer) == SCREENCAST_OK) {
    kit_require(offer.version != 0, "an offer without a version");
    struct screencast_request request = {SCREENCAST_MONITOR, SCREENCAST_CURSOR_HIDDEN, NULL, hour,
                                         hour};
    isStarted = screencast_start(self, &request, &stream) == SCREENCAST_OK;
    kit_require(memchr(stream.token, 0, sizeof stream.token) != NULL, "a token without an end");
    kit_require(!isStarted || stream.node != UINT32_MAX, "a session without a node");
    kit_require(isStarted == (stream.descriptor >= 0), "a descriptor without a session");
    if (stream.descriptor >= 0) close(stream.descriptor);
    screencast_process(self);
  }
  kit_require(strlen(screencast_failure(self)) < sizeof self->failure, "the failure");
  screencast_free(self);
  // Nothing stays open.
  close(next);
  int opened = dup(STDERR_FILENO);
  kit_require(opened == next, "a descriptor is left open");
  close(opened);
}
