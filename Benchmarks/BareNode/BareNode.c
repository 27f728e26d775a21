// The baseline of the PipeWire rows of `framebus bench capture`, and what they capture.
//
//   BareNode ID                  reads the pictures of a node as `framebus-capture portal` does,
//                                without the bus: one copy of each into a memory file of three
//                                slots. No other process, no notification. Reports as NumberKit
//                                does.
//   BareNode show WIDTH HEIGHT   offers a node as a compositor does, in sealed memory files, with
//                                another picture 60 times a second that carries its number, until
//                                a signal. Prints `node ID`.

#ifdef FRAMEBUS_MEDIA

#define _GNU_SOURCE
#include <NumberKit.h>

#include <fcntl.h>
#include <pipewire/pipewire.h>
#include <spa/param/video/format-utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUFFERS = 8, SLOTS = 3, PIXEL = 4, RATE = 60, LONGEST_SIDE = 16384 };

static struct pw_main_loop *loop;
static struct pw_stream *stream;
static uint32_t width, height, number;

static void fail(const char *what) {
  fprintf(stderr, "error: BareNode: %s\n", what);
  exit(1);
}

static size_t stride(void) { return (size_t)width * PIXEL; }
static size_t size(void) { return stride() * height; }

static void ask_for_memory(uint32_t types, int count) {
  uint8_t bytes[256];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  const struct spa_pod *buffers = spa_pod_builder_add_object(
    &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
    SPA_POD_CHOICE_RANGE_Int(count, 2, 16), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1),
    SPA_PARAM_BUFFERS_size, SPA_POD_Int((int)size()), SPA_PARAM_BUFFERS_stride,
    SPA_POD_Int((int)stride()), SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int((int)types));
  pw_stream_update_params(stream, &buffers, 1);
}

// The node.

/// PipeWire 0.3.65 gives no buffer back that a reader had when it ended.
static struct pw_buffer *known[BUFFERS];
static unsigned absences;

