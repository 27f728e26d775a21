#if __has_include(<pipewire/pipewire.h>)
#define _GNU_SOURCE
#include "CPipeWireSound.h"

#include <errno.h>
#include <spa/param/audio/format-utils.h>
#include <spa/utils/result.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "PipeWireLibrary.h"

enum { CHANNELS = FB_PIPEWIRE_SOUND_CHANNELS, RATE = FB_PIPEWIRE_SOUND_RATE };
enum { MAXIMUM_FAILED_STREAMS = 5 };
/// More nodes of the name are not remembered, and later pieces than a second's are lost.
enum { MAXIMUM_NODES = 32, MAXIMUM_PIECES = 256, MAXIMUM_FRAMES = RATE };
enum { NAME_BYTES = 256, SERIAL_BYTES = 24 };

struct node {
  uint32_t id;
  char serial[SERIAL_BYTES];
  /// What is played on it is recorded, by its monitor.
  bool isSink;
};

struct piece {
  size_t frames;
  uint64_t firstNs;
};

struct fb_pipewire_sound {
  const struct fb_pipewire_library *library;
  struct pw_loop *loop;
  struct pw_context *context;
  struct pw_core *core;
  struct pw_registry *registry;
  struct pw_stream *stream;
  struct spa_hook core_listener, registry_listener, stream_listener;
  char name[NAME_BYTES];
  char names[512];
  int listed;
  bool isListed;
  /// Those of the name, in the order in which they appeared.
  struct node nodes[MAXIMUM_NODES];
  uint32_t nodeCount;
  /// The node that the stream records.
  uint32_t target;
  /// The stream records nothing any more, and must be destroyed outside of its own calls.
  bool isStreamOver;
  bool hasFormat;
  /// Streams that failed, one after another, without any sound.
  int failedStreams;
  enum fb_pipewire_sound_state end;
  char failure[256];

  struct piece pieces[MAXIMUM_PIECES];
  size_t pieceCount;
  size_t frameCount;
  uint64_t lost;
  float samples[MAXIMUM_FRAMES * CHANNELS];
};

static void fail(struct fb_pipewire_sound *self, enum fb_pipewire_sound_state end,
                 const char *why) {
  // The first reason counts: what follows are its consequences.
  if (self->end != FB_PIPEWIRE_SOUND_LISTING) return;
  self->end = end;
  snprintf(self->failure, sizeof self->failure, "%s", why);
}

// MARK: Nodes

static void core_error(void *user, uint32_t id, int sequence, int result, const char *message) {
  (void)sequence;
  struct fb_pipewire_sound *self = user;
  // A message that crossed the end of its object is answered by ENOENT, and nothing is lost.
  if (id != PW_ID_CORE || result == -ENOENT) return;
  fail(self, result == -EPIPE ? FB_PIPEWIRE_SOUND_NO_SERVER : FB_PIPEWIRE_SOUND_FAILED,
       message != NULL ? message : spa_strerror(result));
}

static void core_done(void *user, uint32_t id, int sequence) {
  struct fb_pipewire_sound *self = user;
  if (id == PW_ID_CORE && sequence == self->listed) self->isListed = true;
}

static const struct pw_core_events core_events = {
    PW_VERSION_CORE_EVENTS, .error = core_error, .done = core_done};

static bool is(const char *text, const char *expected) {
  return text != NULL && !strcmp(text, expected);
}

static void note_name(struct fb_pipewire_sound *self, const char *name) {
  size_t used = strlen(self->names);
  if (name != NULL && used + strlen(name) + 3 < sizeof self->names) {
    snprintf(self->names + used, sizeof self->names - used, "%s%s", used > 0 ? ", " : "", name);
  }
}

