#if __has_include(<pipewire/pipewire.h>)
#define _GNU_SOURCE
#include <errno.h>
#include <spa/debug/types.h>
#include <spa/param/video/format-utils.h>
#include <spa/utils/result.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CPipeWire.h"
#include "PictureMemory.h"
#include "PipeWireFormats.h"
#include "PipeWireLibrary.h"

/// What a producer says of a picture, read once.
struct claim {
  uint32_t offset;
  int32_t stride;
  struct fb_pipewire_rect crop;
  uint64_t ptsNs;
  uint32_t transform;
};

struct fb_pipewire_capture {
  const struct fb_pipewire_library *library;
  struct pw_loop *loop;
  struct pw_context *context;
  struct pw_core *core;
  struct pw_registry *registry;
  struct pw_stream *stream;
  struct spa_hook core_listener, registry_listener, stream_listener;
  struct spa_fraction rate;
  uint32_t node;
  bool isNodeSeen;
  int listed;
  enum fb_pipewire_state state;
  /// The stream ends because this wants another one.
  bool isRestarting;
  char failure[256];

  struct fb_pipewire_format format;
  bool hasNewFormat;
  /// Not returned before the next one has come, so that it can be copied again.
  struct pw_buffer *newest;
  struct claim claim;
  bool isNew;
  bool isFullDamage;
  uint32_t damageCount;
  struct fb_pipewire_rect damage[FB_PIPEWIRE_MAXIMUM_DAMAGE];
  uint64_t skipped;
  uint64_t malformed;
};

static void fail(struct fb_pipewire_capture *self, enum fb_pipewire_state state, const char *why) {
  // The first reason counts: what follows are its consequences.
  if (self->state >= FB_PIPEWIRE_NO_NODE) return;
  self->state = state;
  snprintf(self->failure, sizeof self->failure, "%s", why);
}

// MARK: The node and its server

static void core_error(void *user, uint32_t id, int sequence, int result, const char *message) {
  (void)sequence;
  struct fb_pipewire_capture *self = user;
  // A message that crossed the end of its object is answered by ENOENT, and nothing is lost.
  if (id != PW_ID_CORE || result == -ENOENT) return;
  fail(self, result == -EPIPE ? FB_PIPEWIRE_NO_SERVER : FB_PIPEWIRE_FAILED,
       message != NULL ? message : spa_strerror(result));
}

static void core_done(void *user, uint32_t id, int sequence) {
  struct fb_pipewire_capture *self = user;
  if (id == PW_ID_CORE && sequence == self->listed && !self->isNodeSeen) {
    fail(self, FB_PIPEWIRE_NO_NODE, "PipeWire has no such node");
  }
}

static const struct pw_core_events core_events = {
    PW_VERSION_CORE_EVENTS, .error = core_error, .done = core_done};

static void registry_global(void *user, uint32_t id, uint32_t permissions, const char *type,
                            uint32_t version, const struct spa_dict *properties) {
  (void)permissions;
  (void)version;
  (void)properties;
  struct fb_pipewire_capture *self = user;
  if (id == self->node && !strcmp(type, PW_TYPE_INTERFACE_Node)) self->isNodeSeen = true;
}

static void registry_global_remove(void *user, uint32_t id) {
  struct fb_pipewire_capture *self = user;
  if (id == self->node) fail(self, FB_PIPEWIRE_NO_NODE, "the node has ended");
}

static const struct pw_registry_events registry_events = {
    PW_VERSION_REGISTRY_EVENTS,
    .global = registry_global,
    .global_remove = registry_global_remove};

// MARK: The stream

static void state_changed(void *user, enum pw_stream_state before, enum pw_stream_state now,
                          const char *error) {
  struct fb_pipewire_capture *self = user;
  if (self->isRestarting) return;
  if (now == PW_STREAM_STATE_ERROR) {
    fail(self, FB_PIPEWIRE_FAILED, error != NULL ? error : "the stream failed");
  } else if (now == PW_STREAM_STATE_UNCONNECTED && before != PW_STREAM_STATE_UNCONNECTED) {
    fail(self, FB_PIPEWIRE_NO_NODE, "the node has ended");
  }
}

