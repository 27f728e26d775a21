#include "Client.h"

#ifdef FRAMEBUS_MEDIA
#include <stdlib.h>
#include <string.h>

void frame_add_damage(struct wayland_frame *frame, int64_t x, int64_t y, int64_t w, int64_t h) {
  if (frame->stage != WAYLAND_COPYING) return;
  bool isPossible = x >= 0 && y >= 0 && w >= 0 && h >= 0;
  if (frame->damageCount == WAYLAND_MAXIMUM_DAMAGE || !isPossible) {
    frame->hasMoreDamage = true;
    return;
  }
  frame->damage[frame->damageCount++] =
    (struct wayland_area){(uint32_t)x, (uint32_t)y, (uint32_t)w, (uint32_t)h};
}

void frame_set_time(struct wayland_frame *frame, uint32_t high, uint32_t low, uint32_t ns) {
  // May wrap; the caller compares it with its own clock.
  frame->presentedNs = ((uint64_t)high << 32 | low) * 1000000000u + ns;
}

static void offer(
  void *context, struct zwlr_screencopy_frame_v1 *copied, uint32_t format, uint32_t width,
  uint32_t height, uint32_t stride) {
  (void)copied;
  wayland_client *client = context;
  struct wayland_frame *frame = &client->frame;
  if (frame->stage != WAYLAND_ASKED) return;
  frame->format = format;
  frame->width = width;
  frame->height = height;
  frame->stride = stride;
  // Later versions offer other kinds of buffers before they say that this is all.
  if (client->copierVersion < ZWLR_SCREENCOPY_FRAME_V1_BUFFER_DONE_SINCE_VERSION) {
    frame->stage = WAYLAND_OFFERED;
  }
}

static void offer_device_buffer(
  void *context, struct zwlr_screencopy_frame_v1 *copied, uint32_t format, uint32_t width,
  uint32_t height) {
  (void)context, (void)copied, (void)format, (void)width, (void)height;
}

static void finish_offers(void *context, struct zwlr_screencopy_frame_v1 *copied) {
  (void)copied;
  struct wayland_frame *frame = &((wayland_client *)context)->frame;
  if (frame->stage == WAYLAND_ASKED) frame->stage = WAYLAND_OFFERED;
}

static void set_flags(void *context, struct zwlr_screencopy_frame_v1 *copied, uint32_t flags) {
  (void)copied;
  ((wayland_client *)context)->frame.isInverted =
    (flags & ZWLR_SCREENCOPY_FRAME_V1_FLAGS_Y_INVERT) != 0;
}

static void add_damage(
  void *context, struct zwlr_screencopy_frame_v1 *copied, uint32_t x, uint32_t y, uint32_t width,
  uint32_t height) {
  (void)copied;
  frame_add_damage(&((wayland_client *)context)->frame, x, y, width, height);
}

static void finish_copy(
  void *context, struct zwlr_screencopy_frame_v1 *copied, uint32_t high, uint32_t low,
  uint32_t nanoseconds) {
  (void)copied;
  struct wayland_frame *frame = &((wayland_client *)context)->frame;
  if (frame->stage != WAYLAND_COPYING) return;
  frame_set_time(frame, high, low, nanoseconds);
  frame->stage = WAYLAND_READY;
}

static void fail(void *context, struct zwlr_screencopy_frame_v1 *copied) {
  (void)copied;
  ((wayland_client *)context)->frame.stage = WAYLAND_FAILED;
}

static const struct zwlr_screencopy_frame_v1_listener frameListener = {
  offer, set_flags, finish_copy, fail, add_damage, offer_device_buffer, finish_offers,
};

bool wayland_frame_begin(wayland_client *client, const struct wayland_target *target) {
  wayland_frame_end(client);
  if (client_uses_session(client, target)) return session_begin(client, target);
  struct wl_output *output = target->isWindow ? NULL : client_output(client, target->id);
  if (output == NULL || client->copier == NULL) return false;
  const struct wayland_area *area = &target->area;
  client->copied =
    area->width == 0
      ? zwlr_screencopy_manager_v1_capture_output(client->copier, target->drawsCursor, output)
      : zwlr_screencopy_manager_v1_capture_output_region(
          client->copier, target->drawsCursor, output, (int32_t)area->x, (int32_t)area->y,
          (int32_t)area->width, (int32_t)area->height);
  if (client->copied == NULL) return false;
  zwlr_screencopy_frame_v1_add_listener(client->copied, &frameListener, client);
  client->frame.stage = WAYLAND_ASKED;
  return true;
}