static void add_node(struct fb_pipewire_sound *self, uint32_t id,
                     const struct spa_dict *properties) {
  const char *class = spa_dict_lookup(properties, PW_KEY_MEDIA_CLASS);
  const char *name = spa_dict_lookup(properties, PW_KEY_NODE_NAME);
  const char *serial = spa_dict_lookup(properties, PW_KEY_OBJECT_SERIAL);
  bool isSink = is(class, "Audio/Sink") || is(class, "Audio/Duplex");
  if (!isSink && !is(class, "Stream/Output/Audio") && !is(class, "Audio/Source") &&
      !is(class, "Audio/Source/Virtual")) {
    return;
  }
  note_name(self, name);
  const char *application = spa_dict_lookup(properties, PW_KEY_APP_NAME);
  if (!is(name, self->name) && !is(application, self->name)) return;
  if (self->nodeCount == MAXIMUM_NODES || serial == NULL || strlen(serial) >= SERIAL_BYTES) return;
  struct node *node = &self->nodes[self->nodeCount++];
  *node = (struct node){.id = id, .isSink = isSink};
  strcpy(node->serial, serial);
}

/// A session manager that links another node with the stream would have it record that one.
static void check_link(struct fb_pipewire_sound *self, const struct spa_dict *properties) {
  const char *from = spa_dict_lookup(properties, PW_KEY_LINK_OUTPUT_NODE);
  const char *to = spa_dict_lookup(properties, PW_KEY_LINK_INPUT_NODE);
  if (self->stream == NULL || from == NULL || to == NULL) return;
  uint32_t own = self->library->stream_get_node_id(self->stream);
  if (strtoul(to, NULL, 10) != own || strtoul(from, NULL, 10) == self->target) return;
  self->pieceCount = self->frameCount = 0;
  fail(self, FB_PIPEWIRE_SOUND_FAILED, "the session manager linked another node");
}

static void registry_global(void *user, uint32_t id, uint32_t permissions, const char *type,
                            uint32_t version, const struct spa_dict *properties) {
  (void)permissions;
  (void)version;
  struct fb_pipewire_sound *self = user;
  if (properties == NULL) return;
  if (!strcmp(type, PW_TYPE_INTERFACE_Node)) add_node(self, id, properties);
  if (!strcmp(type, PW_TYPE_INTERFACE_Link)) check_link(self, properties);
}

static void registry_global_remove(void *user, uint32_t id) {
  struct fb_pipewire_sound *self = user;
  if (self->stream != NULL && id == self->target) self->isStreamOver = true;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < self->nodeCount; i++) {
    if (self->nodes[i].id != id) self->nodes[kept++] = self->nodes[i];
  }
  self->nodeCount = kept;
}

static const struct pw_registry_events registry_events = {
    PW_VERSION_REGISTRY_EVENTS,
    .global = registry_global,
    .global_remove = registry_global_remove};

// MARK: The stream

static void state_changed(void *user, enum pw_stream_state before, enum pw_stream_state now,
                          const char *error) {
  (void)before;
  struct fb_pipewire_sound *self = user;
  // A node that ends takes its stream along: its removal is told too.
  if (now == PW_STREAM_STATE_ERROR) {
    self->isStreamOver = true;
    if (++self->failedStreams < MAXIMUM_FAILED_STREAMS) return;
    fail(self, FB_PIPEWIRE_SOUND_FAILED, error != NULL ? error : "the stream failed");
  }
}

static void param_changed(void *user, uint32_t id, const struct spa_pod *parameter) {
  struct fb_pipewire_sound *self = user;
  if (id != SPA_PARAM_Format || parameter == NULL) return;
  struct spa_audio_info_raw raw = {0};
  uint32_t type, subtype;
  if (spa_format_parse(parameter, &type, &subtype) < 0 || type != SPA_MEDIA_TYPE_audio ||
      subtype != SPA_MEDIA_SUBTYPE_raw || spa_format_audio_raw_parse(parameter, &raw) < 0 ||
      raw.format != SPA_AUDIO_FORMAT_F32 || raw.rate != RATE || raw.channels != CHANNELS) {
    return fail(self, FB_PIPEWIRE_SOUND_FAILED, "PipeWire chose a format that was not offered");
  }
  self->hasFormat = true;
}

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/// When the newest sample was recorded. What cannot be is replaced by the time of arrival.
static uint64_t newest_ns(struct fb_pipewire_sound *self) {
  const uint64_t second = 1000000000;
  uint64_t now = now_ns();
  struct pw_time time = {0};
  if (self->library->stream_get_time_n(self->stream, &time, sizeof time) < 0) return now;
  uint64_t cycle = time.now > 0 ? (uint64_t)time.now : 0;
  if (cycle > now || now - cycle > second) return now;
  if (time.delay <= 0 || time.rate.denom == 0 || time.rate.num == 0) return cycle;
  uint64_t delay = (uint64_t)time.delay * time.rate.num;
  return delay < time.rate.denom ? cycle - delay * second / time.rate.denom : cycle;
}

