// OBS without its window: the core of OBS with the plugin, driven by lines of standard input.
//
//   obs_harness PLUGIN ROOT      on an X screen; see the table at the end for the commands
//
// Each command prints its results, then “done N”. Lines of the plugin's log begin with “log:”. At
// the end, “allocations N” are the pieces of memory of OBS's that nobody freed.
//
// build: cc -o obs_harness obs_harness.c $(pkg-config --cflags --libs libobs) -lX11
#include <X11/Xlib.h>
#include <obs-nix-platform.h>
#include <obs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <util/platform.h>

static const char *root;
static obs_source_t *source, *painted;
static obs_output_t *output;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char drawn[40]; // the quadrants of what OBS draws, as letters
static float peak;     // of what OBS plays
static bool is_running; // OBS draws

static void fail(const char *what) {
  fprintf(stderr, "obs_harness: %s\n", what);
  exit(1);
}

static void log_line(int level, const char *text, va_list arguments, void *data) {
  (void)level, (void)data;
  char line[2000];
  vsnprintf(line, sizeof line, text, arguments);
  if (strncmp(line, "[obs-framebus]", 14) == 0) printf("log:%s\n", line + 14);
}

// ---- What OBS draws and plays ----

static char letter_at(const struct video_data *frame, uint32_t x, uint32_t y) {
  static const struct {
    char letter;
    uint8_t bgr[3];
  } known[] = {{'R', {0, 0, 255}}, {'G', {0, 255, 0}},     {'B', {255, 0, 0}},
               {'K', {0, 0, 0}},   {'W', {255, 255, 255}}};
  const uint8_t *pixel = frame->data[0] + (size_t)y * frame->linesize[0] + x * 4;
  for (size_t i = 0; i < 5; i++) {
    int is_near = 1;
    for (int c = 0; c < 3; c++) is_near &= abs(pixel[c] - known[i].bgr[c]) <= 16;
    if (is_near) return known[i].letter;
  }
  return '?';
}

static void take_picture(void *data, struct video_data *frame) {
  (void)data;
  obs_source_t *seen = obs_get_output_source(0);
  uint32_t width = seen ? obs_source_get_width(seen) : 0;
  uint32_t height = seen ? obs_source_get_height(seen) : 0;
  obs_source_release(seen);
  struct obs_video_info info;
  if (!obs_get_video_info(&info)) return;
  uint32_t w = width > 0 && width <= info.base_width ? width : info.base_width;
  uint32_t h = height > 0 && height <= info.base_height ? height : info.base_height;
  pthread_mutex_lock(&lock);
  snprintf(drawn, sizeof drawn, "%c%c%c%c %ux%u", letter_at(frame, w / 4, h / 4),
           letter_at(frame, w * 3 / 4, h / 4), letter_at(frame, w / 4, h * 3 / 4),
           letter_at(frame, w * 3 / 4, h * 3 / 4), width, height);
  pthread_mutex_unlock(&lock);
}

static void take_sound(void *data, size_t mix, struct audio_data *chunk) {
  (void)data, (void)mix;
  const float *samples = (const float *)(const void *)chunk->data[0];
  float highest = 0;
  for (uint32_t i = 0; i < chunk->frames; i++) {
    if (samples[i] > highest) highest = samples[i];
  }
  pthread_mutex_lock(&lock);
  peak = highest;
  pthread_mutex_unlock(&lock);
}

static void start_video(uint32_t width, uint32_t height, enum video_format format) {
  struct obs_video_info info = {
      .graphics_module = "libobs-opengl", .fps_num = 30, .fps_den = 1,
      .base_width = width, .base_height = height, .output_width = width, .output_height = height,
      .output_format = format, .gpu_conversion = true,
      .colorspace = VIDEO_CS_709, .range = VIDEO_RANGE_PARTIAL};
  if (is_running) obs_remove_raw_video_callback(take_picture, NULL);
  is_running = true;
  if (obs_reset_video(&info) != OBS_VIDEO_SUCCESS) fail("obs_reset_video");
  struct video_scale_info seen = {.format = VIDEO_FORMAT_BGRA, .width = width, .height = height,
                                  .range = VIDEO_RANGE_FULL, .colorspace = VIDEO_CS_709};
  obs_add_raw_video_callback(&seen, take_picture, NULL);
}

// Polls for up to a minute.
static void await(const char *what, bool (*is_met)(const char *)) {
  for (int i = 0; i < 6000; i++) {
    if (is_met(what)) return;
    os_sleep_ms(10);
  }
  fprintf(stderr, "OBS draws %s, peak %f\n", drawn, (double)peak);
  fail(what);
}