static void add_damage(struct fb_pipewire_capture *self, struct fb_pipewire_rect rect) {
  if (self->isFullDamage) return;
  if (self->damageCount == FB_PIPEWIRE_MAXIMUM_DAMAGE) {
    self->isFullDamage = true;
  } else {
    self->damage[self->damageCount++] = rect;
  }
}

/// Reads a rectangle once. One that is not inside the picture becomes empty.
static struct fb_pipewire_rect read_rect(const struct fb_pipewire_capture *self,
                                         const volatile struct spa_region *region) {
  int32_t x = region->position.x, y = region->position.y;
  uint32_t width = region->size.width, height = region->size.height;
  bool isInside = x >= 0 && y >= 0 && (uint32_t)x < self->format.width &&
                  (uint32_t)y < self->format.height && width <= self->format.width - (uint32_t)x &&
                  height <= self->format.height - (uint32_t)y;
  if (!isInside) return (struct fb_pipewire_rect){0, 0, 0, 0};
  return (struct fb_pipewire_rect){(uint32_t)x, (uint32_t)y, width, height};
}

static bool isEmpty(struct fb_pipewire_rect rect) { return rect.width == 0 || rect.height == 0; }

static void take_damage(struct fb_pipewire_capture *self, const struct spa_buffer *buffer) {
  const struct spa_meta *meta = spa_buffer_find_meta(buffer, SPA_META_VideoDamage);
  uint32_t count = meta != NULL ? meta->size / sizeof(struct spa_meta_region) : 0;
  for (uint32_t i = 0; i < count; i++) {
    const volatile struct spa_region *region = &((struct spa_meta_region *)meta->data)[i].region;
    bool isEnd = region->size.width == 0 || region->size.height == 0;
    if (isEnd && i > 0) return;
    struct fb_pipewire_rect rect = read_rect(self, region);
    // A producer that does not know sends none.
    if (isEmpty(rect)) break;
    add_damage(self, rect);
    if (i + 1 == count) return;
  }
  self->isFullDamage = true;
}

/// - Returns: false for a buffer without a picture, such as news of the cursor.
static bool read_claim(const struct fb_pipewire_capture *self, const struct spa_buffer *buffer,
                       struct claim *claim) {
  if (buffer->n_datas == 0 || buffer->datas[0].chunk == NULL) return false;
  const volatile struct spa_chunk *chunk = buffer->datas[0].chunk;
  if (chunk->size == 0 || (chunk->flags & (int32_t)SPA_CHUNK_FLAG_CORRUPTED) != 0) return false;
  claim->offset = chunk->offset;
  claim->stride = chunk->stride;
  if (claim->stride == 0) claim->stride = (int32_t)(self->format.width * FB_PIXEL_BYTES);
  claim->crop = (struct fb_pipewire_rect){0, 0, self->format.width, self->format.height};
  claim->ptsNs = 0;
  const volatile struct spa_meta_header *header =
      spa_buffer_find_meta_data(buffer, SPA_META_Header, sizeof *header);
  if (header != NULL) {
    if ((header->flags & SPA_META_HEADER_FLAG_CORRUPTED) != 0) return false;
    int64_t pts = header->pts;
    claim->ptsNs = pts > 0 ? (uint64_t)pts : 0;
  }
  const struct spa_meta_region *crop =
      spa_buffer_find_meta_data(buffer, SPA_META_VideoCrop, sizeof *crop);
  if (crop != NULL) {
    struct fb_pipewire_rect rect = read_rect(self, &crop->region);
    if (!isEmpty(rect)) claim->crop = rect;
  }
  const volatile struct spa_meta_videotransform *turn =
      spa_buffer_find_meta_data(buffer, SPA_META_VideoTransform, sizeof *turn);
  claim->transform = turn != NULL ? turn->transform : SPA_META_TRANSFORMATION_None;
  return true;
}

static bool isSame(struct fb_pipewire_rect one, struct fb_pipewire_rect other) {
  return !memcmp(&one, &other, sizeof one);
}

