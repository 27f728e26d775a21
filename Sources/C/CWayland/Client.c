#define _GNU_SOURCE
#include "Client.h"

#ifdef FRAMEBUS_MEDIA
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/// Something about an output is another now.
static void note_change(struct bound_output *bound) { bound->client->changes++; }

void copy_text(char *field, size_t count, const char *text) {
  snprintf(field, count, "%s", text == NULL ? "" : text);
}

// Outputs.

static void set_geometry(
  void *context, struct wl_output *output, int32_t x, int32_t y, int32_t width, int32_t height,
  int32_t subpixel, const char *make, const char *model, int32_t transform) {
  (void)output, (void)width, (void)height, (void)subpixel, (void)make, (void)model;
  struct bound_output *bound = context;
  bound->facts.x = x;
  bound->facts.y = y;
  bound->facts.transform = transform;
  note_change(bound);
}

static void set_mode(
  void *context, struct wl_output *output, uint32_t flags, int32_t width, int32_t height,
  int32_t refresh) {
  (void)output;
  struct bound_output *bound = context;
  if ((flags & WL_OUTPUT_MODE_CURRENT) == 0) return;
  bound->facts.width = width;
  bound->facts.height = height;
  bound->facts.refreshMilliHz = refresh;
  note_change(bound);
}

static void set_scale(void *context, struct wl_output *output, int32_t scale) {
  (void)output;
  struct bound_output *bound = context;
  bound->facts.scale = scale;
  note_change(bound);
}

static void set_name(void *context, struct wl_output *output, const char *name) {
  (void)output;
  struct bound_output *bound = context;
  copy_text(bound->facts.name, sizeof bound->facts.name, name);
}

static void set_description(void *context, struct wl_output *output, const char *text) {
  (void)output;
  struct bound_output *bound = context;
  copy_text(bound->facts.description, sizeof bound->facts.description, text);
}

static void finish_output(void *context, struct wl_output *output) {
  (void)context, (void)output;
}

static const struct wl_output_listener outputListener = {
  set_geometry, set_mode, finish_output, set_scale, set_name, set_description,
};

static void set_logical_position(
  void *context, struct zxdg_output_v1 *details, int32_t x, int32_t y) {
  (void)details;
  struct bound_output *bound = context;
  bound->facts.x = x;
  bound->facts.y = y;
}

static void set_logical_size(
  void *context, struct zxdg_output_v1 *details, int32_t width, int32_t height) {
  (void)details;
  struct bound_output *bound = context;
  bound->facts.logicalWidth = width;
  bound->facts.logicalHeight = height;
  note_change(bound);
}

static void finish_details(void *context, struct zxdg_output_v1 *details) {
  (void)context, (void)details;
}

static void set_detailed_name(void *context, struct zxdg_output_v1 *details, const char *name) {
  (void)details;
  struct bound_output *bound = context;
  if (bound->facts.name[0] == 0) copy_text(bound->facts.name, sizeof bound->facts.name, name);
}

static void set_detailed_description(
  void *context, struct zxdg_output_v1 *details, const char *text) {
  (void)details;
  struct bound_output *bound = context;
  copy_text(bound->facts.description, sizeof bound->facts.description, text);
}

static const struct zxdg_output_v1_listener detailsListener = {
  set_logical_position, set_logical_size, finish_details, set_detailed_name,
  set_detailed_description,
};

static void ask_details(wayland_client *client, struct bound_output *bound) {
  if (client->detailer == NULL || bound->details != NULL) return;
  bound->details = zxdg_output_manager_v1_get_xdg_output(client->detailer, bound->output);
  if (bound->details == NULL) return;
  zxdg_output_v1_add_listener(bound->details, &detailsListener, bound);
}

static struct bound_output *find_output(wayland_client *client, uint32_t id) {
  for (uint32_t index = 0; index < WAYLAND_MAXIMUM_OUTPUTS; index++) {
    struct bound_output *bound = &client->outputs[index];
    if (bound->output != NULL && bound->facts.id == id) return bound;
  }
  return NULL;
}

struct wl_output *client_output(const wayland_client *client, uint32_t id) {
  struct bound_output *bound = find_output((wayland_client *)client, id);
  return bound == NULL ? NULL : bound->output;
}

static void release_output(struct bound_output *bound) {
  if (bound->details != NULL) zxdg_output_v1_destroy(bound->details);
  if (bound->output == NULL) return;
  if (wl_output_get_version(bound->output) >= WL_OUTPUT_RELEASE_SINCE_VERSION) {
    wl_output_release(bound->output);
  } else {
    wl_output_destroy(bound->output);
  }
}