static bool is_drawn(const char *text) {
  pthread_mutex_lock(&lock);
  bool is_same = strncmp(drawn, text, strlen(text)) == 0;
  pthread_mutex_unlock(&lock);
  return is_same;
}

static bool is_loud(const char *text) {
  pthread_mutex_lock(&lock);
  bool is_met = *text == 't' ? peak > 0.2f && peak < 0.4f : peak < 0.001f;
  pthread_mutex_unlock(&lock);
  return is_met;
}

static bool is_stopped(const char *text) {
  (void)text;
  return !obs_output_active(output);
}

// ---- Commands ----

static obs_data_t *settings(const char *stream, const char *sound) {
  obs_data_t *made = obs_data_create();
  obs_data_set_string(made, "root", root);
  obs_data_set_string(made, "stream", stream);
  obs_data_set_string(made, "sound", sound);
  return made;
}

static void make_source(const char *stream, const char *sound) {
  obs_data_t *made = settings(stream, sound);
  source = obs_source_create("framebus_source", "received", made, NULL);
  obs_data_release(made);
  if (source == NULL) fail("obs_source_create");
  obs_set_output_source(0, source);
}

static void choose(const char *stream, const char *sound) {
  obs_data_t *made = settings(stream, sound);
  obs_source_update(source, made);
  obs_data_release(made);
}

static void move_root(const char *path, const char *unused) {
  (void)unused;
  obs_data_t *made = obs_data_create();
  obs_data_set_string(made, "root", path);
  obs_source_update(source, made);
  obs_data_release(made);
}

static void buffer(const char *flag, const char *unused) {
  (void)unused;
  obs_data_t *made = obs_data_create();
  obs_data_set_bool(made, "buffering", *flag == '1');
  obs_source_update(source, made);
  obs_data_release(made);
}

static void hide(const char *unused, const char *none) {
  (void)unused, (void)none;
  obs_set_output_source(0, NULL);
}

static void show(const char *unused, const char *none) {
  (void)unused, (void)none;
  obs_set_output_source(0, source);
}

static void remove_source(const char *unused, const char *none) {
  hide(unused, none);
  obs_source_release(source);
  source = NULL;
}

static void print_lists(const char *unused, const char *none) {
  (void)unused, (void)none;
  obs_properties_t *properties = obs_source_properties(source);
  obs_property_button_clicked(obs_properties_get(properties, "refresh"), source);
  const char *const names[] = {"stream", "sound"};
  for (int i = 0; i < 2; i++) {
    obs_property_t *list = obs_properties_get(properties, names[i]);
    for (size_t k = 0; k < obs_property_list_item_count(list); k++) {
      printf("%s: %s = %s\n", names[i], obs_property_list_item_name(list, k),
             obs_property_list_item_string(list, k));
    }
  }
  printf("state: %s\n",
         obs_property_description(obs_properties_get(properties, "state")));
  obs_properties_destroy(properties);
}

static void await_picture(const char *text, const char *size) {
  char whole[64];
  snprintf(whole, sizeof whole, "%s%s%s", text, *size ? " " : "", size);
  await(whole, is_drawn);
}

static void await_tone(const char *unused, const char *none) {
  (void)unused, (void)none;
  await("tone", is_loud);
}

static void await_silence(const char *unused, const char *none) {
  (void)unused, (void)none;
  await("silence", is_loud);
}

static void start_output(const char *stream, const char *sound) {
  obs_data_t *made = settings(stream, sound);
  if (output != NULL) obs_output_release(output);
  output = obs_output_create("framebus_output", "published", made, NULL);
  obs_data_release(made);
  if (output == NULL) fail("obs_output_create");
  if (obs_output_start(output)) {
    puts("started");
  } else {
    const char *problem = obs_output_get_last_error(output);
    printf("refused: %s\n", problem != NULL ? problem : "without a reason");
  }
}

static void stop_output(const char *unused, const char *none) {
  (void)unused, (void)none;
  obs_output_stop(output);
  await("the output stops", is_stopped);
  printf("bytes %llu dropped %d\n", (unsigned long long)obs_output_get_total_bytes(output),
         obs_output_get_frames_dropped(output));
}

static const char *painted_name(void *type) {
  (void)type;
  return "painted";
}
static void *painted_create(obs_data_t *unused, obs_source_t *made) {
  (void)unused;
  return made;
}
static void painted_destroy(void *data) { (void)data; }