static void process(void *user) {
  struct fb_pipewire_capture *self = user;
  struct pw_buffer *buffer;
  while ((buffer = self->library->stream_dequeue_buffer(self->stream)) != NULL) {
    struct claim claim;
    if (!read_claim(self, buffer->buffer, &claim)) {
      self->library->stream_queue_buffer(self->stream, buffer);
      continue;
    }
    take_damage(self, buffer->buffer);
    if (!isSame(claim.crop, self->claim.crop) || claim.transform != self->claim.transform) {
      self->isFullDamage = true;
    }
    if (self->newest != NULL) {
      self->library->stream_queue_buffer(self->stream, self->newest);
      if (self->isNew) self->skipped++;
    }
    self->newest = buffer;
    self->claim = claim;
    self->isNew = true;
  }
}

static void add_buffer(void *user, struct pw_buffer *buffer) {
  struct fb_pipewire_capture *self = user;
  struct fb_picture_memory *memory = calloc(1, sizeof *memory);
  buffer->user_data = memory;
  if (memory == NULL) return fail(self, FB_PIPEWIRE_FAILED, "no memory");
  if (buffer->buffer->n_datas == 0) return;
  int error = fb_picture_memory_open(memory, &buffer->buffer->datas[0]);
  if (error == 0) return;
  char why[128];
  snprintf(why, sizeof why, "%s cannot be read by the processor: %s",
           memory->isGraphicsMemory ? "the pictures lie in graphics memory (DMA-BUF), which"
                                    : "the memory of the pictures",
           strerror(error));
  fail(self, FB_PIPEWIRE_FAILED, why);
}

static void remove_buffer(void *user, struct pw_buffer *buffer) {
  struct fb_pipewire_capture *self = user;
  if (self->newest == buffer) {
    self->newest = NULL;
    self->isNew = false;
  }
  if (buffer->user_data != NULL) fb_picture_memory_close(buffer->user_data);
  free(buffer->user_data);
  buffer->user_data = NULL;
}

static struct spa_pod *meta(struct spa_pod_builder *builder, uint32_t type, uint32_t least,
                            uint32_t most) {
  return spa_pod_builder_add_object(
      builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(type),
      SPA_PARAM_META_size, SPA_POD_CHOICE_RANGE_Int((int32_t)most, (int32_t)least, (int32_t)most));
}

static uint32_t fourcc_of(enum spa_video_format format) {
  for (uint32_t i = 0; i < fb_pixel_format_count; i++) {
    if (fb_pixel_formats[i].format == format) return fb_pixel_formats[i].fourcc;
  }
  return 0;
}

static void param_changed(void *user, uint32_t id, const struct spa_pod *parameter) {
  struct fb_pipewire_capture *self = user;
  if (id != SPA_PARAM_Format || parameter == NULL) return;
  struct spa_video_info_raw raw = {0};
  uint32_t type, subtype;
  if (spa_format_parse(parameter, &type, &subtype) < 0 || type != SPA_MEDIA_TYPE_video ||
      subtype != SPA_MEDIA_SUBTYPE_raw || spa_format_video_raw_parse(parameter, &raw) < 0) {
    return fail(self, FB_PIPEWIRE_FAILED, "the producer chose a format that was not offered");
  }
  uint32_t fourcc = fourcc_of(raw.format), width = raw.size.width, height = raw.size.height;
  if (fourcc == 0 || width == 0 || height == 0 || width > FB_LONGEST_SIDE ||
      height > FB_LONGEST_SIDE) {
    return fail(self, FB_PIPEWIRE_FAILED, "the producer chose a format that was not offered");
  }
  self->format = (struct fb_pipewire_format){fourcc, width, height};
  self->claim.crop = (struct fb_pipewire_rect){0, 0, 0, 0};
  self->isFullDamage = true;
  self->hasNewFormat = true;
  bool isGraphicsMemory = spa_pod_find_prop(parameter, NULL, SPA_FORMAT_VIDEO_modifier) != NULL;
  int types = isGraphicsMemory ? 1 << SPA_DATA_DmaBuf : 1 << SPA_DATA_MemFd | 1 << SPA_DATA_MemPtr;
  uint8_t bytes[1024];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  const struct spa_pod *parameters[5];
  uint32_t turn = sizeof(struct spa_meta_videotransform);
  uint32_t region = sizeof(struct spa_meta_region), header = sizeof(struct spa_meta_header);
  parameters[0] = spa_pod_builder_add_object(
      &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
      SPA_POD_CHOICE_RANGE_Int(4, 2, 16), SPA_PARAM_BUFFERS_dataType,
      SPA_POD_CHOICE_FLAGS_Int(types));
  parameters[1] = meta(&builder, SPA_META_Header, header, header);
  parameters[2] = meta(&builder, SPA_META_VideoCrop, region, region);
  parameters[3] = meta(&builder, SPA_META_VideoDamage, region, FB_PIPEWIRE_MAXIMUM_DAMAGE * region);
  parameters[4] = meta(&builder, SPA_META_VideoTransform, turn, turn);
  self->library->stream_update_params(self->stream, parameters, 5);
}

