#define _GNU_SOURCE
#include "CPlayedCompositor.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  OBJECTS = 256, HANDLES = 300, FIRST_HANDLE = 0xff000000, REQUESTS = 4096,
  /// How long the client may wait for an answer that was left out, and for any other.
  OMITTED_MS = 3, IDLE_MS = 500,
};

enum kind {
  NOTHING, DISPLAY, CALLBACK, REGISTRY, OUTPUT, SHM, POOL, BUFFER, DETAILER, DETAILS, COPIER, FRAME,
  OUTPUT_SOURCES, WINDOW_SOURCES, SOURCE, SESSIONS, SESSION, IMAGE, LIST, HANDLE, KINDS,
};

/// The arguments of each event, by the letters of wl_message.
static const char *const events[KINDS][8] = {
  [DISPLAY] = {"ous", "u"},
  [CALLBACK] = {"u"},
  [REGISTRY] = {"usu", "u"},
  [OUTPUT] = {"iiiiissi", "uiii", "", "i", "s", "s"},
  [SHM] = {"u"},
  [BUFFER] = {""},
  [DETAILS] = {"ii", "ii", "", "s", "s"},
  [FRAME] = {"uuuu", "u", "uuu", "", "uuuu", "uuu", ""},
  [SESSION] = {"uu", "u", "a", "ua", "", ""},
  [IMAGE] = {"u", "iiii", "uuu", "", "u"},
  [LIST] = {"n", ""},
  [HANDLE] = {"", "", "s", "s", "s"},
};

static const struct {
  const char *name;
  enum kind kind;
  uint32_t version;
} globals[] = {
  {"wl_shm", SHM, 1},
  {"wl_output", OUTPUT, 4},
  {"zxdg_output_manager_v1", DETAILER, 3},
  {"zwlr_screencopy_manager_v1", COPIER, 3},
  // Only if the first byte says so.
  {"ext_output_image_capture_source_manager_v1", OUTPUT_SOURCES, 1},
  {"ext_foreign_toplevel_image_capture_source_manager_v1", WINDOW_SOURCES, 1},
  {"ext_image_copy_capture_manager_v1", SESSIONS, 1},
  {"ext_foreign_toplevel_list_v1", LIST, 1},
};
enum { PLAIN_GLOBALS = 4, GLOBALS = sizeof globals / sizeof *globals };

static struct {
  int socket;
  const uint8_t *bytes;
  size_t left;
  enum kind objects[OBJECTS];
  enum kind handles[HANDLES];
  uint32_t handleCount;
  bool hasSessions, hasOmitted;
  pthread_t thread;
} own;

// The input.

static uint8_t next(void) {
  if (own.left == 0) return 0;
  own.left--;
  return *own.bytes++;
}

static uint32_t next_word(void) {
  uint32_t word = next();
  // Small numbers and edges matter more than others.
  if (word < 0x80) return word;
  if (word < 0xc0) return (word & 0x3f) << next() % 32;
  if (word < 0xe0) return ~(word & 0x1f);
  for (unsigned index = 0; index < 3; index++) word = word << 8 | next();
  return word;
}

// Events.

struct message {
  uint32_t words[512];
  unsigned count;
};

static void put(struct message *message, uint32_t word) {
  if (message->count < 512) message->words[message->count++] = word;
}

static void put_bytes(struct message *message, const void *bytes, unsigned count) {
  put(message, count);
  unsigned words = (count + 3) / 4;
  if (message->count + words > 512) return;
  memset(&message->words[message->count], 0, words * 4);
  memcpy(&message->words[message->count], bytes, count);
  message->count += words;
}

static void put_text(struct message *message, const char *text) {
  put_bytes(message, text, (unsigned)strlen(text) + 1);
}

static void send_bytes(const void *bytes, size_t count) {
  while (count > 0) {
    ssize_t sent = send(own.socket, bytes, count, MSG_NOSIGNAL);
    if (sent < 0) return;
    bytes = (const char *)bytes + sent;
    count -= (size_t)sent;
  }
}

static struct message event(uint32_t object) {
  return (struct message){.words = {object}, .count = 2};
}

static void send_event(struct message *message, uint32_t opcode) {
  message->words[1] = message->count * 4 << 16 | opcode;
  send_bytes(message->words, message->count * 4);
}

