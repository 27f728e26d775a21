// What the files of this module share.
#pragma once
#ifdef FRAMEBUS_MEDIA
#include "CWayland.h"

#include <wayland-client.h>

#include "Protocols/ext-foreign-toplevel-list-v1-client.inc"
#include "Protocols/ext-image-capture-source-v1-client.inc"
#include "Protocols/ext-image-copy-capture-v1-client.inc"
#include "Protocols/wlr-screencopy-unstable-v1-client.inc"
#include "Protocols/xdg-output-unstable-v1-client.inc"

struct bound_output {
  wayland_client *client;
  struct wl_output *output;
  struct zxdg_output_v1 *details;
  struct wayland_output facts;
};

struct bound_window {
  wayland_client *client;
  /// NULL for none.
  struct ext_foreign_toplevel_handle_v1 *handle;
  struct wayland_window facts;
};

/// What the compositor says of the buffers that it writes to.
struct constraints {
  uint32_t width, height;
  bool hasFormat;
  uint32_t format;
};

/// A capture that lasts for many frames (ext-image-copy-capture); there is one at a time.
struct capture_session {
  struct ext_image_copy_capture_session_v1 *session;
  struct ext_image_copy_capture_frame_v1 *frame;
  struct wayland_target target;
  /// Those of the newest `done`, and those that are announced.
  struct constraints constraints, announced;
  bool isKnown, isStopped;
  /// A frame was captured: the next one comes when something changes.
  bool isUsed;
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
  struct ext_output_image_capture_source_manager_v1 *outputSources;
  struct ext_foreign_toplevel_image_capture_source_manager_v1 *windowSources;
  struct ext_image_copy_capture_manager_v1 *sessions;
  struct ext_foreign_toplevel_list_v1 *list;
  struct bound_window windows[WAYLAND_MAXIMUM_WINDOWS];
  uint32_t windowNumber;
  struct capture_session session;
  struct zwlr_screencopy_frame_v1 *copied;
  struct wayland_frame frame;
};

struct wl_output *client_output(const wayland_client *client, uint32_t id);
struct ext_foreign_toplevel_handle_v1 *client_window(
  const wayland_client *client, uint32_t number);
void copy_text(char *field, size_t count, const char *text);

/// Lists the windows from now on.
void client_list_windows(wayland_client *client);
void client_release_windows(wayland_client *client);

/// Whether a target is captured in a session.
bool client_uses_session(const wayland_client *client, const struct wayland_target *target);
/// - Returns: false if the output or window is gone.
bool session_begin(wayland_client *client, const struct wayland_target *target);
void session_copy(wayland_client *client, struct wl_buffer *buffer);
void session_end_frame(wayland_client *client);
void session_end(wayland_client *client);

void frame_add_damage(struct wayland_frame *frame, int64_t x, int64_t y, int64_t w, int64_t h);
void frame_set_time(struct wayland_frame *frame, uint32_t high, uint32_t low, uint32_t ns);

/// As ``wayland_client_wait``, for the events of a queue; NULL for the usual one.
int client_wait(
  wayland_client *client, struct wl_event_queue *queue, int stop, uint64_t deadlineNs);
#endif
