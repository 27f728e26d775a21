#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "PortalKit.h"

#if __has_include(<pipewire/pipewire.h>)
#include "../../Sources/C/CPipeWire/SoundStream.c"

#include "KitInput.h"

enum { KIT_BYTES = 1 << 14 };

static struct pw_buffer *queued;

static struct pw_buffer *dequeue(struct pw_stream *stream) {
  (void)stream;
  struct pw_buffer *first = queued;
  queued = NULL;
  return first;
}

static int queue(struct pw_stream *stream, struct pw_buffer *buffer) {
  (void)stream;
  (void)buffer;
  return 0;
}

static struct pw_time now;

static int time_of(struct pw_stream *stream, struct pw_time *time, size_t size) {
  (void)stream;
  memcpy(time, &now, size < sizeof now ? size : sizeof now);
  return 0;
}

static uint32_t node_of(struct pw_stream *stream) {
  (void)stream;
  return 3;
}

static const struct fb_pipewire_library sound_fake = {
    .stream_dequeue_buffer = dequeue,
    .stream_queue_buffer = queue,
    .stream_get_time_n = time_of,
    .stream_get_node_id = node_of,
};

static void give_sound(struct fb_pipewire_sound *self, struct kit_input *input) {
  uint32_t size = kit_number(input) % KIT_BYTES;
  void *memory = malloc(size + 1);
  kit_fill(input, memory, 64 < size ? 64 : size);
  struct spa_chunk chunk = {kit_size(input, 64), kit_size(input, KIT_BYTES), 0, 0};
  struct spa_data data = {.data = kit_byte(input) == 1 ? NULL : memory,
                          .maxsize = size,
                          .chunk = &chunk};
  struct spa_buffer inner = {0, kit_byte(input) == 1 ? 0 : 1, NULL, &data};
  struct pw_buffer outer = {.buffer = &inner};
  queued = &outer;
  kit_fill(input, &now, sizeof now);
  if (kit_byte(input) & 1) now.now = (int64_t)now_ns() - kit_byte(input);
  process(self);
  free(memory);
}

/// Properties with names that count, and values of the input.
static void give_global(struct fb_pipewire_sound *self, struct kit_input *input) {
  static const char *const keys[] = {PW_KEY_MEDIA_CLASS,       PW_KEY_NODE_NAME,
                                     PW_KEY_OBJECT_SERIAL,     PW_KEY_APP_NAME,
                                     PW_KEY_LINK_OUTPUT_NODE,  PW_KEY_LINK_INPUT_NODE};
  static const char *const values[] = {"Audio/Sink", "Stream/Output/Audio", "tone", "3", "7"};
  enum { KEYS = sizeof keys / sizeof *keys, VALUES = sizeof values / sizeof *values };
  char texts[KEYS][64];
  struct spa_dict_item items[KEYS];
  uint32_t count = 0;
  for (int i = 0; i < KEYS; i++) {
    uint8_t choice = kit_byte(input);
    if (choice == 0) continue;
    if (choice > VALUES) kit_fill(input, texts[i], sizeof texts[i] - 1);
    texts[i][sizeof texts[i] - 1] = 0;
    items[count++] = SPA_DICT_ITEM_INIT(keys[i], choice <= VALUES ? values[choice - 1] : texts[i]);
  }
  struct spa_dict properties = SPA_DICT_INIT(items, count);
  uint8_t kind = kit_byte(input);
  registry_global(self, kit_byte(input), 0,
                  kind & 1 ? PW_TYPE_INTERFACE_Node : PW_TYPE_INTERFACE_Link, 0,
                  kind & 2 ? NULL : &properties);
}

static void give_format(struct fb_pipewire_sound *self, struct kit_input *input) {
  _Alignas(8) uint8_t bytes[512];
  struct spa_pod *pod = (struct spa_pod *)bytes;
  uint32_t size = kit_number(input) % (sizeof bytes - sizeof *pod);
  kit_fill(input, bytes, sizeof *pod + size);
  pod->size = size;
  param_changed(self, SPA_PARAM_Format, pod);
}

void portal_kit_sound(const uint8_t *bytes, size_t count) {
  struct kit_input input = {bytes, count};
  struct fb_pipewire_sound *self = calloc(1, sizeof *self);
  self->library = &sound_fake;
  self->stream = (struct pw_stream *)self;
  self->target = 7;
  strcpy(self->name, "tone");
  while (input.count > 0) {
    switch (kit_byte(&input) % 6) {
      case 0: give_global(self, &input); break;
      case 1: registry_global_remove(self, kit_byte(&input)); break;
      case 2: give_format(self, &input); break;
      case 3: {
        uint64_t firstNs = 0;
        size_t frames = 1 + kit_byte(&input) * 4;
        float *samples = malloc(frames * sizeof(float) * CHANNELS);
        kit_require(fb_pipewire_sound_take(self, samples, frames, &firstNs) <= frames, "a piece");
        free(samples);
        break;
      }
      default: give_sound(self, &input); break;
    }
    size_t frames = 0;
    for (size_t i = 0; i < self->pieceCount; i++) frames += self->pieces[i].frames;
    kit_require(frames == self->frameCount && frames <= MAXIMUM_FRAMES, "pieces and samples");
    kit_require(self->nodeCount <= MAXIMUM_NODES, "too many nodes");
    kit_require(strlen(self->names) < sizeof self->names, "the names");
  }
  free(self);
}
#else
void portal_kit_sound(const uint8_t *bytes, size_t count) {
  (void)bytes;
  (void)count;
}
#endif
