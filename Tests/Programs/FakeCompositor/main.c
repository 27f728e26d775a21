// A Wayland compositor with one output and one window, in the wire format itself, that breaks every
// rule of it.
//
//   FakeCompositor SOCKET [NAME=VALUE]…
//
// width=, height=, stride=, format=: of its frames; 64, 48, four times the width, 1 (XRGB8888).
// color=: of all pixels, 0xRRGGBB. version=: of wlr-screencopy, 3; 0 for none. transform=,
// inverted=1. ext=1: it has ext-image-copy-capture too. closed=1: its window is gone. hidden=1: it
// is minimised, without frames. pointer=1: the second pixel is green, in frames that have it.
// at=STAGE do=DEED times=N: what it does at the first N moments of a kind. Stages: connect,
// globals, output, pool, capture, copy. Deeds: silence, close, malformed, oversize, error,
// failed, flood, strange (an event for an object that is not there), damage (areas outside the
// picture), twice (each event of a frame two times), early (ready before it was asked).
//
// A line on standard input changes the values, `off=1` among them, which fails each capture; each
// line is a change of the picture too. It prints `capture` and `copy` for each, `served` once a
// client has all globals, and `session` and `rested` when a capture of many frames begins and ends.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MAXIMUM_OBJECTS = 4096, MAXIMUM_BUFFER = 1 << 16 };

enum kind {
  NOTHING, DISPLAY, REGISTRY, OUTPUT, SHM, POOL, BUFFER, DETAILER, DETAILS, COPIER, FRAME,
  OUTPUT_SOURCES, WINDOW_SOURCES, SOURCE, SESSIONS, SESSION, IMAGE, LIST,
};

struct object {
  enum kind kind;
  // Of a pool, or of a buffer's pool.
  char *memory;
  size_t size;
  // Of a buffer.
  int32_t offset, width, height, stride;
  // Of a frame, or of a session: whether it shows the pointer.
  bool hasPointer;
  // Of a session: whether it has delivered a frame.
  bool isUsed;
  // Of a frame of a session: that session, and the buffer.
  uint32_t session, buffer;
};

static struct object objects[MAXIMUM_OBJECTS];
static struct {
  char *memory;
  size_t size;
} pools[256];
static unsigned poolCount;
static int client = -1;
static bool isSilent;
/// The frame that waits for a change, and its buffer; 0 for none.
static uint32_t waiting, waitingBuffer;
/// The picture has changed while no frame waited.
static bool isChanged;
/// The session that was last created, and the window's handle; 0 for none.
static uint32_t newestSession, window;
static long sentWidth, sentHeight, sentFormat;
/// Nothing was read from the client yet.
static bool isNew;

static long width = 64, height = 48, stride = 0, format = 1, color = 0x204060, version = 3;
static long transform, inverted, off, times = 1, ext, closed, pointer, hidden;
static char stage[32], deed[32];

static void set(char *text) {
  char *equals = strchr(text, '=');
  if (equals == NULL) return;
  *equals = 0;
  const char *value = equals + 1;
  const struct {
    const char *name;
    long *value;
  } numbers[] = {
    {"width", &width},         {"height", &height},     {"stride", &stride},
    {"format", &format},       {"color", &color},       {"version", &version},
    {"transform", &transform}, {"inverted", &inverted}, {"off", &off},
    {"times", &times},         {"ext", &ext},           {"closed", &closed},
    {"pointer", &pointer},     {"hidden", &hidden},
  };
  for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
    if (strcmp(text, numbers[index].name) == 0) *numbers[index].value = strtol(value, NULL, 0);
  }
  if (strcmp(text, "at") == 0) snprintf(stage, sizeof stage, "%s", value);
  if (strcmp(text, "do") == 0) snprintf(deed, sizeof deed, "%s", value);
}

struct message {
  uint32_t words[256];
  unsigned count;
};

static void put(struct message *message, uint32_t word) { message->words[message->count++] = word; }

static void put_text(struct message *message, const char *text) {
  size_t count = strlen(text) + 1;
  put(message, (uint32_t)count);
  memset(&message->words[message->count], 0, (count + 3) & ~3ul);
  memcpy(&message->words[message->count], text, count);
  message->count += (unsigned)((count + 3) / 4);
}

