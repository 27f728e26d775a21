#if __has_include(<pipewire/pipewire.h>)
#define _GNU_SOURCE
#include <errno.h>
#include <spa/param/video/format-utils.h>
#include <spa/utils/result.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "CPipeWireCamera.h"
#include "PipeWireLibrary.h"

enum { LEAST_BUFFERS = 2, USUAL_BUFFERS = 4, MOST_BUFFERS = 8 };

struct fb_camera {
  const struct fb_pipewire_library *library;
  struct pw_thread_loop *thread;
  struct pw_context *context;
  struct pw_core *core;
  struct pw_stream *stream;
  struct spa_hook core_listener, stream_listener;
  char *name;
  struct fb_camera_format format;
  uint64_t sequence;
  bool hasFailed;
  char failure[256];
  /// All buffers, and when each left for the readers.
  struct {
    struct pw_buffer *buffer;
    uint64_t leftNs;
  } known[MOST_BUFFERS];
  /// Between begin and end, and until the graph takes it.
  struct pw_buffer *buffer;
  bool isFilled;
};

static uint32_t row_bytes(const struct fb_camera_format *format, int plane) {
  uint32_t samples = plane == 0 ? format->width : (format->width + 1) / 2;
  // As GStreamer and libcamera lay out I420.
  return (samples + 3) & ~(uint32_t)3;
}

static uint32_t row_count(const struct fb_camera_format *format, int plane) {
  return plane == 0 ? (format->height + 1) & ~(uint32_t)1 : (format->height + 1) / 2;
}

static uint32_t byte_count(const struct fb_camera_format *format) {
  uint32_t count = 0;
  for (int plane = 0; plane < 3; plane++) {
    count += row_bytes(format, plane) * row_count(format, plane);
  }
  return count;
}

static void fail(struct fb_camera *self, const char *why) {
  if (self->hasFailed) return;
  self->hasFailed = true;
  snprintf(self->failure, sizeof self->failure, "%s", why);
}

static void core_error(void *user, uint32_t id, int sequence, int result, const char *message) {
  (void)sequence;
  if (id == PW_ID_CORE) fail(user, message != NULL ? message : spa_strerror(result));
}

static const struct pw_core_events core_events = {PW_VERSION_CORE_EVENTS, .error = core_error};

static void state_changed(void *user, enum pw_stream_state before, enum pw_stream_state now,
                          const char *error) {
  (void)before;
  if (now == PW_STREAM_STATE_ERROR) fail(user, error != NULL ? error : "the stream failed");
}

static void param_changed(void *user, uint32_t id, const struct spa_pod *parameter) {
  struct fb_camera *self = user;
  if (id != SPA_PARAM_Format || parameter == NULL) return;
  uint8_t bytes[512];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  int header = sizeof(struct spa_meta_header), size = (int)byte_count(&self->format);
  const struct spa_pod *parameters[] = {
      spa_pod_builder_add_object(
          &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
          SPA_POD_CHOICE_RANGE_Int(USUAL_BUFFERS, LEAST_BUFFERS, MOST_BUFFERS),
          SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1), SPA_PARAM_BUFFERS_size, SPA_POD_Int(size),
          SPA_PARAM_BUFFERS_stride, SPA_POD_Int((int)row_bytes(&self->format, 0)),
          SPA_PARAM_BUFFERS_dataType,
          SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd | 1 << SPA_DATA_MemPtr)),
      spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta,
                                 SPA_PARAM_META_type, SPA_POD_Id(SPA_META_Header),
                                 SPA_PARAM_META_size, SPA_POD_Int(header)),
  };
  self->library->stream_update_params(self->stream, parameters, 2);
}

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * SPA_NSEC_PER_SEC + (uint64_t)time.tv_nsec;
}

static void add_buffer(void *user, struct pw_buffer *buffer) {
  struct fb_camera *self = user;
  for (int i = 0; i < MOST_BUFFERS; i++) {
    if (self->known[i].buffer != NULL) continue;
    self->known[i].buffer = buffer;
    self->known[i].leftNs = 0;
    return;
  }
}

