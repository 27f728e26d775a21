#include "Client.h"

#ifdef FRAMEBUS_MEDIA
#include <string.h>

/// The formats that a capture takes, the best first (`wl_shm.format`).
static const uint32_t formats[] = {
  WL_SHM_FORMAT_XRGB8888,    WL_SHM_FORMAT_ARGB8888,    WL_SHM_FORMAT_XBGR8888,
  WL_SHM_FORMAT_ABGR8888,    WL_SHM_FORMAT_XRGB2101010, WL_SHM_FORMAT_ARGB2101010,
  WL_SHM_FORMAT_XBGR2101010, WL_SHM_FORMAT_ABGR2101010, WL_SHM_FORMAT_RGB888,
  WL_SHM_FORMAT_BGR888,
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static unsigned rank(uint32_t format) {
  unsigned index = 0;
  while (index < FORMAT_COUNT && formats[index] != format) index++;
  return index;
}

static uint32_t pixel_bytes(uint32_t format) {
  return format == WL_SHM_FORMAT_RGB888 || format == WL_SHM_FORMAT_BGR888 ? 3 : 4;
}

// The session.

static void offer_known(wayland_client *client) {
  const struct constraints *known = &client->session.constraints;
  struct wayland_frame *frame = &client->frame;
  frame->format = known->format;
  frame->width = known->width;
  frame->height = known->height;
  // The protocol leaves it to the client. Wraps for a size that no frame can have.
  frame->stride = (known->width * pixel_bytes(known->format) + 3) & ~3u;
  frame->stage = WAYLAND_OFFERED;
}

static void set_size(
  void *context, struct ext_image_copy_capture_session_v1 *session, uint32_t width,
  uint32_t height) {
  (void)session;
  struct constraints *announced = &((wayland_client *)context)->session.announced;
  announced->width = width;
  announced->height = height;
}

static void add_format(
  void *context, struct ext_image_copy_capture_session_v1 *session, uint32_t format) {
  (void)session;
  struct constraints *announced = &((wayland_client *)context)->session.announced;
  if (announced->hasFormat && rank(announced->format) <= rank(format)) return;
  announced->hasFormat = true;
  announced->format = format;
}

static void set_device(
  void *context, struct ext_image_copy_capture_session_v1 *session, struct wl_array *device) {
  (void)context, (void)session, (void)device;
}

static void add_device_format(
  void *context, struct ext_image_copy_capture_session_v1 *session, uint32_t format,
  struct wl_array *modifiers) {
  (void)context, (void)session, (void)format, (void)modifiers;
}

static void finish_constraints(
  void *context, struct ext_image_copy_capture_session_v1 *session) {
  (void)session;
  wayland_client *client = context;
  struct capture_session *own = &client->session;
  if (own->announced.hasFormat) {
    own->constraints = own->announced;
  } else {
    // Only what has changed may be sent again.
    own->constraints.width = own->announced.width;
    own->constraints.height = own->announced.height;
  }
  own->announced.hasFormat = false;
  own->isKnown = own->constraints.hasFormat;
  // A frame whose copy has begun fails by itself if it does not fit.
  wayland_stage stage = client->frame.stage;
  bool isWaiting = stage == WAYLAND_ASKED || stage == WAYLAND_OFFERED;
  if (own->isKnown && isWaiting && client->copied == NULL) offer_known(client);
}

static void stop_session(void *context, struct ext_image_copy_capture_session_v1 *session) {
  (void)session;
  wayland_client *client = context;
  client->session.isStopped = true;
  if (client->copied == NULL && client->frame.stage != WAYLAND_NONE) {
    client->frame.stage = WAYLAND_FAILED;
  }
}

static const struct ext_image_copy_capture_session_v1_listener sessionListener = {
  set_size, add_format, set_device, add_device_format, finish_constraints, stop_session,
};

bool client_uses_session(const wayland_client *client, const struct wayland_target *target) {
  if (client->sessions == NULL) return false;
  if (target->isWindow) return client->windowSources != NULL && client->list != NULL;
  // A session captures all of an output.
  return client->outputSources != NULL && target->area.width == 0;
}

static struct ext_image_capture_source_v1 *source_of(
  wayland_client *client, const struct wayland_target *target) {
  if (target->isWindow) {
    struct ext_foreign_toplevel_handle_v1 *window = client_window(client, target->id);
    return window == NULL
             ? NULL
             : ext_foreign_toplevel_image_capture_source_manager_v1_create_source(
                 client->windowSources, window);
  }
  struct wl_output *output = client_output(client, target->id);
  return output == NULL ? NULL
                        : ext_output_image_capture_source_manager_v1_create_source(
                            client->outputSources, output);
}

static bool is_same(const struct wayland_target *one, const struct wayland_target *other) {
  return one->id == other->id && one->isWindow == other->isWindow
         && one->drawsCursor == other->drawsCursor;
}

bool session_begin(wayland_client *client, const struct wayland_target *target) {
  struct capture_session *own = &client->session;
  bool isThere = target->isWindow ? client_window(client, target->id) != NULL
                                  : client_output(client, target->id) != NULL;
  if (!isThere) return false;
  if (own->session != NULL && (own->isStopped || !is_same(&own->target, target))) {
    session_end(client);
  }
  if (own->session == NULL) {
    struct ext_image_capture_source_v1 *source = source_of(client, target);
    if (source == NULL) return false;
    own->session = ext_image_copy_capture_manager_v1_create_session(
      client->sessions, source,
      target->drawsCursor ? EXT_IMAGE_COPY_CAPTURE_MANAGER_V1_OPTIONS_PAINT_CURSORS : 0);
    ext_image_capture_source_v1_destroy(source);
    if (own->session == NULL) return false;
    own->target = *target;
    ext_image_copy_capture_session_v1_add_listener(own->session, &sessionListener, client);
  }
  client->frame.stage = WAYLAND_ASKED;
  if (own->isKnown) offer_known(client);
  return true;
}

void session_end(wayland_client *client) {
  struct capture_session *own = &client->session;
  session_end_frame(client);
  if (own->session != NULL) ext_image_copy_capture_session_v1_destroy(own->session);
  memset(own, 0, sizeof *own);
}

bool wayland_client_waitsForDamage(const wayland_client *client) {
  return client->session.session != NULL && client->session.isUsed;
}

// Its frames.

static void set_transform(
  void *context, struct ext_image_copy_capture_frame_v1 *copied, uint32_t transform) {
  (void)copied;
  ((wayland_client *)context)->frame.transform = transform > 7 ? 0 : (int32_t)transform;
}

static void add_damage(
  void *context, struct ext_image_copy_capture_frame_v1 *copied, int32_t x, int32_t y,
  int32_t width, int32_t height) {
  (void)copied;
  frame_add_damage(&((wayland_client *)context)->frame, x, y, width, height);
}

static void set_time(
  void *context, struct ext_image_copy_capture_frame_v1 *copied, uint32_t high, uint32_t low,
  uint32_t nanoseconds) {
  (void)copied;
  frame_set_time(&((wayland_client *)context)->frame, high, low, nanoseconds);
}

static void finish_copy(void *context, struct ext_image_copy_capture_frame_v1 *copied) {
  (void)copied;
  wayland_client *client = context;
  if (client->frame.stage != WAYLAND_COPYING) return;
  client->frame.stage = WAYLAND_READY;
  client->session.isUsed = true;
}

static void fail(
  void *context, struct ext_image_copy_capture_frame_v1 *copied, uint32_t reason) {
  (void)copied;
  wayland_client *client = context;
  if (reason == EXT_IMAGE_COPY_CAPTURE_FRAME_V1_FAILURE_REASON_STOPPED) {
    client->session.isStopped = true;
  }
  client->frame.stage = WAYLAND_FAILED;
}

static const struct ext_image_copy_capture_frame_v1_listener frameListener = {
  set_transform, add_damage, set_time, finish_copy, fail,
};

void session_copy(wayland_client *client, struct wl_buffer *buffer) {
  struct capture_session *own = &client->session;
  own->frame = own->session == NULL
                 ? NULL
                 : ext_image_copy_capture_session_v1_create_frame(own->session);
  if (own->frame == NULL) {
    client->frame.stage = WAYLAND_FAILED;
    return;
  }
  ext_image_copy_capture_frame_v1_add_listener(own->frame, &frameListener, client);
  ext_image_copy_capture_frame_v1_attach_buffer(own->frame, buffer);
  // The slot has the picture of some frame long ago: all of it is written.
  ext_image_copy_capture_frame_v1_damage_buffer(
    own->frame, 0, 0, (int32_t)client->frame.width, (int32_t)client->frame.height);
  ext_image_copy_capture_frame_v1_capture(own->frame);
}

void session_end_frame(wayland_client *client) {
  struct capture_session *own = &client->session;
  if (own->frame != NULL) ext_image_copy_capture_frame_v1_destroy(own->frame);
  own->frame = NULL;
}
#endif