static void send_bytes(const void *bytes, size_t count) {
  while (client >= 0 && !isSilent && count > 0) {
    struct pollfd target = {.fd = client, .events = POLLOUT};
    ssize_t sent = poll(&target, 1, 10000) <= 0 ? -1 : send(client, bytes, count, MSG_NOSIGNAL);
    // A client that does not read is of no interest.
    isSilent = sent < 0;
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

static void send_bare(uint32_t object, uint32_t opcode) {
  send_event(&(struct message){.words = {object}, .count = 2}, opcode);
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

static void send_global(uint32_t registry, uint32_t name, const char *interface, uint32_t most) {
  struct message message = event(registry);
  put(&message, name);
  put_text(&message, interface);
  put(&message, most);
  send_event(&message, 0);
}

static void end_client(void) {
  if (client >= 0) close(client);
  client = -1;
  // A pool's mapping stays until here, as its buffers need it.
  for (unsigned index = 0; index < poolCount; index++) {
    munmap(pools[index].memory, pools[index].size);
  }
  poolCount = 0;
  memset(objects, 0, sizeof objects);
  waiting = newestSession = window = 0;
  printf("ended\n");
}

static bool misbehaves(const char *now, uint32_t object) {
  if (strcmp(stage, now) != 0 || times <= 0) return false;
  times--;
  if (strcmp(deed, "silence") == 0) {
    isSilent = true;
  } else if (strcmp(deed, "close") == 0) {
    end_client();
  } else if (strcmp(deed, "malformed") == 0) {
    SEND(object, 0xff, 0x9e3779b9u);
  } else if (strcmp(deed, "oversize") == 0) {
    // Announces more bytes than any event may have, and sends none of them.
    send_bytes((uint32_t[]){object, 0xffffu << 16}, 8);
  } else if (strcmp(deed, "error") == 0) {
    struct message message = event(1);
    put(&message, object);
    put(&message, 3);
    put_text(&message, "no");
    send_event(&message, 0);
  } else if (strcmp(deed, "failed") == 0) {
    bool isImage = objects[object].kind == IMAGE;
    SEND(object, isImage ? 4 : 3, 0);
  } else if (strcmp(deed, "flood") == 0) {
    for (unsigned index = 0; index < 2000; index++) {
      send_global(2, 100 + index, "wl_output", 4);
      send_global(2, 100 + index, "wl_nothing", 4);
    }
    return false;
  } else if (strcmp(deed, "strange") == 0) {
    SEND(3999, 0, 1, 2, 3, 4);
    return false;
  } else {
    times++;
    return false;
  }
  return true;
}

static bool does(const char *what) { return strcmp(deed, what) == 0 && times > 0; }

static void describe_output(uint32_t output) {
  struct message message = event(output);
  for (unsigned index = 0; index < 5; index++) put(&message, 0);
  put_text(&message, "fake");
  put_text(&message, "compositor");
  put(&message, (uint32_t)transform);
  send_event(&message, 0);
  SEND(output, 1, 1, (uint32_t)width, (uint32_t)height, 60000);
  SEND(output, 3, 1);
  message = event(output);
  put_text(&message, "FAKE-1");
  send_event(&message, 4);
  send_bare(output, 2);
}

static void offer_frame(uint32_t frame) {
  printf("capture\n");
  if (off) {
    send_bare(frame, 3);
    return;
  }
  if (misbehaves("capture", frame)) return;
  if (does("early")) SEND(frame, 2, 0, 0, 0);
  long rowBytes = stride != 0 ? stride : width * 4;
  for (int round = 0; round < (does("twice") ? 2 : 1); round++) {
    SEND(frame, 0, (uint32_t)format, (uint32_t)width, (uint32_t)height, (uint32_t)rowBytes);
    if (version >= 3) {
      SEND(frame, 5, 0x34325258, 1, 1);
      send_bare(frame, 6);
    }
  }
}

/// RGB888 and BGR888 have 3.
static size_t pixel_bytes(void) { return format == 0x34324752 || format == 0x34324742 ? 3 : 4; }

static void fill(const struct object *buffer, bool hasPointer) {
  size_t bytes = pixel_bytes();
  for (int32_t row = 0; row < buffer->height; row++) {
    size_t start = (size_t)buffer->offset + (size_t)row * (size_t)buffer->stride;
    if (buffer->memory == NULL || start + (size_t)buffer->width * bytes > buffer->size) return;
    char *at = buffer->memory + start;
    uint32_t *pixels = (uint32_t *)at;
    for (int32_t i = 0; i < buffer->width; i++, at += bytes) memcpy(at, &color, bytes);
    if (bytes != 4) continue;
    // The first pixel of the picture in memory.
    if (row == 0) pixels[0] = 0xff0000;
    if (row == 0 && pointer && hasPointer) pixels[1] = 0x00ff00;
  }
}

static void finish_frame(uint32_t frame, uint32_t buffer) {
  waiting = isChanged = 0;
  printf("copy\n");
  if (misbehaves("copy", frame)) return;
  const struct object *target = &objects[buffer % MAXIMUM_OBJECTS];
  // As real ones do when the output has another layout now.
  if (target->width != width || target->height != height) return send_bare(frame, 3);
  fill(target, objects[frame].hasPointer);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (int round = 0; round < (does("twice") ? 2 : 1); round++) {
    SEND(frame, 1, (uint32_t)inverted);
    if (does("damage")) {
      for (uint32_t index = 0; index < 100; index++) SEND(frame, 4, ~0u - index, 7, ~0u, ~0u);
    } else {
      SEND(frame, 4, 0, 0, (uint32_t)width, (uint32_t)height);
    }
    SEND(frame, 2, 0, (uint32_t)now.tv_sec, (uint32_t)now.tv_nsec);
  }
}

static void constrain(uint32_t session) {
  printf("capture\n");
  if (misbehaves("capture", session)) return;
  sentWidth = width;
  sentHeight = height;
  sentFormat = format;
  for (int round = 0; round < (does("twice") ? 2 : 1); round++) {
    if (does("early")) send_bare(session, 4);
    SEND(session, 0, (uint32_t)width, (uint32_t)height);
    // The client takes the best, wherever it is.
    if (format == 1) SEND(session, 1, 0x36314752);
    SEND(session, 1, (uint32_t)format);
    if (format == 1) SEND(session, 1, 0x30335258);
    SEND(session, 2, 0);
    SEND(session, 3, 0x34325258, 8, 0, 0);
    send_bare(session, 4);
  }
}

static void finish_image(uint32_t image) {
  struct object *frame = &objects[image];
  waiting = isChanged = 0;
  printf("copy\n");
  if (misbehaves("copy", image)) return;
  const struct object *buffer = &objects[frame->buffer];
  if (off || buffer->width != sentWidth || buffer->height != sentHeight) {
    SEND(image, 4, off ? 0 : 1);
    return;
  }
  fill(buffer, frame->hasPointer);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (int round = 0; round < (does("twice") ? 2 : 1); round++) {
    if (does("early")) send_bare(image, 3);
    SEND(image, 0, (uint32_t)transform);
    if (does("damage")) {
      for (uint32_t index = 0; index < 100; index++) SEND(image, 1, ~0u - index, 7, ~0u, ~0u);
    } else {
      SEND(image, 1, 0, 0, (uint32_t)width, (uint32_t)height);
    }
    SEND(image, 2, 0, (uint32_t)now.tv_sec, (uint32_t)now.tv_nsec);
    send_bare(image, 3);
  }
  objects[frame->session].isUsed = true;
}

static void change_picture(void) {
  if (client < 0) return;
  if (closed && window != 0) {
    SEND(window, 0);
    window = 0;
    if (newestSession != 0) send_bare(newestSession, 5);
    if (waiting != 0 && objects[waiting].kind == IMAGE) SEND(waiting, 4, 2);
    waiting = 0;
    return;
  }
  bool isOther = sentWidth != width || sentHeight != height || sentFormat != format;
  if (newestSession != 0 && isOther) constrain(newestSession);
  isChanged = waiting == 0;
  if (isChanged || hidden) return;
  if (objects[waiting].kind == IMAGE) {
    finish_image(waiting);
  } else {
    finish_frame(waiting, waitingBuffer);
  }
}

static void list_window(uint32_t list) {
  if (closed) return;
  // The first number of those that a server gives.
  window = 0xff000000;
  SEND(list, 0, window);
  struct message message = event(window);
  put_text(&message, "fake-1");
  send_event(&message, 4);
  message = event(window);
  put_text(&message, "A \x1b[31mwindow");
  send_event(&message, 2);
  message = event(window);
  put_text(&message, "org.example.fake");
  send_event(&message, 3);
  send_bare(window, 1);
}

static void bind_global(uint32_t name, uint32_t id) {
  static const enum kind kinds[] = {
    NOTHING, SHM, OUTPUT, COPIER, DETAILER, OUTPUT_SOURCES, WINDOW_SOURCES, SESSIONS, LIST,
  };
  if (name < sizeof kinds / sizeof *kinds) objects[id].kind = kinds[name];
  if (objects[id].kind == OUTPUT && !misbehaves("output", id)) describe_output(id);
  if (objects[id].kind == LIST && !misbehaves("list", id)) list_window(id);
}

static void forget(uint32_t id) {
  objects[id] = (struct object){0};
  SEND(1, 1, id);
}

static void handle(
  uint32_t id, uint32_t opcode, const uint32_t *words, unsigned count, int *descriptor) {
  if (id >= MAXIMUM_OBJECTS || count > 64) return;
  // What a short request lacks is 0.
  uint32_t arguments[64] = {0};
  memcpy(arguments, words, count * 4);
  uint32_t made = arguments[0] < MAXIMUM_OBJECTS ? arguments[0] : 0;
  switch (objects[id].kind) {
    case DISPLAY:
      if (opcode == 0) {
        if (misbehaves("sync", id)) break;
        SEND(made, 0, 1);
        SEND(1, 1, made);
      } else {
        objects[made].kind = REGISTRY;
        if (misbehaves("globals", made)) break;
        send_global(made, 1, "wl_shm", 1);
        send_global(made, 2, "wl_output", 4);
        send_global(made, 3, "zwlr_screencopy_manager_v1", (uint32_t)version);
        send_global(made, 4, "zxdg_output_manager_v1", 3);
        if (ext) {
          send_global(made, 5, "ext_output_image_capture_source_manager_v1", 1);
          send_global(made, 6, "ext_foreign_toplevel_image_capture_source_manager_v1", 1);
          send_global(made, 7, "ext_image_copy_capture_manager_v1", 1);
          send_global(made, 8, "ext_foreign_toplevel_list_v1", 1);
        }
        printf("served\n");
      }
      break;
    case REGISTRY: {
      // name, text, version, id
      uint32_t textWords = (arguments[1] + 3) / 4;
      if (count < 4 || 3 + textWords >= count) break;
      uint32_t bound = arguments[3 + textWords];
      if (bound < MAXIMUM_OBJECTS) bind_global(arguments[0], bound);
      break;
    }
    case SHM:
      if (misbehaves("pool", id)) break;
      objects[made] = (struct object){.kind = POOL, .size = arguments[1]};
      void *memory =
        mmap(NULL, arguments[1], PROT_READ | PROT_WRITE, MAP_SHARED, *descriptor, 0);
      if (memory == MAP_FAILED || poolCount == 256) {
        printf("unmappable\n");
      } else {
        objects[made].memory = memory;
        pools[poolCount].memory = memory;
        pools[poolCount++].size = arguments[1];
      }
      if (*descriptor >= 0) close(*descriptor);
      *descriptor = -1;
      break;
    case POOL:
      if (opcode == 0) {
        objects[made] = (struct object){
          .kind = BUFFER, .memory = objects[id].memory, .size = objects[id].size,
          .offset = (int32_t)arguments[1], .width = (int32_t)arguments[2],
          .height = (int32_t)arguments[3], .stride = (int32_t)arguments[4],
        };
      } else if (opcode == 1) {
        forget(id);
      }
      break;
    case DETAILER:
      if (opcode == 1) {
        objects[made].kind = DETAILS;
        bool isTurned = transform % 2 == 1;
        SEND(made, 0, 0, 0);
        SEND(made, 1, (uint32_t)(isTurned ? height : width), (uint32_t)(isTurned ? width : height));
      }
      break;
    case COPIER:
      if (opcode == 2) break;
      objects[made] = (struct object){.kind = FRAME, .hasPointer = arguments[1] != 0};
      offer_frame(made);
      break;
    case FRAME:
      if (opcode == 1) {
        if (waiting == id) waiting = 0;
        forget(id);
      } else if (opcode == 2 && !isChanged) {
        waiting = id;
        waitingBuffer = arguments[0];
      } else {
        finish_frame(id, arguments[0]);
      }
      break;
    case OUTPUT_SOURCES:
    case WINDOW_SOURCES:
      if (opcode == 0) objects[made].kind = SOURCE;
      break;
    case SESSIONS:
      if (opcode != 0) break;
      objects[made] = (struct object){.kind = SESSION, .hasPointer = (arguments[2] & 1) != 0};
      newestSession = made;
      printf("session\n");
      constrain(made);
      break;
    case SESSION:
      if (opcode == 0) {
        objects[made] = (struct object){
          .kind = IMAGE, .hasPointer = objects[id].hasPointer, .session = id,
        };
      } else {
        if (newestSession == id) newestSession = 0;
        printf("rested\n");
        forget(id);
      }
      break;
    case IMAGE:
      if (opcode == 0) {
        if (waiting == id) waiting = 0;
        forget(id);
      } else if (opcode == 1) {
        objects[id].buffer = made;
      } else if (opcode == 3) {
        if (hidden || (objects[objects[id].session].isUsed && !isChanged)) {
          waiting = id;
        } else {
          finish_image(id);
        }
      }
      break;
    case SOURCE:
    case BUFFER:
    case OUTPUT:
    case DETAILS: forget(id); break;
    case LIST:
    case NOTHING: break;
  }
}

/// Reads what the client sent. Returns false at its end.
static bool read_requests(void) {
  static uint32_t words[MAXIMUM_BUFFER / 4];
  static size_t kept;
  static int descriptors[64];
  static unsigned descriptorCount;
  if (isNew) kept = descriptorCount = 0;
  isNew = false;
  char control[CMSG_SPACE(sizeof(int) * 28)];
  struct iovec bytes = {(char *)words + kept, sizeof words - kept};
  struct msghdr header = {
    .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control,
    .msg_controllen = sizeof control,
  };
  ssize_t count = recvmsg(client, &header, MSG_CMSG_CLOEXEC);
  if (count <= 0) return count < 0 && errno == EAGAIN;
  for (struct cmsghdr *one = CMSG_FIRSTHDR(&header); one != NULL; one = CMSG_NXTHDR(&header, one)) {
    if (one->cmsg_type != SCM_RIGHTS) continue;
    size_t size = one->cmsg_len - CMSG_LEN(0);
    for (size_t index = 0; index < size / sizeof(int) && descriptorCount < 64; index++) {
      memcpy(&descriptors[descriptorCount++], CMSG_DATA(one) + index * sizeof(int), sizeof(int));
    }
  }
  kept += (size_t)count;
  size_t done = 0;
  while (kept - done >= 8 && client >= 0) {
    const uint32_t *message = words + done / 4;
    size_t size = message[1] >> 16;
    if (size < 8 || size % 4 != 0) return false;
    if (size > kept - done) break;
    int descriptor = -1;
    bool takesOne = message[0] < MAXIMUM_OBJECTS && objects[message[0]].kind == SHM;
    if (takesOne && descriptorCount > 0) {
      descriptor = descriptors[0];
      memmove(descriptors, descriptors + 1, --descriptorCount * sizeof(int));
    }
    handle(
      message[0], message[1] & 0xffff, message + 2, (unsigned)(size / 4 - 2), &descriptor);
    if (descriptor >= 0) close(descriptor);
    done += size;
  }
  memmove(words, (char *)words + done, kept - done);
  kept -= done;
  return client >= 0;
}

/// Reads lines from standard input. Returns false at its end.
static bool read_commands(void) {
  char text[4096];
  ssize_t count = read(0, text, sizeof text - 1);
  if (count <= 0) return false;
  text[count] = 0;
  for (char *word = strtok(text, " \n"); word != NULL; word = strtok(NULL, " \n")) set(word);
  change_picture();
  return true;
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int index = 2; index < count; index++) set(arguments[index]);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", arguments[1]);
  unlink(arguments[1]);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(listener, 8) != 0) {
    perror(arguments[1]);
    return 1;
  }
  printf("listens\n");
  bool hasCommands = true;
  for (;;) {
    struct pollfd sources[3] = {
      {.fd = hasCommands ? 0 : -1, .events = POLLIN},
      {.fd = client < 0 ? listener : -1, .events = POLLIN},
      {.fd = client, .events = POLLIN},
    };
    if (poll(sources, 3, -1) < 0) return 1;
    if (sources[0].revents != 0 && !read_commands()) hasCommands = false;
    if (sources[1].revents != 0) {
      client = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (client < 0) continue;
      isSilent = false;
      isNew = true;
      objects[1].kind = DISPLAY;
      misbehaves("connect", 1);
    }
    if (sources[2].revents != 0 && client >= 0 && !read_requests()) end_client();
  }
}
