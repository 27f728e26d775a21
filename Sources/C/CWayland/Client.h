// What the files of this module share.
#pragma once
#ifdef FRAMEBUS_MEDIA
#include "CWayland.h"

#include <wayland-client.h>

#include "Protocols/wlr-screencopy-unstable-v1-client.inc"
#include "Protocols/xdg-output-unstable-v1-client.inc"

struct bound_output {
  wayland_client *client;
  struct wl_output *output;
  struct zxdg_output_v1 *details;
  struct wayland_output facts;
};

struct wayland_client {
  struct wl_display *display;
  struct wl_registry *registry;
  struct wl_callback *pending;
  struct wl_shm *memory;
  struct zxdg_output_manager_v1 *detailer;
  struct zwlr_screencopy_manager_v1 *copier;
  uint32_t copierVersion;
  uint32_t changes;
  struct bound_output outputs[WAYLAND_MAXIMUM_OUTPUTS];
  struct zwlr_screencopy_frame_v1 *copied;
  struct wayland_frame frame;
};

struct wl_output *client_output(const wayland_client *client, uint32_t id);
/// As ``wayland_client_wait``, for the events of a queue; NULL for the usual one.
int client_wait(
  wayland_client *client, struct wl_event_queue *queue, int stop, uint64_t deadlineNs);
#endif