void wayland_frame_copy(wayland_client *client, wayland_buffer *buffer, bool waitsForDamage) {
  if (client->frame.stage != WAYLAND_OFFERED) return;
  client->frame.stage = WAYLAND_COPYING;
  struct wl_buffer *target = (struct wl_buffer *)buffer;
  if (client->copied == NULL) {
    session_copy(client, target);
  } else if (
    waitsForDamage
      && client->copierVersion >= ZWLR_SCREENCOPY_FRAME_V1_COPY_WITH_DAMAGE_SINCE_VERSION) {
    zwlr_screencopy_frame_v1_copy_with_damage(client->copied, target);
  } else {
    zwlr_screencopy_frame_v1_copy(client->copied, target);
  }
}

void wayland_frame_end(wayland_client *client) {
  if (client->copied != NULL) zwlr_screencopy_frame_v1_destroy(client->copied);
  client->copied = NULL;
  session_end_frame(client);
  memset(&client->frame, 0, sizeof client->frame);
  client->frame.transform = -1;
}

void wayland_client_rest(wayland_client *client) {
  wayland_frame_end(client);
  session_end(client);
  // Nobody may wait, and so send, for long.
  wl_display_flush(client->display);
}

const struct wayland_frame *wayland_client_frame(const wayland_client *client) {
  return &client->frame;
}

// Memory.

struct wayland_pool {
  struct wl_shm_pool *pool;
  struct wl_event_queue *queue;
};

static void note_answer(void *context, struct wl_callback *callback, uint32_t serial) {
  (void)callback, (void)serial;
  *(bool *)context = true;
}

static const struct wl_callback_listener answerListener = {note_answer};

/// Waits until the compositor has handled all requests until now, with events of a queue alone.
static bool wait_for_answer(
  wayland_client *client, struct wl_event_queue *queue, int stop, uint64_t deadlineNs) {
  struct wl_display *asked = wl_proxy_create_wrapper(client->display);
  if (asked == NULL) return false;
  wl_proxy_set_queue((struct wl_proxy *)asked, queue);
  struct wl_callback *callback = wl_display_sync(asked);
  wl_proxy_wrapper_destroy(asked);
  if (callback == NULL) return false;
  bool isAnswered = false;
  wl_callback_add_listener(callback, &answerListener, &isAnswered);
  while (!isAnswered && client_wait(client, queue, stop, deadlineNs) > 0) {}
  wl_callback_destroy(callback);
  return isAnswered;
}

wayland_pool *wayland_pool_create(
  wayland_client *client, int descriptor, int32_t bytes, int stop, uint64_t deadlineNs) {
  wayland_pool *pool = calloc(1, sizeof *pool);
  if (pool == NULL) return NULL;
  pool->queue = wl_display_create_queue(client->display);
  // Its events come to the queue of the object that it is made by.
  struct wl_shm *memory =
    client->memory == NULL || pool->queue == NULL ? NULL : wl_proxy_create_wrapper(client->memory);
  if (memory != NULL) {
    wl_proxy_set_queue((struct wl_proxy *)memory, pool->queue);
    pool->pool = wl_shm_create_pool(memory, descriptor, bytes);
    wl_proxy_wrapper_destroy(memory);
  }
  if (pool->pool != NULL && wait_for_answer(client, pool->queue, stop, deadlineNs)) {
    // Its buffers' events are handled where those of frames are.
    wl_proxy_set_queue((struct wl_proxy *)pool->pool, NULL);
    return pool;
  }
  wayland_pool_destroy(pool);
  return NULL;
}

void wayland_pool_destroy(wayland_pool *pool) {
  if (pool->pool != NULL) wl_shm_pool_destroy(pool->pool);
  if (pool->queue != NULL) wl_event_queue_destroy(pool->queue);
  free(pool);
}

wayland_buffer *wayland_buffer_create(
  wayland_pool *pool, int32_t offset, int32_t width, int32_t height, int32_t stride,
  uint32_t format) {
  return (wayland_buffer *)wl_shm_pool_create_buffer(
    pool->pool, offset, width, height, stride, format);
}

void wayland_buffer_destroy(wayland_buffer *buffer) {
  wl_buffer_destroy((struct wl_buffer *)buffer);
}
#endif