static void add_picture(void *context, struct pw_buffer *buffer) {
  (void)context;
  for (unsigned index = 0; index < BUFFERS; index++) {
    if (known[index] != NULL) continue;
    known[index] = buffer;
    break;
  }
  struct spa_data *data = &buffer->buffer->datas[0];
  int file = memfd_create("bare-node", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0 || ftruncate(file, (off_t)size()) != 0) fail("cannot create a memory file");
  data->data = mmap(NULL, size(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data->data == MAP_FAILED) fail("cannot map a memory file");
  fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  memset(data->data, 0x30, size());
  data->fd = file;
  data->type = SPA_DATA_MemFd;
  data->flags = SPA_DATA_FLAG_READWRITE;
  data->mapoffset = 0;
  data->maxsize = (uint32_t)size();
}

static void remove_picture(void *context, struct pw_buffer *buffer) {
  (void)context;
  for (unsigned index = 0; index < BUFFERS; index++) {
    if (known[index] == buffer) known[index] = NULL;
  }
  struct spa_data *data = &buffer->buffer->datas[0];
  munmap(data->data, data->maxsize);
  close((int)data->fd);
}

static void show_picture(void *context) {
  (void)context;
  struct pw_buffer *buffer = pw_stream_dequeue_buffer(stream);
  absences = buffer == NULL ? absences + 1 : 0;
  if (absences > RATE / 4) buffer = known[absences % BUFFERS];
  if (buffer == NULL || buffer->buffer->datas[0].data == NULL) return;
  struct spa_data *data = &buffer->buffer->datas[0];
  // A large part changes, as that of a film does.
  size_t top = NUMBER_HEIGHT * 2, rows = (size_t)height * 5 / 6, columns = (size_t)width * 5 / 8;
  for (size_t row = top; row < top + rows && row < height; row++) {
    memset((char *)data->data + row * stride(), (int)(number * 3 & 0xff), columns * PIXEL);
  }
  number_draw(data->data, stride(), ++number, number_now_ns());
  data->chunk->offset = 0;
  data->chunk->size = (uint32_t)size();
  data->chunk->stride = (int32_t)stride();
  data->chunk->flags = 0;
  pw_stream_queue_buffer(stream, buffer);
}

static void offer_memory(void *context, uint32_t id, const struct spa_pod *parameter) {
  (void)context;
  if (id == SPA_PARAM_Format && parameter != NULL) ask_for_memory(1u << SPA_DATA_MemFd, BUFFERS);
}

static void print_node(
  void *context, enum pw_stream_state before, enum pw_stream_state now, const char *error) {
  (void)context, (void)before;
  if (now == PW_STREAM_STATE_ERROR) fail(error != NULL ? error : "PipeWire refused the node");
  if (now != PW_STREAM_STATE_PAUSED) return;
  printf("node %u\n", pw_stream_get_node_id(stream));
  fflush(stdout);
}

static void tick(void *context, uint64_t count) {
  (void)context, (void)count;
  if (pw_stream_get_state(stream, NULL) == PW_STREAM_STATE_STREAMING) {
    pw_stream_trigger_process(stream);
  }
}

static const struct pw_stream_events nodeEvents = {
  PW_VERSION_STREAM_EVENTS,
  .state_changed = print_node,
  .param_changed = offer_memory,
  .add_buffer = add_picture,
  .remove_buffer = remove_picture,
  .process = show_picture,
};

static void show(void) {
  if (width < NUMBER_WIDTH || width > LONGEST_SIDE || height < NUMBER_HEIGHT * 4 ||
      height > LONGEST_SIDE) {
    fail("the pictures are too small or too large");
  }
  struct pw_loop *inner = pw_main_loop_get_loop(loop);
  struct pw_properties *properties =
    pw_properties_new(PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_NODE_NAME, "bare-node", NULL);
  stream = pw_stream_new_simple(inner, "bare-node", properties, &nodeEvents, NULL);
  if (stream == NULL) fail("cannot connect to PipeWire");
  uint8_t bytes[512];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  const struct spa_pod *format = spa_pod_builder_add_object(
    &builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
    SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
    SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
    SPA_POD_Id(SPA_VIDEO_FORMAT_BGRx), SPA_FORMAT_VIDEO_size,
    SPA_POD_Rectangle(&SPA_RECTANGLE(width, height)), SPA_FORMAT_VIDEO_framerate,
    SPA_POD_Fraction(&SPA_FRACTION(0, 1)));
  enum pw_stream_flags flags = PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_ALLOC_BUFFERS;
  if (pw_stream_connect(stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, flags, &format, 1) < 0) {
    fail("cannot offer a node");
  }
  struct spa_source *timer = pw_loop_add_timer(inner, tick, NULL);
  struct timespec interval = {0, 1000000000 / RATE};
  pw_loop_update_timer(inner, timer, &interval, &interval, false);
}

// The baseline.

static number_counts *counts;
static char *slots;
static uint64_t taken;

static void take_format(void *context, uint32_t id, const struct spa_pod *parameter) {
  (void)context;
  struct spa_video_info_raw raw = {0};
  if (id != SPA_PARAM_Format || parameter == NULL) return;
  if (spa_format_video_raw_parse(parameter, &raw) < 0 || raw.size.width < NUMBER_WIDTH ||
      raw.size.width > LONGEST_SIDE || raw.size.height > LONGEST_SIDE || slots != NULL) {
    fail("the node has other pictures");
  }
  width = raw.size.width;
  height = raw.size.height;
  int file = memfd_create("bare-node", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)(SLOTS * size())) != 0) fail("no memory file");
  slots = mmap(NULL, SLOTS * size(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (slots == MAP_FAILED) fail("cannot map the memory file");
  ask_for_memory(1u << SPA_DATA_MemFd | 1u << SPA_DATA_MemPtr, 4);
}

static void take_picture(void *context) {
  (void)context;
  struct pw_buffer *buffer, *newest = NULL;
  while ((buffer = pw_stream_dequeue_buffer(stream)) != NULL) {
    if (newest != NULL) pw_stream_queue_buffer(stream, newest);
    newest = buffer;
  }
  if (newest == NULL) return;
  const struct spa_data *data = &newest->buffer->datas[0];
  if (slots != NULL && data->data != NULL && data->maxsize >= size() &&
      data->chunk->size == size()) {
    char *slot = slots + taken++ % SLOTS * size();
    memcpy(slot, data->data, size());
    number_note(counts, slot, stride(), 0);
  }
  pw_stream_queue_buffer(stream, newest);
}

static void watch_node(
  void *context, enum pw_stream_state before, enum pw_stream_state now, const char *error) {
  (void)context;
  if (now == PW_STREAM_STATE_ERROR) fail(error != NULL ? error : "the node cannot be read");
  if (now == PW_STREAM_STATE_UNCONNECTED && before > now) fail("the node has ended");
}

static const struct pw_stream_events readerEvents = {
  PW_VERSION_STREAM_EVENTS,
  .state_changed = watch_node,
  .param_changed = take_format,
  .process = take_picture,
};

static void capture(uint32_t node) {
  counts = number_begin();
  struct pw_properties *properties = pw_properties_new(
    PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE, "Screen",
    NULL);
  stream = pw_stream_new_simple(
    pw_main_loop_get_loop(loop), "bare-reader", properties, &readerEvents, NULL);
  if (stream == NULL) fail("cannot connect to PipeWire");
  uint8_t bytes[512];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  const struct spa_pod *format = spa_pod_builder_add_object(
    &builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
    SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
    SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
    SPA_POD_Id(SPA_VIDEO_FORMAT_BGRx), SPA_FORMAT_VIDEO_size,
    SPA_POD_CHOICE_RANGE_Rectangle(
      &SPA_RECTANGLE(1920, 1080), &SPA_RECTANGLE(1, 1),
      &SPA_RECTANGLE(LONGEST_SIDE, LONGEST_SIDE)),
    SPA_FORMAT_VIDEO_framerate,
    SPA_POD_CHOICE_RANGE_Fraction(
      &SPA_FRACTION(RATE, 1), &SPA_FRACTION(0, 1), &SPA_FRACTION(1000, 1)));
  enum pw_stream_flags flags =
    PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_DONT_RECONNECT | PW_STREAM_FLAG_MAP_BUFFERS;
  if (pw_stream_connect(stream, PW_DIRECTION_INPUT, node, flags, &format, 1) < 0) {
    fail("cannot connect to the node");
  }
}

int main(int count, char **arguments) {
  bool shows = count == 4 && strcmp(arguments[1], "show") == 0;
  if (count != 2 && !shows) fail("usage: BareNode ID | BareNode show WIDTH HEIGHT");
  pw_init(NULL, NULL);
  loop = pw_main_loop_new(NULL);
  if (loop == NULL) fail("no memory");
  if (shows) {
    width = (uint32_t)strtoul(arguments[2], NULL, 10);
    height = (uint32_t)strtoul(arguments[3], NULL, 10);
    show();
  } else {
    capture((uint32_t)strtoul(arguments[1], NULL, 10));
  }
  pw_main_loop_run(loop);
  return 0;
}

#else

#include <stdio.h>

int main(void) {
  fputs("error: BareNode was built without the package trait Media\n", stderr);
  return 1;
}

#endif
