// The baseline of the Wayland rows of `framebus bench capture` and `pacing`, and what they capture.
//
//   BareWayland SOCKET          captures the first output as `framebus-capture wayland --fps 60`
//                               does, without the bus: wlr-screencopy into a memory file of three
//                               slots, the next frame asked for as soon as one has arrived. No
//                               other process, no notification. Reports as NumberKit does.
//   BareWayland SOCKET show     shows a window whose picture is another one at each refresh, with
//                               its number, until a signal

#ifdef FRAMEBUS_MEDIA

#define _GNU_SOURCE
#include <NumberKit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wayland-client.h>

#include "../../Sources/C/CWayland/Protocols/wlr-screencopy-unstable-v1-client.inc"

enum { SLOTS = 3, ROLE_VERSION = 1 };

static struct wl_display *display;
static struct wl_shm *memory;
static struct wl_output *output;
static struct wl_compositor *compositor;
static struct zwlr_screencopy_manager_v1 *copier;
static struct wl_proxy *shell;

static void fail(const char *what) {
  fprintf(stderr, "error: BareWayland: %s\n", what);
  exit(1);
}

static void dispatch(void) {
  if (wl_display_dispatch(display) < 0) fail("the compositor ended the connection");
}

static char *share_memory(size_t bytes, struct wl_shm_pool **pool) {
  int file = memfd_create("bare-wayland", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) fail("cannot create the memory file");
  char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (start == MAP_FAILED) fail("cannot map the memory file");
  *pool = wl_shm_create_pool(memory, file, (int32_t)bytes);
  close(file);
  return start;
}

// The capture.

static struct {
  uint32_t format, width, height, stride;
  bool isOffered, isReady, isFailed;
} frame;

static void offer(
  void *context, struct zwlr_screencopy_frame_v1 *copied, uint32_t format, uint32_t width,
  uint32_t height, uint32_t stride) {
  (void)context, (void)copied;
  frame.format = format;
  frame.width = width;
  frame.height = height;
  frame.stride = stride;
}

static void set_flags(void *context, struct zwlr_screencopy_frame_v1 *copied, uint32_t flags) {
  (void)context, (void)copied, (void)flags;
}

static void finish_copy(
  void *context, struct zwlr_screencopy_frame_v1 *copied, uint32_t high, uint32_t low,
  uint32_t nanoseconds) {
  (void)context, (void)copied, (void)high, (void)low, (void)nanoseconds;
  frame.isReady = true;
}

static void fail_copy(void *context, struct zwlr_screencopy_frame_v1 *copied) {
  (void)context, (void)copied;
  frame.isFailed = true;
}

static void add_damage(
  void *context, struct zwlr_screencopy_frame_v1 *copied, uint32_t x, uint32_t y, uint32_t width,
  uint32_t height) {
  (void)context, (void)copied, (void)x, (void)y, (void)width, (void)height;
}

static void offer_device(
  void *context, struct zwlr_screencopy_frame_v1 *copied, uint32_t format, uint32_t width,
  uint32_t height) {
  (void)context, (void)copied, (void)format, (void)width, (void)height;
}

static void finish_offers(void *context, struct zwlr_screencopy_frame_v1 *copied) {
  (void)context, (void)copied;
  frame.isOffered = true;
}

static const struct zwlr_screencopy_frame_v1_listener frameListener = {
  offer, set_flags, finish_copy, fail_copy, add_damage, offer_device, finish_offers,
};

static struct zwlr_screencopy_frame_v1 *begin_frame(void) {
  frame.isOffered = frame.isReady = frame.isFailed = false;
  struct zwlr_screencopy_frame_v1 *begun =
    zwlr_screencopy_manager_v1_capture_output(copier, 0, output);
  zwlr_screencopy_frame_v1_add_listener(begun, &frameListener, NULL);
  return begun;
}

static void capture(void) {
  if (copier == NULL || output == NULL) fail("the compositor lacks wlr-screencopy, or an output");
  number_counts *counts = number_begin();
  struct wl_buffer *buffers[SLOTS] = {0};
  char *slots = NULL;
  size_t slotBytes = 0;
  struct zwlr_screencopy_frame_v1 *begun = begin_frame();
  for (uint64_t index = 0;; index++) {
    while (!frame.isOffered && !frame.isFailed) dispatch();
    if (slots == NULL) {
      if (frame.isFailed) fail("the compositor cannot capture its output");
      if (frame.width < NUMBER_WIDTH) fail("the output is too narrow");
      slotBytes = ((size_t)frame.stride * frame.height + 4095) & ~4095ul;
      struct wl_shm_pool *pool;
      slots = share_memory(SLOTS * slotBytes, &pool);
      for (unsigned slot = 0; slot < SLOTS; slot++) {
        buffers[slot] = wl_shm_pool_create_buffer(
          pool, (int32_t)(slot * slotBytes), (int32_t)frame.width, (int32_t)frame.height,
          (int32_t)frame.stride, frame.format);
      }
    }
    if (!frame.isFailed) {
      zwlr_screencopy_frame_v1_copy_with_damage(begun, buffers[index % SLOTS]);
    }
    while (!frame.isReady && !frame.isFailed) dispatch();
    bool isReady = frame.isReady;
    zwlr_screencopy_frame_v1_destroy(begun);
    begun = begin_frame();
    wl_display_flush(display);
    if (isReady) number_note(counts, slots + index % SLOTS * slotBytes, frame.stride, 0);
  }
}