static void add_output(wayland_client *client, uint32_t id, uint32_t version) {
  struct bound_output *bound = NULL;
  for (uint32_t index = 0; index < WAYLAND_MAXIMUM_OUTPUTS && bound == NULL; index++) {
    if (client->outputs[index].output == NULL) bound = &client->outputs[index];
  }
  // A compositor with more outputs is not served, but does no harm.
  if (bound == NULL || find_output(client, id) != NULL) return;
  memset(bound, 0, sizeof *bound);
  bound->facts.id = id;
  bound->client = client;
  bound->facts.scale = 1;
  bound->output = wl_registry_bind(
    client->registry, id, &wl_output_interface, version > 4 ? 4 : version);
  if (bound->output == NULL) return;
  wl_output_add_listener(bound->output, &outputListener, bound);
  ask_details(client, bound);
}

uint32_t wayland_client_outputs(
  const wayland_client *client, struct wayland_output outputs[WAYLAND_MAXIMUM_OUTPUTS]) {
  uint32_t count = 0;
  for (uint32_t index = 0; index < WAYLAND_MAXIMUM_OUTPUTS; index++) {
    if (client->outputs[index].output == NULL) continue;
    outputs[count++] = client->outputs[index].facts;
  }
  return count;
}

uint32_t wayland_client_changes(const wayland_client *client) { return client->changes; }

// Globals.

static bool is(const char *name, const struct wl_interface *interface) {
  return strcmp(name, interface->name) == 0;
}

static uint32_t lower(uint32_t one, uint32_t other) { return one < other ? one : other; }

static void add_global(
  void *context, struct wl_registry *registry, uint32_t id, const char *name, uint32_t version) {
  wayland_client *client = context;
  if (version == 0) return;
  if (is(name, &wl_output_interface)) {
    add_output(client, id, version);
  } else if (is(name, &wl_shm_interface) && client->memory == NULL) {
    client->memory = wl_registry_bind(registry, id, &wl_shm_interface, 1);
  } else if (is(name, &zwlr_screencopy_manager_v1_interface) && client->copier == NULL) {
    client->copierVersion = lower(version, 3);
    client->copier = wl_registry_bind(
      registry, id, &zwlr_screencopy_manager_v1_interface, client->copierVersion);
  } else if (
    is(name, &ext_output_image_capture_source_manager_v1_interface)
    && client->outputSources == NULL) {
    client->outputSources =
      wl_registry_bind(registry, id, &ext_output_image_capture_source_manager_v1_interface, 1);
  } else if (
    is(name, &ext_foreign_toplevel_image_capture_source_manager_v1_interface)
    && client->windowSources == NULL) {
    client->windowSources = wl_registry_bind(
      registry, id, &ext_foreign_toplevel_image_capture_source_manager_v1_interface, 1);
  } else if (
    is(name, &ext_image_copy_capture_manager_v1_interface) && client->sessions == NULL) {
    client->sessions =
      wl_registry_bind(registry, id, &ext_image_copy_capture_manager_v1_interface, 1);
  } else if (is(name, &ext_foreign_toplevel_list_v1_interface) && client->list == NULL) {
    client->list = wl_registry_bind(registry, id, &ext_foreign_toplevel_list_v1_interface, 1);
    client_list_windows(client);
  } else if (is(name, &zxdg_output_manager_v1_interface) && client->detailer == NULL) {
    client->detailer = wl_registry_bind(
      registry, id, &zxdg_output_manager_v1_interface, lower(version, 3));
    for (uint32_t index = 0; index < WAYLAND_MAXIMUM_OUTPUTS && client->detailer != NULL; index++) {
      struct bound_output *bound = &client->outputs[index];
      if (bound->output != NULL) ask_details(client, bound);
    }
  }
}

static void remove_global(void *context, struct wl_registry *registry, uint32_t id) {
  (void)registry;
  wayland_client *client = context;
  struct bound_output *bound = find_output(client, id);
  if (bound == NULL) return;
  release_output(bound);
  memset(bound, 0, sizeof *bound);
  client->changes++;
}

static const struct wl_registry_listener registryListener = {add_global, remove_global};

const char *wayland_client_missing(
  const wayland_client *client, const struct wayland_target *target) {
  if (client->memory == NULL) return wl_shm_interface.name;
  if (client_uses_session(client, target)) return NULL;
  if (!target->isWindow) {
    return client->copier == NULL ? zwlr_screencopy_manager_v1_interface.name : NULL;
  }
  if (client->list == NULL) return ext_foreign_toplevel_list_v1_interface.name;
  if (client->sessions == NULL) return ext_image_copy_capture_manager_v1_interface.name;
  return ext_foreign_toplevel_image_capture_source_manager_v1_interface.name;
}

// The connection.

static void keep_silent(const char *format, va_list arguments) { (void)format, (void)arguments; }

wayland_client *wayland_client_create(int socket) {
  // libwayland writes to standard error what `wayland_client_failure` tells.
  wl_log_set_handler_client(keep_silent);
  wayland_client *client = calloc(1, sizeof *client);
  struct wl_display *display = wl_display_connect_to_fd(socket);
  if (client == NULL || display == NULL) {
    if (display != NULL) wl_display_disconnect(display);
    free(client);
    return NULL;
  }
  client->display = display;
  client->registry = wl_display_get_registry(display);
  if (client->registry == NULL) {
    wayland_client_destroy(client);
    return NULL;
  }
  wl_registry_add_listener(client->registry, &registryListener, client);
  return client;
}

