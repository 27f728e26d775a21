// A PipeWire node with numbered pictures, as a compositor offers them, and a hostile one.
//
//   PictureSource NAME WIDTHxHEIGHT MEMORY
//
// MEMORY is `server` (PipeWire allocates), or the program's own: `sealed`, `unsealed`, `padded`
// (rows with gaps), `dmabuf` (mappable), `unmappable`, `cropped`, `damaged` (a square changes),
// `outside` (pictures that end beyond their memory), `wild` (random numbers in all metadata),
// `shrinking` (the file shrinks under its reader), `posing` (the same, called DMA-BUF),
// `turned` (metadata say that picture N is turned by transform N mod 10, of which there are 8);
// pictures with odd numbers do not count: `corrupted` and `marked` (the chunk, or the header, says
// that they are damaged), `empty` (without bytes, as news of the cursor); `timed` (the time of
// picture N is N mod 3: the truth, far ahead, long ago).
// Each pixel has the number of the picture; in `damaged` those of the square alone. Lines on
// standard input: `still`, `go`, `end`, or `size WIDTHxHEIGHT`.
#if __has_include(<pipewire/pipewire.h>)
#define _GNU_SOURCE
#include <fcntl.h>
#include <pipewire/pipewire.h>
#include <spa/param/video/format-utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// PipeWire 0.3.65 gives no buffer back that a reader had when it ended.
enum { BUFFERS = 16 };
enum { PIXEL = 4, FRAMES_PER_SECOND = 30, MARGIN = 16, GAP = 64, SQUARE = 8 };

static struct pw_main_loop *loop;
static struct pw_stream *stream;
static const char *memory;
static uint32_t width, height, number;
static bool isStill;
static struct pw_buffer *known[BUFFERS];
static int absences;

static bool is(const char *mode) { return !strcmp(memory, mode); }
static bool isOwn(void) { return !is("server"); }
static uint32_t stride(void) { return width * PIXEL + (is("padded") ? GAP : 0); }
static uint32_t size(void) { return stride() * height; }

static const struct spa_pod *format(struct spa_pod_builder *builder, bool isGraphicsMemory) {
  struct spa_pod_frame frame;
  spa_pod_builder_push_object(builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
  spa_pod_builder_add(builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                      SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
                      SPA_FORMAT_VIDEO_format, SPA_POD_Id(SPA_VIDEO_FORMAT_BGRx), 0);
  if (isGraphicsMemory) {
    spa_pod_builder_prop(builder, SPA_FORMAT_VIDEO_modifier, SPA_POD_PROP_FLAG_MANDATORY);
    spa_pod_builder_long(builder, 0);
  }
  spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_size,
                      SPA_POD_Rectangle(&SPA_RECTANGLE(width, height)),
                      SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&SPA_FRACTION(0, 1)), 0);
  return spa_pod_builder_pop(builder, &frame);
}

static bool isGraphics(void) { return is("dmabuf") || is("unmappable") || is("posing"); }
static bool isShrinking(void) { return is("shrinking") || is("posing"); }

static const struct spa_pod *meta(struct spa_pod_builder *builder, uint32_t type, int size) {
  return spa_pod_builder_add_object(builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta,
                                    SPA_PARAM_META_type, SPA_POD_Id(type), SPA_PARAM_META_size,
                                    SPA_POD_Int(size));
}

static void param_changed(void *user, uint32_t id, const struct spa_pod *parameter) {
  (void)user;
  if (id != SPA_PARAM_Format || parameter == NULL) return;
  uint8_t bytes[1024];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  int types = !isOwn()       ? 1 << SPA_DATA_MemPtr | 1 << SPA_DATA_MemFd
              : isGraphics() ? 1 << SPA_DATA_DmaBuf
                             : 1 << SPA_DATA_MemFd;
  const struct spa_pod *parameters[] = {
      spa_pod_builder_add_object(
          &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
          SPA_POD_Int(BUFFERS), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1),
          SPA_PARAM_BUFFERS_size, SPA_POD_Int((int)size()), SPA_PARAM_BUFFERS_stride,
          SPA_POD_Int((int)stride()), SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(types)),
      meta(&builder, SPA_META_Header, sizeof(struct spa_meta_header)),
      meta(&builder, SPA_META_VideoCrop, sizeof(struct spa_meta_region)),
      meta(&builder, SPA_META_VideoDamage, 4 * sizeof(struct spa_meta_region)),
      meta(&builder, SPA_META_VideoTransform, sizeof(struct spa_meta_videotransform)),
  };
  pw_stream_update_params(stream, parameters, is("turned") ? 5 : 4);
}

