#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "PortalKit.h"

#if __has_include(<pipewire/pipewire.h>)
#include "../../Sources/C/CPipeWire/CaptureStream.c"
#include "../../Sources/C/CPipeWire/PictureMemory.c"
#include "../../Sources/C/CPipeWire/PipeWireFormats.c"

#include "KitInput.h"

enum { BUFFERS = 4, BYTES = 1 << 16, METAS = 4 };

/// A buffer as libpipewire hands it over, in memory of exactly its size, so that AddressSanitizer
/// sees a read beyond it.
struct kit_buffer {
  struct pw_buffer outer;
  struct spa_buffer inner;
  struct spa_data data;
  struct spa_chunk chunk;
  struct spa_meta metas[METAS];
  void *memory;
  bool isAdded;
  bool isQueued;
};

static struct kit_buffer buffers[BUFFERS];

static struct pw_buffer *dequeue(struct pw_stream *stream) {
  (void)stream;
  for (int i = 0; i < BUFFERS; i++) {
    if (!buffers[i].isQueued) continue;
    buffers[i].isQueued = false;
    return &buffers[i].outer;
  }
  return NULL;
}

static int queue(struct pw_stream *stream, struct pw_buffer *buffer) {
  (void)stream;
  (void)buffer;
  return 0;
}

static int update(struct pw_stream *stream, const struct spa_pod **parameters, uint32_t count) {
  (void)stream;
  for (uint32_t i = 0; i < count; i++) kit_require(parameters[i] != NULL, "a parameter is missing");
  return 0;
}

static const struct fb_pipewire_library fake = {
    .stream_dequeue_buffer = dequeue,
    .stream_queue_buffer = queue,
    .stream_update_params = update,
};

const struct fb_pipewire_library *fb_pipewire_library(void) { return &fake; }

static void give_format(struct fb_pipewire_capture *self, struct kit_input *input) {
  _Alignas(8) uint8_t bytes[1024];
  uint8_t kind = kit_byte(input);
  if (kind % 4 == 0) {
    // A pod of any contents, whose size is that of its message.
    struct spa_pod *pod = (struct spa_pod *)bytes;
    uint32_t size = kit_number(input) % (sizeof bytes - sizeof *pod);
    kit_fill(input, bytes, sizeof *pod + size);
    pod->size = size;
    param_changed(self, kind & 4 ? SPA_PARAM_Format : SPA_PARAM_Buffers, pod);
    return;
  }
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  struct spa_pod_frame frame;
  spa_pod_builder_push_object(&builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_Format);
  spa_pod_builder_add(&builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                      SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
                      SPA_FORMAT_VIDEO_format,
                      SPA_POD_Id(kind & 8 ? SPA_VIDEO_FORMAT_BGRx : kit_byte(input)), 0);
  if (kind & 16) {
    spa_pod_builder_prop(&builder, SPA_FORMAT_VIDEO_modifier, SPA_POD_PROP_FLAG_MANDATORY);
    spa_pod_builder_long(&builder, 0);
  }
  uint32_t width = kit_size(input, 200), height = kit_size(input, 100);
  spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_size,
                      SPA_POD_Rectangle(&SPA_RECTANGLE(width, height)), 0);
  param_changed(self, SPA_PARAM_Format, spa_pod_builder_pop(&builder, &frame));
}

static void remove_kit_buffer(struct fb_pipewire_capture *self, struct kit_buffer *buffer) {
  if (!buffer->isAdded) return;
  remove_buffer(self, &buffer->outer);
  kit_require(self->newest != &buffer->outer, "the newest picture lies in a buffer that is gone");
  for (int i = 0; i < METAS; i++) free(buffer->metas[i].data);
  if (buffer->data.type == SPA_DATA_MemPtr) free(buffer->memory);
  if (buffer->data.fd >= 0) close((int)buffer->data.fd);
  *buffer = (struct kit_buffer){0};
}