/// - Returns: the sample frames that were kept.
static size_t keep(struct fb_pipewire_sound *self, const struct spa_data *data) {
  uint32_t offset = data->chunk->offset, size = data->chunk->size;
  if (data->data == NULL || offset > data->maxsize) return 0;
  if (size > data->maxsize - offset) size = data->maxsize - offset;
  size_t frames = size / (sizeof(float) * CHANNELS);
  if (frames > MAXIMUM_FRAMES - self->frameCount) {
    self->lost += frames;
    return 0;
  }
  memcpy(self->samples + self->frameCount * CHANNELS, (const uint8_t *)data->data + offset,
         frames * sizeof(float) * CHANNELS);
  self->frameCount += frames;
  return frames;
}

static void process(void *user) {
  struct fb_pipewire_sound *self = user;
  struct pw_buffer *buffer;
  size_t frames = 0;
  while ((buffer = self->library->stream_dequeue_buffer(self->stream)) != NULL) {
    if (buffer->buffer->n_datas > 0) frames += keep(self, &buffer->buffer->datas[0]);
    self->library->stream_queue_buffer(self->stream, buffer);
  }
  if (frames == 0) return;
  self->failedStreams = 0;
  if (self->pieceCount == MAXIMUM_PIECES) {
    self->frameCount -= frames;
    self->lost += frames;
    return;
  }
  uint64_t lengthNs = (uint64_t)frames * 1000000000 / RATE;
  uint64_t endNs = newest_ns(self);
  self->pieces[self->pieceCount++] =
      (struct piece){frames, endNs > lengthNs ? endNs - lengthNs : 0};
}

static const struct pw_stream_events stream_events = {
    PW_VERSION_STREAM_EVENTS,
    .state_changed = state_changed,
    .param_changed = param_changed,
    .process = process,
};

static void end_stream(struct fb_pipewire_sound *self) {
  if (self->stream != NULL) self->library->stream_destroy(self->stream);
  self->stream = NULL;
  self->isStreamOver = self->hasFormat = false;
}

static void begin_stream(struct fb_pipewire_sound *self) {
  const struct fb_pipewire_library *library = self->library;
  const struct node *node = &self->nodes[0];
  struct pw_properties *properties = library->properties_new(
      PW_KEY_MEDIA_TYPE, "Audio", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE, "Screen",
      PW_KEY_TARGET_OBJECT, node->serial, PW_KEY_NODE_DONT_RECONNECT, "true", PW_KEY_NODE_LATENCY,
      "480/48000", PW_KEY_STREAM_CAPTURE_SINK, node->isSink ? "true" : "false", NULL);
  self->stream = library->stream_new(self->core, "FrameBus", properties);
  if (self->stream == NULL) return fail(self, FB_PIPEWIRE_SOUND_FAILED, "no memory");
  self->target = node->id;
  library->stream_add_listener(self->stream, &self->stream_listener, &stream_events, self);
  uint8_t bytes[1024];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  const struct spa_pod *formats[] = {spa_format_audio_raw_build(
      &builder, SPA_PARAM_EnumFormat,
      &SPA_AUDIO_INFO_RAW_INIT(.format = SPA_AUDIO_FORMAT_F32, .rate = RATE, .channels = CHANNELS,
                               .position = {SPA_AUDIO_CHANNEL_FL, SPA_AUDIO_CHANNEL_FR}))};
  enum pw_stream_flags flags = PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS |
                               PW_STREAM_FLAG_DONT_RECONNECT;
  if (library->stream_connect(self->stream, PW_DIRECTION_INPUT, PW_ID_ANY, flags, formats, 1) < 0) {
    fail(self, FB_PIPEWIRE_SOUND_FAILED, "the stream cannot be connected");
  }
}