static void add_buffer(void *user, struct pw_buffer *buffer) {
  (void)user;
  for (int i = 0; i < BUFFERS; i++) {
    if (known[i] != NULL) continue;
    known[i] = buffer;
    break;
  }
  if (!isOwn()) return;
  struct spa_data *data = &buffer->buffer->datas[0];
  int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING, pipes[2];
  data->fd = memfd_create("picture", (unsigned)flags);
  ftruncate((int)data->fd, size());
  data->data = mmap(NULL, size(), PROT_READ | PROT_WRITE, MAP_SHARED, (int)data->fd, 0);
  if (is("unmappable") && pipe2(pipes, O_CLOEXEC) == 0) data->fd = pipes[0];
  if (!is("unsealed") && !isShrinking() && !isGraphics()) {
    fcntl((int)data->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  }
  data->type = isGraphics() ? SPA_DATA_DmaBuf : SPA_DATA_MemFd;
  data->flags = SPA_DATA_FLAG_READWRITE;
  data->mapoffset = 0;
  data->maxsize = size();
}

static void remove_buffer(void *user, struct pw_buffer *buffer) {
  (void)user;
  for (int i = 0; i < BUFFERS; i++) {
    if (known[i] == buffer) known[i] = NULL;
  }
  struct spa_data *data = &buffer->buffer->datas[0];
  if (!isOwn()) return;
  munmap(data->data, data->maxsize);
  close((int)data->fd);
}

static void set_region(struct spa_meta_region *region, uint32_t x, uint32_t y, uint32_t columns,
                       uint32_t rows) {
  region->region = SPA_REGION((int32_t)x, (int32_t)y, columns, rows);
}

/// Where the square of a picture is.
static uint32_t place(uint32_t picture) { return picture % 4 * SQUARE; }

static void draw(uint8_t *pixels) {
  for (uint32_t y = 0; y < height; y++) {
    uint32_t *row = (uint32_t *)(pixels + y * stride());
    for (uint32_t x = 0; x < width; x++) {
      bool isSquare = x >= place(number) && x < place(number) + SQUARE && y < SQUARE;
      row[x] = is("damaged") && !isSquare ? 0 : number & 0xffffff;
    }
  }
}

static void process(void *user) {
  (void)user;
  struct pw_buffer *buffer = pw_stream_dequeue_buffer(stream);
  // Readers that have ended keep them all.
  absences = buffer == NULL ? absences + 1 : 0;
  if (absences > FRAMES_PER_SECOND / 4) buffer = known[absences % BUFFERS];
  if (buffer == NULL) return;
  struct spa_data *data = &buffer->buffer->datas[0];
  if (data->data == NULL) return;
  number++;
  // One that shrank is whole again before it is drawn into.
  if (isShrinking()) ftruncate((int)data->fd, size());
  draw(data->data);
  data->chunk->offset = is("outside") ? PIXEL : 0;
  data->chunk->size = size();
  data->chunk->stride = (int32_t)stride();
  data->chunk->flags = 0;
  struct spa_meta_header *header =
      spa_buffer_find_meta_data(buffer->buffer, SPA_META_Header, sizeof *header);
  struct spa_meta_region *crop =
      spa_buffer_find_meta_data(buffer->buffer, SPA_META_VideoCrop, sizeof *crop);
  struct spa_meta *damage = spa_buffer_find_meta(buffer->buffer, SPA_META_VideoDamage);
  struct spa_meta_videotransform *turn =
      spa_buffer_find_meta_data(buffer->buffer, SPA_META_VideoTransform, sizeof *turn);
  if (turn != NULL) turn->transform = number % 10;
  if (header != NULL) *header = (struct spa_meta_header){.pts = -1, .seq = number};
  if (is("timed") && header != NULL) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = now.tv_sec * 1000000000ll + now.tv_nsec;
    header->pts = number % 3 == 0 ? ns : number % 3 == 1 ? 2 * ns : 1;
  }
  if (number % 2 == 1) {
    if (is("corrupted")) data->chunk->flags = SPA_CHUNK_FLAG_CORRUPTED;
    if (is("empty")) data->chunk->size = 0;
    if (is("marked") && header != NULL) header->flags = SPA_META_HEADER_FLAG_CORRUPTED;
  }
  if (crop != NULL) {
    set_region(crop, 0, 0, width, height);
    if (is("cropped")) set_region(crop, MARGIN, MARGIN, width - 2 * MARGIN, height - 2 * MARGIN);
  }
  if (damage != NULL) {
    struct spa_meta_region *regions = damage->data;
    memset(regions, 0, damage->size);
    if (is("damaged") && number > 1) {
      set_region(&regions[0], place(number - 1), 0, SQUARE, SQUARE);
      set_region(&regions[1], place(number), 0, SQUARE, SQUARE);
    }
  }
  if (is("wild")) {
    uint32_t words[4];
    for (int i = 0; i < 4; i++) words[i] = (uint32_t)random() << (random() % 32);
    data->chunk->offset = words[0];
    data->chunk->stride = (int32_t)words[1];
    if (crop != NULL) set_region(crop, words[2], words[3], words[0], words[1]);
    if (damage != NULL) set_region(damage->data, words[3], words[2], words[1], words[0]);
    if (header != NULL) header->pts = (int64_t)((uint64_t)words[0] << 32 | words[3]);
  }
  if (isShrinking() && number % 4 == 0) ftruncate((int)data->fd, 0);
  pw_stream_queue_buffer(stream, buffer);
}

