#include "Client.h"

#ifdef FRAMEBUS_MEDIA
#include <string.h>

static void close_window(void *context, struct ext_foreign_toplevel_handle_v1 *handle) {
  (void)handle;
  struct bound_window *bound = context;
  ext_foreign_toplevel_handle_v1_destroy(bound->handle);
  memset(bound, 0, sizeof *bound);
}

static void finish_window(void *context, struct ext_foreign_toplevel_handle_v1 *handle) {
  (void)context, (void)handle;
}

static void set_title(
  void *context, struct ext_foreign_toplevel_handle_v1 *handle, const char *text) {
  (void)handle;
  struct bound_window *bound = context;
  copy_text(bound->facts.title, sizeof bound->facts.title, text);
}

static void set_program(
  void *context, struct ext_foreign_toplevel_handle_v1 *handle, const char *text) {
  (void)handle;
  struct bound_window *bound = context;
  copy_text(bound->facts.program, sizeof bound->facts.program, text);
}

static void set_id(
  void *context, struct ext_foreign_toplevel_handle_v1 *handle, const char *text) {
  (void)handle;
  struct bound_window *bound = context;
  copy_text(bound->facts.id, sizeof bound->facts.id, text);
}

static const struct ext_foreign_toplevel_handle_v1_listener windowListener = {
  close_window, finish_window, set_title, set_program, set_id,
};

static void add_window(
  void *context, struct ext_foreign_toplevel_list_v1 *list,
  struct ext_foreign_toplevel_handle_v1 *handle) {
  (void)list;
  wayland_client *client = context;
  for (uint32_t index = 0; index < WAYLAND_MAXIMUM_WINDOWS; index++) {
    struct bound_window *bound = &client->windows[index];
    if (bound->handle != NULL) continue;
    bound->client = client;
    bound->handle = handle;
    bound->facts.number = ++client->windowNumber;
    ext_foreign_toplevel_handle_v1_add_listener(handle, &windowListener, bound);
    return;
  }
  // A compositor with more windows is not served, but does no harm.
  ext_foreign_toplevel_handle_v1_destroy(handle);
}

static void finish_list(void *context, struct ext_foreign_toplevel_list_v1 *list) {
  (void)context, (void)list;
}

static const struct ext_foreign_toplevel_list_v1_listener listListener = {add_window, finish_list};

void client_list_windows(wayland_client *client) {
  if (client->list == NULL) return;
  ext_foreign_toplevel_list_v1_add_listener(client->list, &listListener, client);
}

void client_release_windows(wayland_client *client) {
  for (uint32_t index = 0; index < WAYLAND_MAXIMUM_WINDOWS; index++) {
    struct bound_window *bound = &client->windows[index];
    if (bound->handle != NULL) ext_foreign_toplevel_handle_v1_destroy(bound->handle);
  }
  if (client->list != NULL) ext_foreign_toplevel_list_v1_destroy(client->list);
}

bool wayland_client_listsWindows(const wayland_client *client) { return client->list != NULL; }

uint32_t wayland_client_windows(
  const wayland_client *client, struct wayland_window windows[WAYLAND_MAXIMUM_WINDOWS]) {
  uint32_t count = 0;
  for (uint32_t index = 0; index < WAYLAND_MAXIMUM_WINDOWS; index++) {
    const struct bound_window *bound = &client->windows[index];
    // Without an identifier, nobody could name it.
    if (bound->handle == NULL || bound->facts.id[0] == 0) continue;
    windows[count++] = bound->facts;
  }
  return count;
}

struct ext_foreign_toplevel_handle_v1 *client_window(
  const wayland_client *client, uint32_t number) {
  for (uint32_t index = 0; index < WAYLAND_MAXIMUM_WINDOWS; index++) {
    const struct bound_window *bound = &client->windows[index];
    if (bound->handle != NULL && bound->facts.number == number) return bound->handle;
  }
  return NULL;
}

bool wayland_client_hasWindow(const wayland_client *client, uint32_t number) {
  return client_window(client, number) != NULL;
}
#endif