// The window, with the part of xdg-shell that it needs: its description has no other user here.

static const struct wl_interface surfaceRole, windowRole;
static const struct wl_interface *noTypes[4];
static const struct wl_interface *surfaceTypes[2] = {&surfaceRole, &wl_surface_interface};
static const struct wl_interface *windowTypes[1] = {&windowRole};
static const struct wl_message shellRequests[] = {
  {"destroy", "", noTypes}, {"create_positioner", "n", noTypes},
  {"get_xdg_surface", "no", surfaceTypes}, {"pong", "u", noTypes},
};
static const struct wl_message shellEvents[] = {{"ping", "u", noTypes}};
static const struct wl_interface shellRole = {
  "xdg_wm_base", ROLE_VERSION, 4, shellRequests, 1, shellEvents,
};
static const struct wl_message surfaceRequests[] = {
  {"destroy", "", noTypes}, {"get_toplevel", "n", windowTypes}, {"get_popup", "n?oo", noTypes},
  {"set_window_geometry", "iiii", noTypes}, {"ack_configure", "u", noTypes},
};
static const struct wl_message surfaceEvents[] = {{"configure", "u", noTypes}};
static const struct wl_interface surfaceRole = {
  "xdg_surface", ROLE_VERSION, 5, surfaceRequests, 1, surfaceEvents,
};
static const struct wl_message windowRequests[] = {{"destroy", "", noTypes}};
static const struct wl_message windowEvents[] = {
  {"configure", "iia", noTypes}, {"close", "", noTypes},
};
static const struct wl_interface windowRole = {
  "xdg_toplevel", ROLE_VERSION, 1, windowRequests, 2, windowEvents,
};
enum { GET_SURFACE = 2, PONG = 3, GET_WINDOW = 1, ACKNOWLEDGE = 4 };

static struct wl_surface *surface;
static struct {
  struct wl_buffer *buffer;
  char *pixels;
  bool isBusy;
} pictures[SLOTS];
static int32_t windowWidth, windowHeight;
static uint32_t shownNumber;
static bool isConfigured, isDue;

static void answer_ping(void *context, struct wl_proxy *from, uint32_t serial) {
  (void)context;
  wl_proxy_marshal_flags(from, PONG, NULL, ROLE_VERSION, 0, serial);
}

static void take_configuration(void *context, struct wl_proxy *from, uint32_t serial) {
  (void)context;
  wl_proxy_marshal_flags(from, ACKNOWLEDGE, NULL, ROLE_VERSION, 0, serial);
  isDue = isDue || !isConfigured;
  isConfigured = true;
}

static void ignore_size(
  void *context, struct wl_proxy *from, int32_t width, int32_t height, struct wl_array *states) {
  (void)context, (void)from, (void)width, (void)height, (void)states;
}

static void ignore_place(
  void *context, struct wl_output *from, int32_t x, int32_t y, int32_t width, int32_t height,
  int32_t subpixel, const char *make, const char *model, int32_t transform) {
  (void)context, (void)from, (void)x, (void)y, (void)width, (void)height, (void)subpixel;
  (void)make, (void)model, (void)transform;
}

/// The window is as large as the output, where a compositor that tiles windows puts it.
static void take_mode(
  void *context, struct wl_output *from, uint32_t flags, int32_t width, int32_t height,
  int32_t refresh) {
  (void)context, (void)from, (void)refresh;
  if ((flags & WL_OUTPUT_MODE_CURRENT) == 0 || pictures[0].buffer != NULL) return;
  windowWidth = width;
  windowHeight = height;
}

static const struct wl_output_listener outputListener = {
  .geometry = ignore_place, .mode = take_mode,
};

static void close_window(void *context, struct wl_proxy *from) {
  (void)context, (void)from;
  exit(0);
}

static void release_picture(void *context, struct wl_buffer *buffer) {
  (void)buffer;
  *(bool *)context = false;
}

static void take_turn(void *context, struct wl_callback *callback, uint32_t time) {
  (void)context, (void)time;
  wl_callback_destroy(callback);
  isDue = true;
}

static const struct wl_buffer_listener pictureListener = {release_picture};
static const struct wl_callback_listener turnListener = {take_turn};

