// The baseline of `framebus bench capture`: the screen grab of `framebus-capture screen` without
// the bus. MIT-SHM into a memory file of three slots, the same DAMAGE requests in the same order,
// the same pacing by absolute deadlines; no cursor, no other process, no notification.
//
//   BareGrab DISPLAY FPS              prints "N frames" each second, until a signal
//   BareGrab DISPLAY windows COUNT    shows COUNT small windows, of which the first asks for
//                                     protection; moves every second one 60 times a second

#ifdef FRAMEBUS_MEDIA

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xcb/damage.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xfixes.h>

enum { SLOTS = 3 };

struct grabber {
  xcb_connection_t *connection;
  xcb_screen_t *screen;
  xcb_shm_seg_t segment;
  xcb_damage_damage_t damage;
  xcb_xfixes_region_t region;
  uint8_t damage_event;
  uint32_t slot_bytes;
  uint64_t frames;
};

static void fail(const char *what) {
  fprintf(stderr, "error: BareGrab: %s\n", what);
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void sleep_until(uint64_t ns) {
  struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) continue;
}

static void connect_display(struct grabber *self, const char *display) {
  self->connection = xcb_connect(display, NULL);
  if (xcb_connection_has_error(self->connection)) fail("cannot open the display");
  self->screen = xcb_setup_roots_iterator(xcb_get_setup(self->connection)).data;
  const xcb_query_extension_reply_t *damage =
      xcb_get_extension_data(self->connection, &xcb_damage_id);
  if (damage == NULL || !damage->present) fail("the server lacks DAMAGE");
  self->damage_event = damage->first_event + XCB_DAMAGE_NOTIFY;
  // Each extension serves requests only after its version was queried.
  free(xcb_damage_query_version_reply(
      self->connection, xcb_damage_query_version(self->connection, 1, 1), NULL));
  free(xcb_xfixes_query_version_reply(
      self->connection, xcb_xfixes_query_version(self->connection, 5, 0), NULL));
}

static void share_memory(struct grabber *self) {
  uint32_t bytes = 4u * self->screen->width_in_pixels * self->screen->height_in_pixels;
  self->slot_bytes = (bytes + 4095u) & ~4095u;
  int file = memfd_create("bare-grab", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)SLOTS * self->slot_bytes) != 0) {
    fail("cannot create the memory file");
  }
  self->segment = xcb_generate_id(self->connection);
  xcb_void_cookie_t cookie =
      xcb_shm_attach_fd_checked(self->connection, self->segment, file, 0);
  if (xcb_request_check(self->connection, cookie) != NULL) fail("the server cannot map memory");
}

static void watch_damage(struct grabber *self) {
  self->damage = xcb_generate_id(self->connection);
  self->region = xcb_generate_id(self->connection);
  xcb_damage_create(
      self->connection, self->damage, self->screen->root, XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY);
  xcb_xfixes_create_region(self->connection, self->region, 0, NULL);
  xcb_flush(self->connection);
}

static int is_damaged(struct grabber *self) {
  int found = 0;
  xcb_generic_event_t *event = xcb_poll_for_event(self->connection);
  while (event != NULL) {
    if ((event->response_type & 0x7F) == self->damage_event) found = 1;
    free(event);
    event = xcb_poll_for_queued_event(self->connection);
  }
  if (xcb_connection_has_error(self->connection)) fail("the connection to the server ended");
  return found;
}

static void grab(struct grabber *self) {
  xcb_connection_t *connection = self->connection;
  xcb_damage_subtract(connection, self->damage, XCB_NONE, self->region);
  xcb_xfixes_fetch_region_cookie_t changes = xcb_xfixes_fetch_region(connection, self->region);
  xcb_shm_get_image_cookie_t cookie = xcb_shm_get_image(
      connection, self->screen->root, 0, 0, self->screen->width_in_pixels,
      self->screen->height_in_pixels, UINT32_MAX, XCB_IMAGE_FORMAT_Z_PIXMAP, self->segment,
      (uint32_t)(self->frames % SLOTS) * self->slot_bytes);
  xcb_shm_get_image_reply_t *image = xcb_shm_get_image_reply(connection, cookie, NULL);
  if (image == NULL) fail("the server refused a grab");
  free(image);
  free(xcb_xfixes_fetch_region_reply(connection, changes, NULL));
  self->frames++;
}