// MARK: Life

struct fb_pipewire_sound *fb_pipewire_sound_new(const char *name) {
  const struct fb_pipewire_library *library = fb_pipewire_library();
  if (library == NULL || strlen(name) >= NAME_BYTES) return NULL;
  struct fb_pipewire_sound *self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  self->library = library;
  strcpy(self->name, name);
  self->loop = library->loop_new(NULL);
  if (self->loop != NULL) {
    pw_loop_enter(self->loop);
    self->context = library->context_new(self->loop, NULL, 0);
  }
  if (self->context != NULL) self->core = library->context_connect(self->context, NULL, 0);
  if (self->core != NULL) {
    pw_core_add_listener(self->core, &self->core_listener, &core_events, self);
    self->registry = pw_core_get_registry(self->core, PW_VERSION_REGISTRY, 0);
  }
  if (self->registry == NULL) {
    fb_pipewire_sound_free(self);
    return NULL;
  }
  pw_registry_add_listener(self->registry, &self->registry_listener, &registry_events, self);
  self->listed = pw_core_sync(self->core, PW_ID_CORE, 0);
  return self;
}

void fb_pipewire_sound_free(struct fb_pipewire_sound *self) {
  const struct fb_pipewire_library *library = self->library;
  end_stream(self);
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

int fb_pipewire_sound_descriptor(const struct fb_pipewire_sound *self) {
  return pw_loop_get_fd(self->loop);
}

enum fb_pipewire_sound_state fb_pipewire_sound_iterate(struct fb_pipewire_sound *self) {
  int result = pw_loop_iterate(self->loop, 0);
  if (result < 0 && result != -EINTR) fail(self, FB_PIPEWIRE_SOUND_FAILED, spa_strerror(result));
  if (self->isStreamOver) end_stream(self);
  if (self->end != FB_PIPEWIRE_SOUND_LISTING) return self->end;
  if (!self->isListed) return FB_PIPEWIRE_SOUND_LISTING;
  if (self->nodeCount == 0) return FB_PIPEWIRE_SOUND_ABSENT;
  if (self->stream == NULL) begin_stream(self);
  return self->hasFormat ? FB_PIPEWIRE_SOUND_LINKED : FB_PIPEWIRE_SOUND_PRESENT;
}

const char *fb_pipewire_sound_failure(const struct fb_pipewire_sound *self) {
  return self->failure;
}

const char *fb_pipewire_sound_names(const struct fb_pipewire_sound *self) { return self->names; }

size_t fb_pipewire_sound_take(struct fb_pipewire_sound *self, float *samples, size_t capacity,
                              uint64_t *firstNs) {
  if (self->pieceCount == 0) return 0;
  struct piece *piece = &self->pieces[0];
  size_t frames = piece->frames < capacity ? piece->frames : capacity;
  const size_t frameBytes = sizeof(float) * CHANNELS;
  *firstNs = piece->firstNs;
  memcpy(samples, self->samples, frames * frameBytes);
  self->frameCount -= frames;
  memmove(self->samples, self->samples + frames * CHANNELS, self->frameCount * frameBytes);
  piece->frames -= frames;
  piece->firstNs += (uint64_t)frames * 1000000000 / RATE;
  if (piece->frames == 0) {
    self->pieceCount--;
    memmove(self->pieces, self->pieces + 1, self->pieceCount * sizeof *piece);
  }
  return frames;
}

uint64_t fb_pipewire_sound_lost(const struct fb_pipewire_sound *self) { return self->lost; }
#endif