static void make_pictures(void) {
  if (windowWidth < NUMBER_WIDTH) fail("the window is too narrow");
  size_t stride = (size_t)windowWidth * 4;
  size_t bytes = stride * (size_t)windowHeight;
  struct wl_shm_pool *pool;
  char *start = share_memory(SLOTS * bytes, &pool);
  for (unsigned index = 0; index < SLOTS; index++) {
    pictures[index].pixels = start + index * bytes;
    memset(pictures[index].pixels, 0x30, bytes);
    pictures[index].buffer = wl_shm_pool_create_buffer(
      pool, (int32_t)(index * bytes), windowWidth, windowHeight, (int32_t)stride,
      WL_SHM_FORMAT_XRGB8888);
    wl_buffer_add_listener(pictures[index].buffer, &pictureListener, &pictures[index].isBusy);
  }
}

/// Shows the next picture, if the compositor has given one back.
static void show_picture(void) {
  if (pictures[0].buffer == NULL) make_pictures();
  unsigned index = 0;
  while (index < SLOTS && pictures[index].isBusy) index++;
  if (index == SLOTS) return;
  isDue = false;
  size_t stride = (size_t)windowWidth * 4;
  // A large part changes, as that of a film does.
  int32_t width = windowWidth * 5 / 8, height = windowHeight * 5 / 6, top = NUMBER_HEIGHT * 2;
  uint8_t shade = (uint8_t)(shownNumber * 3);
  for (int32_t row = top; row < top + height && row < windowHeight; row++) {
    memset(pictures[index].pixels + (size_t)row * stride, shade, (size_t)width * 4);
  }
  number_draw(pictures[index].pixels, stride, ++shownNumber, number_now_ns());
  pictures[index].isBusy = true;
  wl_callback_add_listener(wl_surface_frame(surface), &turnListener, NULL);
  wl_surface_attach(surface, pictures[index].buffer, 0, 0);
  wl_surface_damage(surface, 0, 0, NUMBER_WIDTH, NUMBER_HEIGHT);
  wl_surface_damage(surface, 0, top, width, height);
  wl_surface_commit(surface);
}

static void show(void) {
  if (shell == NULL || compositor == NULL || output == NULL) fail("no window can be shown");
  static void (*const shellListener[])(void) = {(void (*)(void))answer_ping};
  static void (*const surfaceListener[])(void) = {(void (*)(void))take_configuration};
  static void (*const windowListener[])(void) = {
    (void (*)(void))ignore_size, (void (*)(void))close_window,
  };
  wl_proxy_add_listener(shell, (void (**)(void))shellListener, NULL);
  surface = wl_compositor_create_surface(compositor);
  struct wl_proxy *role = wl_proxy_marshal_flags(
    shell, GET_SURFACE, &surfaceRole, ROLE_VERSION, 0, NULL, surface);
  wl_proxy_add_listener(role, (void (**)(void))surfaceListener, NULL);
  struct wl_proxy *window =
    wl_proxy_marshal_flags(role, GET_WINDOW, &windowRole, ROLE_VERSION, 0, NULL);
  wl_proxy_add_listener(window, (void (**)(void))windowListener, NULL);
  wl_surface_commit(surface);
  for (;;) {
    dispatch();
    if (isConfigured && isDue) show_picture();
    wl_display_flush(display);
  }
}

// The connection.

static void add_global(
  void *context, struct wl_registry *registry, uint32_t id, const char *name, uint32_t version) {
  (void)context;
  if (strcmp(name, "wl_shm") == 0) {
    memory = wl_registry_bind(registry, id, &wl_shm_interface, 1);
  } else if (strcmp(name, "wl_output") == 0 && output == NULL) {
    output = wl_registry_bind(registry, id, &wl_output_interface, 1);
    wl_output_add_listener(output, &outputListener, NULL);
  } else if (strcmp(name, "wl_compositor") == 0) {
    compositor = wl_registry_bind(registry, id, &wl_compositor_interface, 1);
  } else if (strcmp(name, "zwlr_screencopy_manager_v1") == 0 && version >= 3) {
    copier = wl_registry_bind(registry, id, &zwlr_screencopy_manager_v1_interface, 3);
  } else if (strcmp(name, "xdg_wm_base") == 0) {
    shell = wl_registry_bind(registry, id, &shellRole, ROLE_VERSION);
  }
}

static void remove_global(void *context, struct wl_registry *registry, uint32_t id) {
  (void)context, (void)registry, (void)id;
}

static const struct wl_registry_listener registryListener = {add_global, remove_global};

int main(int count, char **arguments) {
  bool shows = count == 3 && strcmp(arguments[2], "show") == 0;
  if (count != 2 && !shows) fail("usage: BareWayland SOCKET [show]");
  display = wl_display_connect(arguments[1]);
  if (display == NULL) fail("cannot connect to the compositor");
  struct wl_registry *registry = wl_display_get_registry(display);
  wl_registry_add_listener(registry, &registryListener, NULL);
  if (wl_display_roundtrip(display) < 0 || memory == NULL) fail("the compositor lacks wl_shm");
  if (shows) show();
  capture();
}

#else

#include <stdio.h>

int main(void) {
  fputs("error: BareWayland was built without the package trait Media\n", stderr);
  return 1;
}

#endif