void wayland_client_destroy(wayland_client *client) {
  wayland_client_rest(client);
  client_release_windows(client);
  for (uint32_t index = 0; index < WAYLAND_MAXIMUM_OUTPUTS; index++) {
    release_output(&client->outputs[index]);
  }
  if (client->pending != NULL) wl_callback_destroy(client->pending);
  if (client->outputSources != NULL) {
    ext_output_image_capture_source_manager_v1_destroy(client->outputSources);
  }
  if (client->windowSources != NULL) {
    ext_foreign_toplevel_image_capture_source_manager_v1_destroy(client->windowSources);
  }
  if (client->sessions != NULL) ext_image_copy_capture_manager_v1_destroy(client->sessions);
  if (client->copier != NULL) zwlr_screencopy_manager_v1_destroy(client->copier);
  if (client->detailer != NULL) zxdg_output_manager_v1_destroy(client->detailer);
  if (client->memory != NULL) wl_shm_destroy(client->memory);
  if (client->registry != NULL) wl_registry_destroy(client->registry);
  wl_display_flush(client->display);
  wl_display_disconnect(client->display);
  free(client);
}

void wayland_client_cut(wayland_client *client) {
  shutdown(wl_display_get_fd(client->display), SHUT_RDWR);
}

/// Milliseconds until a moment, rounded up; -1 for one that is too far away.
static int milliseconds_until(uint64_t deadlineNs) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t nowNs = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  if (deadlineNs <= nowNs) return 0;
  uint64_t rest = (deadlineNs - nowNs + 999999) / 1000000;
  return rest > INT32_MAX ? -1 : (int)rest;
}

/// Waits while this thread has announced to read.
/// - Returns: 1 if the connection is readable, 0 if not.
static int poll_connection(wayland_client *client, int stop, uint64_t deadlineNs) {
  struct pollfd sources[2] = {
    {.fd = wl_display_get_fd(client->display), .events = POLLIN},
    {.fd = stop, .events = POLLIN},
  };
  // The rest follows with the next wait: the compositor is behind.
  if (wl_display_flush(client->display) < 0 && errno == EAGAIN) sources[0].events |= POLLOUT;
  int count = poll(sources, 2, milliseconds_until(deadlineNs));
  return count > 0 && (sources[0].revents & (POLLIN | POLLERR | POLLHUP)) != 0;
}

int client_wait(
  wayland_client *client, struct wl_event_queue *queue, int stop, uint64_t deadlineNs) {
  struct wl_display *display = client->display;
  bool isUsual = queue == NULL;
  while ((isUsual ? wl_display_prepare_read(display)
                  : wl_display_prepare_read_queue(display, queue)) < 0) {
    int count = isUsual ? wl_display_dispatch_pending(display)
                        : wl_display_dispatch_queue_pending(display, queue);
    if (count != 0) return count < 0 ? -1 : 1;
  }
  bool isReadable = poll_connection(client, stop, deadlineNs);
  if (!isReadable) {
    wl_display_cancel_read(display);
    return wl_display_get_error(display) != 0 ? -1 : 0;
  }
  if (wl_display_read_events(display) < 0) return -1;
  int count = isUsual ? wl_display_dispatch_pending(display)
                      : wl_display_dispatch_queue_pending(display, queue);
  return count < 0 ? -1 : 1;
}

int wayland_client_wait(wayland_client *client, int stop, uint64_t deadlineNs) {
  return client_wait(client, NULL, stop, deadlineNs);
}

static void finish_synchronizing(void *context, struct wl_callback *callback, uint32_t serial) {
  (void)serial;
  wayland_client *client = context;
  wl_callback_destroy(callback);
  client->pending = NULL;
}

static const struct wl_callback_listener synchronizedListener = {finish_synchronizing};

bool wayland_client_synchronize(wayland_client *client) {
  if (client->pending != NULL) wl_callback_destroy(client->pending);
  client->pending = wl_display_sync(client->display);
  if (client->pending == NULL) return false;
  wl_callback_add_listener(client->pending, &synchronizedListener, client);
  return true;
}

bool wayland_client_isSynchronized(const wayland_client *client) {
  return client->pending == NULL;
}

void wayland_client_failure(wayland_client *client, char *text, size_t count) {
  int error = wl_display_get_error(client->display);
  const struct wl_interface *interface = NULL;
  uint32_t id = 0;
  text[0] = 0;
  if (error == EPROTO) {
    uint32_t code = wl_display_get_protocol_error(client->display, &interface, &id);
    const char *name = interface == NULL ? "an object" : interface->name;
    snprintf(text, count, "protocol error %u of %s", code, name);
  } else if (error != 0 && error != EPIPE && error != ECONNRESET) {
    snprintf(text, count, "%s", strerror(error));
  }
}
#endif