// What a capture with protection has to follow, for its rows in the table.
static void show_windows(struct grabber *self, const char *display, uint32_t count) {
  self->connection = xcb_connect(display, NULL);
  if (xcb_connection_has_error(self->connection)) fail("cannot open the display");
  self->screen = xcb_setup_roots_iterator(xcb_get_setup(self->connection)).data;
  const char name[] = "_FRAMEBUS_PROTECTED";
  xcb_intern_atom_reply_t *mark = xcb_intern_atom_reply(
      self->connection, xcb_intern_atom(self->connection, 0, sizeof name - 1, name), NULL);
  if (mark == NULL) fail("the server knows no properties");
  xcb_window_t windows[1000];
  if (count > 1000) fail("more than 1000 windows");
  for (uint32_t index = 0; index < count; index++) {
    xcb_window_t window = windows[index] = xcb_generate_id(self->connection);
    uint32_t values[] = {0x445566u + index, 1};
    xcb_create_window(
        self->connection, XCB_COPY_FROM_PARENT, window, self->screen->root,
        (int16_t)(index % 50 * 24), (int16_t)(index / 50 * 12), 20, 10, 0,
        XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT,
        XCB_CW_BACK_PIXEL | XCB_CW_OVERRIDE_REDIRECT, values);
    const uint32_t yes = 1;
    if (index == 0) {
      xcb_change_property(
          self->connection, XCB_PROP_MODE_REPLACE, window, mark->atom, XCB_ATOM_CARDINAL, 32, 1,
          &yes);
    }
    xcb_map_window(self->connection, window);
  }
  free(mark);
  uint64_t start = now_ns();
  for (uint64_t tick = 0; !xcb_connection_has_error(self->connection); tick++) {
    for (uint32_t index = 0; index < count; index += 2) {
      const uint32_t x = index % 50 * 24 + (uint32_t)(tick % 4);
      xcb_configure_window(self->connection, windows[index], XCB_CONFIG_WINDOW_X, &x);
    }
    xcb_flush(self->connection);
    sleep_until(start + (tick + 1) * 1000000000u / 60);
  }
}

int main(int count, char **arguments) {
  if (count == 4 && strcmp(arguments[2], "windows") == 0) {
    struct grabber owner = {0};
    show_windows(&owner, arguments[1], (uint32_t)strtoul(arguments[3], NULL, 10));
    return 0;
  }
  long fps = count == 3 ? strtol(arguments[2], NULL, 10) : 0;
  if (fps < 1 || fps > 1000) fail("usage: BareGrab DISPLAY FPS");
  struct grabber self = {0};
  connect_display(&self, arguments[1]);
  share_memory(&self);
  watch_damage(&self);
  uint64_t start = now_ns();
  uint64_t report_at = start + 1000000000u;
  uint64_t index = 0;
  for (;;) {
    sleep_until(start + index * 1000000000u / (uint64_t)fps);
    // The first event is sent when the damage object is created, or with the first change.
    if (is_damaged(&self)) grab(&self);
    uint64_t now = now_ns();
    if (now >= report_at) {
      report_at += 1000000000u;
      printf("%llu frames\n", (unsigned long long)self.frames);
      fflush(stdout);
    }
    // The next deadline that is less than one interval in the past.
    index++;
    uint64_t current = (now - start) * (uint64_t)fps / 1000000000u;
    if (current > index) index = current;
  }
}

#else

#include <stdio.h>

int main(void) {
  fputs("error: BareGrab was built without the package trait Media\n", stderr);
  return 1;
}

#endif