static const struct pw_stream_events stream_events = {
    PW_VERSION_STREAM_EVENTS,
    .state_changed = state_changed,
    .param_changed = param_changed,
    .add_buffer = add_buffer,
    .remove_buffer = remove_buffer,
    .process = process,
};

// MARK: Life

static bool connect_stream(struct fb_pipewire_capture *self) {
  const struct fb_pipewire_library *library = self->library;
  struct pw_properties *properties = library->properties_new(
      PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE, "Screen",
      NULL);
  self->stream = library->stream_new(self->core, "FrameBus", properties);
  if (self->stream == NULL) return false;
  library->stream_add_listener(self->stream, &self->stream_listener, &stream_events, self);
  uint8_t bytes[2048];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  // Memory of the processor first: reading from a graphics card is slow.
  const struct spa_pod *formats[] = {fb_offer_formats(&builder, false, self->rate),
                                     fb_offer_formats(&builder, true, self->rate)};
  // Never another node in its place: that may be a camera.
  enum pw_stream_flags flags = PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_DONT_RECONNECT;
  return library->stream_connect(self->stream, PW_DIRECTION_INPUT, self->node, flags, formats, 2) >=
         0;
}

static bool connect_server(struct fb_pipewire_capture *self, int remote) {
  const struct fb_pipewire_library *library = self->library;
  self->loop = library->loop_new(NULL);
  if (self->loop != NULL) {
    pw_loop_enter(self->loop);
    self->context = library->context_new(self->loop, NULL, 0);
  }
  if (self->context == NULL) return false;
  // The connection closes the descriptor, also when it fails.
  self->core = remote < 0 ? library->context_connect(self->context, NULL, 0)
                          : library->context_connect_fd(self->context, remote, NULL, 0);
  if (self->core == NULL) return false;
  pw_core_add_listener(self->core, &self->core_listener, &core_events, self);
  self->registry = pw_core_get_registry(self->core, PW_VERSION_REGISTRY, 0);
  if (self->registry == NULL) return false;
  pw_registry_add_listener(self->registry, &self->registry_listener, &registry_events, self);
  self->listed = pw_core_sync(self->core, PW_ID_CORE, 0);
  return connect_stream(self);
}

struct fb_pipewire_capture *fb_pipewire_capture_new(int remote, uint32_t node, uint32_t numerator,
                                                    uint32_t denominator) {
  const struct fb_pipewire_library *library = fb_pipewire_library();
  struct fb_pipewire_capture *self = library != NULL ? calloc(1, sizeof *self) : NULL;
  if (self == NULL) return NULL;
  self->library = library;
  self->node = node;
  self->rate = SPA_FRACTION(numerator, denominator);
  self->isFullDamage = true;
  if (connect_server(self, remote)) return self;
  fb_pipewire_capture_free(self);
  return NULL;
}