static void add_kit_buffer(struct fb_pipewire_capture *self, struct kit_input *input) {
  static const uint32_t types[] = {SPA_META_Header, SPA_META_VideoCrop, SPA_META_VideoDamage,
                                   SPA_META_VideoTransform};
  struct kit_buffer *buffer = &buffers[kit_byte(input) % BUFFERS];
  remove_kit_buffer(self, buffer);
  uint8_t kind = kit_byte(input);
  struct spa_data *data = &buffer->data;
  *data = (struct spa_data){.fd = -1, .chunk = &buffer->chunk};
  data->maxsize = kit_number(input) % BYTES;
  data->mapoffset = kind & 1 ? kit_number(input) % BYTES : 0;
  data->type = kind & 2 ? SPA_DATA_MemFd : kind & 4 ? SPA_DATA_DmaBuf : SPA_DATA_MemPtr;
  if (data->type == SPA_DATA_MemPtr) {
    data->data = buffer->memory = calloc(1, data->maxsize + 1);
  } else {
    data->fd = memfd_create("kit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    // Often another size than it says.
    kit_require(ftruncate((int)data->fd, kit_number(input) % (2 * BYTES)) == 0, "ftruncate");
    if (kind & 8) fcntl((int)data->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
  }
  if (kind == 0xff) data->type = 77;
  for (int i = 0; i < METAS; i++) {
    uint32_t size = kit_byte(input);
    buffer->metas[i] = (struct spa_meta){types[i], size, malloc(size + 1)};
    kit_fill(input, buffer->metas[i].data, size);
  }
  buffer->inner = (struct spa_buffer){kind & 64 ? METAS : 0, kind & 128 ? 0 : 1, buffer->metas,
                                      data};
  buffer->outer.buffer = &buffer->inner;
  buffer->isAdded = true;
  add_buffer(self, &buffer->outer);
}

static void give_picture(struct fb_pipewire_capture *self, struct kit_input *input) {
  struct kit_buffer *buffer = &buffers[kit_byte(input) % BUFFERS];
  if (!buffer->isAdded || self->newest == &buffer->outer) return;
  uint8_t kind = kit_byte(input);
  buffer->chunk.offset = kit_size(input, 256);
  buffer->chunk.size = kit_number(input);
  buffer->chunk.stride = (int32_t)kit_size(input, 1024);
  buffer->chunk.flags = kind & 1 ? (int32_t)kit_byte(input) : 0;
  for (int i = 0; i < METAS; i++) {
    // Small numbers are inside a picture more often.
    uint32_t *words = buffer->metas[i].data;
    for (uint32_t word = 0; word < buffer->metas[i].size / sizeof *words; word++) {
      words[word] = kit_size(input, 64);
    }
  }
  buffer->isQueued = true;
  // A file may shrink at any moment.
  if (kind & 2 && buffer->data.type == SPA_DATA_DmaBuf) ftruncate((int)buffer->data.fd, 0);
  process(self);
}

static bool isInside(struct fb_pipewire_rect rect, const struct fb_pipewire_format *format) {
  return rect.x <= format->width && rect.width <= format->width - rect.x &&
         rect.y <= format->height && rect.height <= format->height - rect.y;
}

static void copy(struct fb_pipewire_capture *self, struct kit_input *input) {
  struct fb_pipewire_picture picture;
  if (!fb_pipewire_capture_newest(self, &picture)) return;
  kit_require(picture.damageCount <= FB_PIPEWIRE_MAXIMUM_DAMAGE, "too many rectangles");
  // A picture of the former format, which its buffer outlived, is not larger than the new one.
  size_t bytes = (size_t)picture.crop.width * picture.crop.height * FB_PIXEL_BYTES;
  if (bytes > 8 * BYTES) return;
  if (kit_byte(input) & 1 && bytes > 0) bytes--;
  void *target = malloc(bytes);
  bool isCopied = fb_pipewire_capture_copy(self, target, bytes);
  free(target);
  if (isCopied) {
    kit_require(fb_pipewire_capture_newest(self, &picture), "the newest picture is gone");
    kit_require(!picture.isFullDamage && picture.damageCount == 0, "damage is kept after a copy");
  }
}

void portal_kit_pictures(const uint8_t *bytes, size_t count) {
  struct kit_input input = {bytes, count};
  struct fb_pipewire_capture *self = calloc(1, sizeof *self);
  self->library = &fake;
  self->node = 7;
  self->isFullDamage = true;
  while (input.count > 0) {
    switch (kit_byte(&input) % 8) {
      case 0: give_format(self, &input); break;
      case 1: add_kit_buffer(self, &input); break;
      case 2: remove_kit_buffer(self, &buffers[kit_byte(&input) % BUFFERS]); break;
      case 3: registry_global_remove(self, kit_byte(&input)); break;
      case 4: core_error(self, kit_byte(&input), 0, -(int)kit_byte(&input), NULL); break;
      case 5: copy(self, &input); break;
      default: give_picture(self, &input); break;
    }
    struct fb_pipewire_format format;
    if (fb_pipewire_capture_take_format(self, &format)) {
      kit_require(format.width <= FB_LONGEST_SIDE && format.height <= FB_LONGEST_SIDE, "a side");
    }
    if (self->newest != NULL && self->format.width > 0) {
      kit_require(isInside(self->claim.crop, &self->format), "a crop outside of the picture");
    }
    kit_require(self->damageCount <= FB_PIPEWIRE_MAXIMUM_DAMAGE, "too many rectangles");
    for (uint32_t i = 0; i < self->damageCount; i++) {
      kit_require(self->damage[i].width <= FB_LONGEST_SIDE, "damage that is too wide");
    }
  }
  for (int i = 0; i < BUFFERS; i++) remove_kit_buffer(self, &buffers[i]);
  free(self);
}
#else
void portal_kit_pictures(const uint8_t *bytes, size_t count) {
  (void)bytes;
  (void)count;
}
#endif