static void paint(const char *color, const char *none) {
  (void)none;
  static const struct obs_source_info info = {.id = "painted", .type = OBS_SOURCE_TYPE_INPUT,
                                              .output_flags = OBS_SOURCE_ASYNC_VIDEO,
                                              .get_name = painted_name, .create = painted_create,
                                              .destroy = painted_destroy};
  struct obs_video_info video;
  obs_get_video_info(&video);
  if (painted == NULL) {
    obs_register_source(&info);
    painted = obs_source_create("painted", "painted", NULL, NULL);
    obs_source_set_async_unbuffered(painted, true);
    obs_set_output_source(0, painted);
  }
  uint32_t bgr = (uint32_t)strtoul(color, NULL, 16);
  size_t count = (size_t)video.base_width * video.base_height;
  uint32_t *pixels = bmalloc(count * 4);
  for (size_t i = 0; i < count; i++) pixels[i] = bgr | 0xff000000u;
  struct obs_source_frame2 frame = {.data = {(uint8_t *)pixels},
                                    .linesize = {video.base_width * 4},
                                    .width = video.base_width, .height = video.base_height,
                                    .timestamp = os_gettime_ns(), .format = VIDEO_FORMAT_BGRX,
                                    .range = VIDEO_RANGE_FULL};
  obs_source_output_video2(painted, &frame);
  bfree(pixels);
}

static void reset(const char *size, const char *name) {
  uint32_t width = 0, height = 0;
  enum video_format format = VIDEO_FORMAT_NONE;
  sscanf(size, "%ux%u", &width, &height);
  for (int i = VIDEO_FORMAT_I420; i <= VIDEO_FORMAT_YA2L; i++) {
    if (strcmp(get_video_format_name((enum video_format)i), name) == 0) {
      format = (enum video_format)i;
    }
  }
  if (format == VIDEO_FORMAT_NONE) fail(name);
  start_video(width, height, format);
}

static const struct {
  const char *name;
  void (*run)(const char *first, const char *second);
} commands[] = {
    {"source", make_source},      // STREAM [SOUND]: a source, shown
    {"choose", choose},           // STREAM [SOUND]: its settings
    {"root", move_root},          // DIRECTORY of groups, of the source
    {"buffer", buffer},           // 0 or 1
    {"hide", hide},
    {"show", show},
    {"remove", remove_source},
    {"lists", print_lists},       // prints the lists of its properties, and its state
    {"picture", await_picture},   // LETTERS [SIZE]: waits until OBS draws it
    {"tone", await_tone},         // waits until OBS plays the tone of quadrants.c
    {"silence", await_silence},
    {"output", start_output},     // STREAM [SOUND]: prints “started” or “refused: …”
    {"stop", stop_output},
    {"paint", paint},             // RRGGBB: a picture of this colour
    {"reset", reset},             // SIZE FORMAT: OBS's pictures
};

static void run_command(char *line) {
  char name[40] = "", first[200] = "", second[200] = "";
  sscanf(line, "%39s %199s %199s", name, first, second);
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    if (strcmp(commands[i].name, name) != 0) continue;
    commands[i].run(first, second);
    return;
  }
  fail(name);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  root = arguments[2];
  setvbuf(stdout, NULL, _IOLBF, 0);
  base_set_log_handler(log_line, NULL);
  Display *display = XOpenDisplay(NULL);
  if (display == NULL) fail("there is no X screen");
  obs_set_nix_platform(OBS_NIX_PLATFORM_X11_EGL);
  obs_set_nix_platform_display(display);
  char configuration[300];
  snprintf(configuration, sizeof configuration, "%s/obs", root);
  if (!obs_startup("en-US", configuration, NULL)) fail("obs_startup");
  start_video(320, 240, VIDEO_FORMAT_BGRA);
  struct obs_audio_info audio = {.samples_per_sec = 48000, .speakers = SPEAKERS_STEREO};
  if (!obs_reset_audio(&audio)) fail("obs_reset_audio");
  struct audio_convert_info heard = {48000, AUDIO_FORMAT_FLOAT_PLANAR, SPEAKERS_STEREO};
  obs_add_raw_audio_callback(0, &heard, take_sound, NULL);
  obs_module_t *module = NULL;
  if (obs_open_module(&module, arguments[1], root) != MODULE_SUCCESS || !obs_init_module(module)) {
    fail("the plugin does not load");
  }
  puts("ready");
  char line[600];
  for (int number = 1; fgets(line, sizeof line, stdin) != NULL; number++) {
    run_command(line);
    printf("done %d\n", number);
  }
  if (output != NULL) obs_output_force_stop(output);
  obs_set_output_source(0, NULL);
  obs_remove_raw_video_callback(take_picture, NULL);
  obs_remove_raw_audio_callback(0, take_sound, NULL);
  obs_output_release(output);
  obs_source_release(source);
  obs_source_release(painted);
  obs_shutdown();
  XCloseDisplay(display);
  printf("allocations %ld\n", bnum_allocs());
}