static void tick(void *user, uint64_t count) {
  (void)user;
  (void)count;
  if (!isStill && pw_stream_get_state(stream, NULL) == PW_STREAM_STATE_STREAMING) {
    pw_stream_trigger_process(stream);
  }
}

static void resize(const char *text) {
  sscanf(text, "%ux%u", &width, &height);
  uint8_t bytes[1024];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  const struct spa_pod *formats[] = {format(&builder, isGraphics())};
  pw_stream_update_params(stream, formats, 1);
}

static void command(void *user, int descriptor, uint32_t mask) {
  (void)user;
  (void)mask;
  char line[64];
  ssize_t count = read(descriptor, line, sizeof line - 1);
  if (count <= 0) {
    pw_main_loop_quit(loop);
    return;
  }
  line[count] = 0;
  if (!strncmp(line, "still", 5)) isStill = true;
  if (!strncmp(line, "go", 2)) isStill = false;
  if (!strncmp(line, "size ", 5)) resize(line + 5);
  if (!strncmp(line, "end", 3)) pw_main_loop_quit(loop);
}

static void state_changed(void *user, enum pw_stream_state before, enum pw_stream_state now,
                          const char *error) {
  (void)user;
  (void)before;
  printf("%s %u %s\n", pw_stream_state_as_string(now), pw_stream_get_node_id(stream),
         error != NULL ? error : "");
  fflush(stdout);
}

static const struct pw_stream_events events = {
    PW_VERSION_STREAM_EVENTS,
    .state_changed = state_changed,
    .param_changed = param_changed,
    .add_buffer = add_buffer,
    .remove_buffer = remove_buffer,
    .process = process,
};

int main(int count, char **arguments) {
  if (count != 4 || sscanf(arguments[2], "%ux%u", &width, &height) != 2) return 2;
  memory = arguments[3];
  pw_init(NULL, NULL);
  loop = pw_main_loop_new(NULL);
  struct pw_properties *properties = pw_properties_new(
      PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_NODE_NAME, arguments[1], NULL);
  struct pw_loop *inner = pw_main_loop_get_loop(loop);
  stream = pw_stream_new_simple(inner, arguments[1], properties, &events, NULL);
  uint8_t bytes[1024];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  const struct spa_pod *formats[] = {format(&builder, isGraphics())};
  enum pw_stream_flags flags = PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS;
  if (isOwn()) flags = PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_ALLOC_BUFFERS;
  if (pw_stream_connect(stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, flags, formats, 1) < 0) return 1;
  struct spa_source *timer = pw_loop_add_timer(inner, tick, NULL);
  struct timespec interval = {0, 1000000000 / FRAMES_PER_SECOND};
  pw_loop_update_timer(inner, timer, &interval, &interval, false);
  pw_loop_add_io(inner, STDIN_FILENO, SPA_IO_IN | SPA_IO_HUP, false, command, NULL);
  pw_main_loop_run(loop);
  pw_stream_destroy(stream);
  return 0;
}
#else
int main(void) { return 2; }
#endif