/// A buffer that has been away for long: PipeWire 0.3.65 gives none back that a reader had when it
/// ended or was stopped. A reader that has it still sees two pictures in one.
static struct pw_buffer *take_back(struct fb_camera *self) {
  uint64_t beforeNs = now_ns() - SPA_NSEC_PER_SEC;
  int oldest = -1;
  for (int i = 0; i < MOST_BUFFERS; i++) {
    if (self->known[i].buffer == NULL || self->known[i].leftNs > beforeNs) continue;
    if (oldest < 0 || self->known[i].leftNs < self->known[oldest].leftNs) oldest = i;
  }
  return oldest < 0 ? NULL : self->known[oldest].buffer;
}

static void remove_buffer(void *user, struct pw_buffer *buffer) {
  struct fb_camera *self = user;
  for (int i = 0; i < MOST_BUFFERS; i++) {
    if (self->known[i].buffer == buffer) self->known[i].buffer = NULL;
  }
  if (self->buffer != buffer) return;
  self->buffer = NULL;
  self->isFilled = false;
}

/// Called for each turn of the graph, which the picture began, or another node of it.
static void process(void *user) {
  struct fb_camera *self = user;
  if (!self->isFilled) return;
  self->isFilled = false;
  for (int i = 0; i < MOST_BUFFERS; i++) {
    if (self->known[i].buffer == self->buffer) self->known[i].leftNs = now_ns();
  }
  self->library->stream_queue_buffer(self->stream, self->buffer);
  self->buffer = NULL;
}

static const struct pw_stream_events stream_events = {
    PW_VERSION_STREAM_EVENTS,
    .state_changed = state_changed,
    .param_changed = param_changed,
    .add_buffer = add_buffer,
    .remove_buffer = remove_buffer,
    .process = process,
};

static const struct spa_pod *offer(struct spa_pod_builder *builder,
                                   const struct fb_camera_format *format) {
  struct spa_fraction rate = SPA_FRACTION(format->rateNumerator, format->rateDenominator);
  return spa_pod_builder_add_object(
      builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
      SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
      SPA_FORMAT_VIDEO_format, SPA_POD_Id(SPA_VIDEO_FORMAT_I420), SPA_FORMAT_VIDEO_size,
      SPA_POD_Rectangle(&SPA_RECTANGLE(format->width, format->height)),
      SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&rate));
}

static bool connect_stream(struct fb_camera *self, const struct spa_pod **formats) {
  const struct fb_pipewire_library *library = self->library;
  struct pw_properties *properties = library->properties_new(
      PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE, "Camera", PW_KEY_NODE_NAME,
      self->name, PW_KEY_NODE_DESCRIPTION, self->name, NULL);
  self->stream = library->stream_new(self->core, self->name, properties);
  if (self->stream == NULL) return false;
  library->stream_add_listener(self->stream, &self->stream_listener, &stream_events, self);
  enum pw_stream_flags flags = PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS;
  return library->stream_connect(self->stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, flags, formats, 1) >=
         0;
}

bool fb_camera_set_format(struct fb_camera *self, const struct fb_camera_format *format) {
  if (self->stream != NULL && !memcmp(format, &self->format, sizeof *format)) return true;
  uint8_t bytes[512];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  self->library->thread_loop_lock(self->thread);
  self->format = *format;
  const struct spa_pod *formats[] = {offer(&builder, format)};
  bool isSet = self->stream != NULL
                   ? self->library->stream_update_params(self->stream, formats, 1) >= 0
                   : connect_stream(self, formats);
  self->library->thread_loop_unlock(self->thread);
  return isSet;
}

bool fb_camera_has_failed(struct fb_camera *self) {
  self->library->thread_loop_lock(self->thread);
  bool hasFailed = self->hasFailed;
  self->library->thread_loop_unlock(self->thread);
  return hasFailed;
}