void fb_pipewire_capture_free(struct fb_pipewire_capture *self) {
  const struct fb_pipewire_library *library = self->library;
  // Each would report its end to the others.
  self->state = FB_PIPEWIRE_FAILED;
  if (self->stream != NULL) library->stream_destroy(self->stream);
  if (self->registry != NULL) library->proxy_destroy((struct pw_proxy *)self->registry);
  if (self->core != NULL) {
    spa_hook_remove(&self->core_listener);
    library->core_disconnect(self->core);
  }
  if (self->context != NULL) library->context_destroy(self->context);
  if (self->loop != NULL) {
    pw_loop_leave(self->loop);
    library->loop_destroy(self->loop);
  }
  free(self);
}

int fb_pipewire_capture_descriptor(const struct fb_pipewire_capture *self) {
  return pw_loop_get_fd(self->loop);
}

enum fb_pipewire_state fb_pipewire_capture_iterate(struct fb_pipewire_capture *self) {
  int result = pw_loop_iterate(self->loop, 0);
  if (result < 0 && result != -EINTR) fail(self, FB_PIPEWIRE_FAILED, spa_strerror(result));
  return self->state;
}

const char *fb_pipewire_capture_failure(const struct fb_pipewire_capture *self) {
  return self->failure;
}

void fb_pipewire_capture_set_active(struct fb_pipewire_capture *self, bool isActive) {
  self->library->stream_set_active(self->stream, isActive);
}

void fb_pipewire_capture_restart(struct fb_pipewire_capture *self) {
  if (self->state >= FB_PIPEWIRE_NO_NODE) return;
  self->isRestarting = true;
  self->library->stream_destroy(self->stream);
  self->stream = NULL;
  self->isRestarting = false;
  if (!connect_stream(self)) fail(self, FB_PIPEWIRE_FAILED, "the stream cannot be connected");
}

// MARK: Pictures

bool fb_pipewire_capture_take_format(struct fb_pipewire_capture *self,
                                     struct fb_pipewire_format *format) {
  if (!self->hasNewFormat) return false;
  self->hasNewFormat = false;
  if (self->state == FB_PIPEWIRE_CONNECTING) self->state = FB_PIPEWIRE_READY;
  *format = self->format;
  return true;
}

bool fb_pipewire_capture_has_new(const struct fb_pipewire_capture *self) {
  return self->newest != NULL && self->isNew;
}

bool fb_pipewire_capture_newest(const struct fb_pipewire_capture *self,
                                struct fb_pipewire_picture *picture) {
  if (self->newest == NULL) return false;
  picture->crop = self->claim.crop;
  picture->ptsNs = self->claim.ptsNs;
  picture->transform = self->claim.transform;
  picture->isFullDamage = self->isFullDamage;
  picture->damageCount = self->damageCount;
  memcpy(picture->damage, self->damage, sizeof picture->damage);
  return true;
}

bool fb_pipewire_capture_copy(struct fb_pipewire_capture *self, void *target, size_t byteCount) {
  if (self->newest == NULL || self->newest->user_data == NULL) return false;
  const struct fb_picture_memory *memory = self->newest->user_data;
  const struct claim *claim = &self->claim;
  uint32_t most = self->newest->buffer->datas[0].maxsize;
  uint64_t stride = claim->stride > 0 ? (uint64_t)claim->stride : 0;
  struct fb_picture_rows rows = {
      .first = (most > 0 ? claim->offset % most : 0) + claim->crop.y * stride +
               (uint64_t)claim->crop.x * FB_PIXEL_BYTES,
      .stride = stride,
      .rowBytes = (uint64_t)claim->crop.width * FB_PIXEL_BYTES,
      .count = claim->crop.height,
  };
  bool isCopied = rows.rowBytes * rows.count <= byteCount &&
                  fb_picture_memory_copy(memory, &rows, target);
  self->isNew = false;
  if (!isCopied) {
    self->malformed++;
    self->isFullDamage = true;
    return false;
  }
  self->isFullDamage = false;
  self->damageCount = 0;
  return true;
}

uint64_t fb_pipewire_capture_skipped(const struct fb_pipewire_capture *self) {
  return self->skipped;
}

uint64_t fb_pipewire_capture_malformed(const struct fb_pipewire_capture *self) {
  return self->malformed;
}
#endif