static void send_numbers(
  uint32_t object, uint32_t opcode, unsigned count, const uint32_t *numbers) {
  struct message message = event(object);
  for (unsigned index = 0; index < count; index++) put(&message, numbers[index]);
  send_event(&message, opcode);
}
#define SEND(object, opcode, ...) \
  send_numbers( \
    object, opcode, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

static void send_bare(uint32_t object, uint32_t opcode) {
  struct message message = event(object);
  send_event(&message, opcode);
}

static void send_text(uint32_t object, uint32_t opcode, const char *text) {
  struct message message = event(object);
  put_text(&message, text);
  send_event(&message, opcode);
}

/// One of the objects that are there.
static uint32_t any_object(enum kind *kind) {
  unsigned wanted = next();
  for (unsigned round = 0; round < 2; round++) {
    unsigned seen = 0;
    for (uint32_t id = 1; id < OBJECTS + own.handleCount; id++) {
      bool isHandle = id >= OBJECTS;
      *kind = isHandle ? own.handles[id - OBJECTS] : own.objects[id];
      if (*kind == NOTHING) continue;
      if (seen++ == wanted) return isHandle ? FIRST_HANDLE + id - OBJECTS : id;
    }
    wanted = seen == 0 ? 0 : wanted % seen;
  }
  *kind = DISPLAY;
  return 1;
}

static void add_handle(struct message *message) {
  if (own.handleCount == HANDLES) return;
  put(message, FIRST_HANDLE + own.handleCount);
  own.handles[own.handleCount++] = HANDLE;
}

/// An event of some object, of its kind or one that it does not have, up to 32 times.
static void send_any(void) {
  enum kind kind;
  uint32_t object = any_object(&kind);
  uint8_t choice = next();
  uint32_t opcode = choice & 7;
  unsigned repeats = choice >> 3;
  struct message message = event(object);
  const char *letters = events[kind][opcode];
  if (letters == NULL) {
    for (unsigned count = next() % 16; count > 0; count--) put(&message, next_word());
    send_event(&message, opcode);
    return;
  }
  for (const char *letter = letters; *letter != 0; letter++) {
    uint8_t bytes[300];
    unsigned count;
    switch (*letter) {
      case 's':
      case 'a':
        count = next();
        for (unsigned index = 0; index < count; index++) bytes[index] = next();
        if (*letter == 's') bytes[count++] = 0;
        put_bytes(&message, bytes, count);
        break;
      case 'n': add_handle(&message); break;
      default: put(&message, next_word());
    }
  }
  if (kind == REGISTRY && opcode == 0 && message.words[2] % 2 == 0) {
    // A global that is there, again and by another number.
    uint32_t number = message.words[2];
    message = event(object);
    put(&message, number);
    put_text(&message, globals[number / 2 % GLOBALS].name);
    put(&message, next());
  }
  bool isEnd = kind == HANDLE && opcode == 0;
  if (isEnd) own.handles[object - FIRST_HANDLE] = NOTHING;
  send_event(&message, opcode);
  for (; repeats > 0 && !isEnd; repeats--) {
    if (strcmp(letters, "n") == 0) {
      message = event(object);
      add_handle(&message);
    }
    send_event(&message, opcode);
  }
}

// Answers.

static void describe_output(uint32_t output) {
  struct message message = event(output);
  for (unsigned index = 0; index < 5; index++) put(&message, 0);
  put_text(&message, "played");
  put_text(&message, "compositor");
  put(&message, 0);
  send_event(&message, 0);
  SEND(output, 1, 1, 64, 48, 60000);
  SEND(output, 3, 1);
  send_text(output, 4, "PLAYED-1");
  send_bare(output, 2);
}

static void list_window(uint32_t list) {
  struct message message = event(list);
  uint32_t handle = FIRST_HANDLE + own.handleCount;
  add_handle(&message);
  send_event(&message, 0);
  send_text(handle, 4, "played-1");
  send_text(handle, 2, "A window");
  send_text(handle, 3, "org.example.played");
  send_bare(handle, 1);
}

static void send_globals(uint32_t registry) {
  unsigned count = own.hasSessions ? GLOBALS : PLAIN_GLOBALS;
  for (unsigned index = 0; index < count; index++) {
    struct message message = event(registry);
    put(&message, index);
    put_text(&message, globals[index].name);
    put(&message, globals[index].version);
    send_event(&message, 0);
  }
}

static void make(uint32_t id, enum kind kind) {
  if (id < OBJECTS) own.objects[id] = kind;
}

static void forget(uint32_t id) {
  own.objects[id] = NOTHING;
  SEND(1, 1, id);
}

/// Answers a request as a real compositor does.
static void answer(uint32_t id, uint32_t opcode, const uint32_t *words, unsigned count) {
  uint32_t made = count > 0 ? words[0] : 0;
  switch (own.objects[id]) {
    case DISPLAY:
      if (opcode == 0) {
        SEND(made, 0, 1);
        make(made, NOTHING);
        SEND(1, 1, made);
      } else {
        send_globals(made);
      }
      break;
    case REGISTRY: {
      uint32_t bound = count < 4 ? 0 : words[count - 1];
      if (bound >= OBJECTS) break;
      if (own.objects[bound] == OUTPUT) describe_output(bound);
      if (own.objects[bound] == LIST) list_window(bound);
      break;
    }
    case DETAILER:
      if (opcode == 1) SEND(made, 1, 64, 48);
      break;
    case COPIER:
      SEND(made, 0, 1, 64, 48, 256);
      SEND(made, 5, 0x34325258, 64, 48);
      send_bare(made, 6);
      break;
    case FRAME:
      if (opcode == 1) {
        forget(id);
        break;
      }
      SEND(id, 1, 0);
      SEND(id, 4, 0, 0, 64, 48);
      SEND(id, 2, 0, 1, 1);
      break;
    case SESSIONS:
      SEND(made, 0, 64, 48);
      SEND(made, 1, 1);
      send_bare(made, 4);
      break;
    case SESSION:
      if (opcode == 1) forget(id);
      break;
    case IMAGE:
      if (opcode == 0) forget(id);
      if (opcode != 3) break;
      SEND(id, 0, 0);
      SEND(id, 1, 0, 0, 64, 48);
      SEND(id, 2, 0, 1, 1);
      send_bare(id, 3);
      break;
    case HANDLE:
    case OUTPUT:
    case BUFFER:
    case SOURCE:
    case DETAILS: forget(id); break;
    case POOL:
      if (opcode == 1) forget(id);
      break;
    default: break;
  }
}

/// Keeps the objects that a request creates.
static void note(uint32_t id, uint32_t opcode, const uint32_t *words, unsigned count) {
  uint32_t made = count > 0 ? words[0] : 0;
  switch (own.objects[id]) {
    case DISPLAY: make(made, opcode == 0 ? CALLBACK : REGISTRY); break;
    case REGISTRY: {
      if (count < 4) break;
      const char *name = (const char *)&words[2];
      for (unsigned index = 0; index < GLOBALS; index++) {
        size_t size = strlen(globals[index].name) + 1;
        if (words[1] != size || memcmp(name, globals[index].name, size) != 0) continue;
        make(words[count - 1], globals[index].kind);
      }
      break;
    }
    case SHM: make(made, POOL); break;
    case POOL:
      if (opcode == 0) make(made, BUFFER);
      break;
    case DETAILER:
      if (opcode == 1) make(made, DETAILS);
      break;
    case COPIER: make(made, FRAME); break;
    case OUTPUT_SOURCES:
    case WINDOW_SOURCES:
      if (opcode == 0) make(made, SOURCE);
      break;
    case SESSIONS: make(made, SESSION); break;
    case SESSION:
      if (opcode == 0) make(made, IMAGE);
      break;
    default: break;
  }
}

static void handle(uint32_t id, uint32_t opcode, const uint32_t *words, unsigned count) {
  // A request of a handle is its end.
  if (id >= OBJECTS) return;
  note(id, opcode, words, count);
  uint8_t deed = next();
  for (unsigned index = deed & 3; index > 0; index--) send_any();
  if (deed & 4) {
    own.hasOmitted = true;
  } else {
    answer(id, opcode, words, count);
  }
  if (deed & 8) send_any();
}

static void *play(void *unused) {
  (void)unused;
  static uint32_t words[1 << 14];
  size_t kept = 0;
  for (unsigned requests = 0; requests < REQUESTS;) {
    struct pollfd source = {.fd = own.socket, .events = POLLIN};
    int ready = poll(&source, 1, own.hasOmitted ? OMITTED_MS : IDLE_MS);
    if (ready == 0) {
      // The client waits for what was left out.
      if (own.left == 0) break;
      send_any();
      continue;
    }
    ssize_t count = read(own.socket, (char *)words + kept, sizeof words - kept);
    if (count <= 0) break;
    kept += (size_t)count;
    size_t done = 0;
    while (kept - done >= 8) {
      const uint32_t *message = words + done / 4;
      size_t size = message[1] >> 16;
      if (size < 8 || size % 4 != 0 || size > kept - done) break;
      handle(message[0], message[1] & 0xffff, message + 2, (unsigned)(size / 4 - 2));
      requests++;
      done += size;
    }
    memmove(words, (char *)words + done, kept - done);
    kept -= done;
  }
  close(own.socket);
  return NULL;
}

int played_compositor_begin(const uint8_t *bytes, size_t count) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  memset(&own, 0, sizeof own);
  own.socket = ends[0];
  own.bytes = bytes;
  own.left = count;
  own.objects[1] = DISPLAY;
  own.hasSessions = next() & 1;
  if (pthread_create(&own.thread, NULL, play, NULL) == 0) return ends[1];
  close(ends[0]);
  close(ends[1]);
  return -1;
}

void played_compositor_end(void) { pthread_join(own.thread, NULL); }