const char *fb_camera_failure(const struct fb_camera *self) { return self->failure; }

/// Where the planes lie in a buffer.
/// - Returns: false for a buffer of the format before, until readers have negotiated again.
static bool find_planes(const struct fb_camera *self, struct fb_camera_target *target) {
  const struct spa_data *data = &self->buffer->buffer->datas[0];
  if (data->data == NULL || data->maxsize < byte_count(&self->format)) return false;
  uint8_t *at = data->data;
  for (int plane = 0; plane < 3; plane++) {
    target->plane[plane] = at;
    target->stride[plane] = row_bytes(&self->format, plane);
    at += target->stride[plane] * row_count(&self->format, plane);
  }
  return true;
}

bool fb_camera_begin(struct fb_camera *self, struct fb_camera_target *target) {
  const struct fb_pipewire_library *library = self->library;
  library->thread_loop_lock(self->thread);
  bool isRead = self->stream != NULL && !self->hasFailed &&
                library->stream_get_state(self->stream, NULL) == PW_STREAM_STATE_STREAMING;
  // A picture that no turn of the graph has taken is replaced by this one.
  if (isRead && self->buffer == NULL) self->buffer = library->stream_dequeue_buffer(self->stream);
  if (isRead && self->buffer == NULL) self->buffer = take_back(self);
  self->isFilled = false;
  if (isRead && self->buffer != NULL && find_planes(self, target)) return true;
  library->thread_loop_unlock(self->thread);
  return false;
}

void fb_camera_end(struct fb_camera *self, uint64_t ptsNs) {
  struct spa_data *data = &self->buffer->buffer->datas[0];
  data->chunk->offset = 0;
  data->chunk->size = byte_count(&self->format);
  data->chunk->stride = (int32_t)row_bytes(&self->format, 0);
  data->chunk->flags = 0;
  struct spa_meta_header *header =
      spa_buffer_find_meta_data(self->buffer->buffer, SPA_META_Header, sizeof *header);
  if (header != NULL) {
    *header = (struct spa_meta_header){.pts = (int64_t)ptsNs, .seq = self->sequence++};
  }
  self->isFilled = true;
  self->library->stream_trigger_process(self->stream);
  self->library->thread_loop_unlock(self->thread);
}

static bool start(struct fb_camera *self, int remote) {
  const struct fb_pipewire_library *library = self->library;
  self->thread = library->thread_loop_new("camera", NULL);
  if (self->thread == NULL || self->name == NULL) return false;
  self->context = library->context_new(library->thread_loop_get_loop(self->thread), NULL, 0);
  if (self->context == NULL) return false;
  // The connection closes the descriptor, also when it fails.
  self->core = remote < 0 ? library->context_connect(self->context, NULL, 0)
                          : library->context_connect_fd(self->context, remote, NULL, 0);
  if (self->core == NULL) return false;
  pw_core_add_listener(self->core, &self->core_listener, &core_events, self);
  return library->thread_loop_start(self->thread) >= 0;
}

struct fb_camera *fb_camera_new(const char *name, int remote) {
  const struct fb_pipewire_library *library = fb_pipewire_library();
  struct fb_camera *self = library != NULL ? calloc(1, sizeof *self) : NULL;
  if (self == NULL) return NULL;
  self->library = library;
  self->name = strdup(name);
  if (start(self, remote)) return self;
  fb_camera_free(self);
  return NULL;
}

void fb_camera_free(struct fb_camera *self) {
  const struct fb_pipewire_library *library = self->library;
  if (self->thread != NULL) library->thread_loop_stop(self->thread);
  if (self->stream != NULL) library->stream_destroy(self->stream);
  if (self->core != NULL) {
    spa_hook_remove(&self->core_listener);
    library->core_disconnect(self->core);
  }
  if (self->context != NULL) library->context_destroy(self->context);
  if (self->thread != NULL) library->thread_loop_destroy(self->thread);
  free(self->name);
  free(self);
}
#endif
