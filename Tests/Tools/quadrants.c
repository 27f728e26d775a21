// Publishes what the tests of the OBS plugin receive, through the C library.
//
//   quadrants ROOT STREAM         pictures; each line of standard input describes the next ones
//   quadrants ROOT STREAM tone    sound: 440 Hz, in chunks of 10 ms
//
// A line: CODE WIDTH HEIGHT LETTERS [orientation=N] [crop=X,Y,W,H] [matrix=N] [full]
// LETTERS are the colours (R G B W K) of the quadrants of the visible part: top left, top right,
// bottom left, bottom right. SIGTERM ends the stream. Prints each change of subscribers.
//
// build: cc -o quadrants quadrants.c $(pkg-config --cflags --libs framebus) -lm
#include <framebus.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static framebus_error error = FRAMEBUS_ERROR_INIT;
static framebus_publisher *publisher;
static framebus_format format = {.size = sizeof format};
static framebus_metadata metadata = {.size = sizeof metadata};
static char code[8], letters[8];
static uint8_t *picture;
static volatile sig_atomic_t is_ending;

static void end(int number) {
  (void)number;
  is_ending = 1;
}

static void check(int result) {
  if (result >= 0) return;
  fprintf(stderr, "quadrants: %s\n", error.message);
  exit(1);
}

static int is(const char *name) { return strncmp(code, name, 4) == 0; }

static void set16(uint8_t *at, double value) {
  // The high 10 of 16 bits.
  unsigned bits = (unsigned)lround(value * 4) << 6;
  at[0] = (uint8_t)bits;
  at[1] = (uint8_t)(bits >> 8);
}

static void put(uint32_t x, uint32_t y, char letter) {
  int r = letter == 'R' || letter == 'W' ? 255 : 0, g = letter == 'G' || letter == 'W' ? 255 : 0;
  int b = letter == 'B' || letter == 'W' ? 255 : 0;
  int is_709 = format.color_matrix == 1, is_full = format.color_range == FRAMEBUS_RANGE_FULL;
  double kr = is_709 ? 0.2126 : 0.299, kb = is_709 ? 0.0722 : 0.114;
  double luma = (kr * r + kb * b + (1 - kr - kb) * g) / 255;
  double u = (b / 255.0 - luma) / (2 * (1 - kb)), v = (r / 255.0 - luma) / (2 * (1 - kr));
  double yy = is_full ? 255 * luma : 16 + 219 * luma, scale = is_full ? 255 : 224;
  double cb = fmin(128 + scale * u, 255), cr = fmin(128 + scale * v, 255);
  const framebus_plane *p = format.planes;
  uint8_t *row[3];
  for (int i = 0; i < 3; i++) row[i] = picture + p[i].offset;
  uint8_t luma8 = (uint8_t)lround(yy), cb8 = (uint8_t)lround(cb), cr8 = (uint8_t)lround(cr);
  uint8_t *pixel = row[0] + (size_t)y * p[0].stride;
  if (is("XR24") || is("AR24")) {
    memcpy(pixel + x * 4, (uint8_t[]){b, g, r, is("AR24") ? 255 : 0}, 4);
  } else if (is("XB24") || is("AB24")) {
    memcpy(pixel + x * 4, (uint8_t[]){r, g, b, is("AB24") ? 255 : 0}, 4);
  } else if (is("RG24")) {
    memcpy(pixel + x * 3, (uint8_t[]){b, g, r}, 3);
  } else if (is("YUYV")) {
    memcpy(pixel + x / 2 * 4, (uint8_t[]){luma8, cb8, luma8, cr8}, 4);
  } else if (is("YVYU")) {
    memcpy(pixel + x / 2 * 4, (uint8_t[]){luma8, cr8, luma8, cb8}, 4);
  } else if (is("UYVY")) {
    memcpy(pixel + x / 2 * 4, (uint8_t[]){cb8, luma8, cr8, luma8}, 4);
  } else if (is("P010")) {
    set16(pixel + x * 2, yy);
    set16(row[1] + (size_t)(y / 2) * p[1].stride + x / 2 * 4, cb);
    set16(row[1] + (size_t)(y / 2) * p[1].stride + x / 2 * 4 + 2, cr);
  } else if (is("NV12")) {
    pixel[x] = luma8;
    memcpy(row[1] + (size_t)(y / 2) * p[1].stride + x / 2 * 2, (uint8_t[]){cb8, cr8}, 2);
  } else if (is("R8  ")) {
    pixel[x] = letter == 'W' ? 255 : 0;
  } else {
    uint32_t columns = is("YU24") ? 1 : 2, rows = is("YU24") || is("YU16") ? 1 : 2;
    int first = is("YV12") ? 2 : 1;
    pixel[x] = luma8;
    row[first][(size_t)(y / rows) * p[first].stride + x / columns] = cb8;
    row[3 - first][(size_t)(y / rows) * p[3 - first].stride + x / columns] = cr8;
  }
}

static void paint(void) {
  framebus_rect part = metadata.crop;
  if (part.width == 0) part = (framebus_rect){0, 0, format.width, format.height};
  memset(picture, 0, format.byte_count);
  for (uint32_t y = 0; y < format.height; y++) {
    for (uint32_t x = 0; x < format.width; x++) {
      int is_inside = x >= part.x && y >= part.y && x < part.x + part.width &&
                      y < part.y + part.height;
      int quadrant = (y >= part.y + part.height / 2) * 2 + (x >= part.x + part.width / 2);
      put(x, y, is_inside ? letters[quadrant] : 'K');
    }
  }
}

// Reads the next pictures. Returns 0 at the end of the input.
static int read_line(void) {
  char line[200], *word;
  uint32_t width, height;
  if (fgets(line, sizeof line, stdin) == NULL) return 0;
  if (sscanf(line, "%7s %u %u %7s", code, &width, &height, letters) != 4) exit(2);
  strcat(code, "  ");
  check(framebus_format_video(FRAMEBUS_FOURCC(code[0], code[1], code[2], code[3]), width, height,
                              &format, &error));
  framebus_metadata_now(&metadata, NULL);
  format.rate_numerator = 30;
  if ((word = strstr(line, "orientation="))) metadata.orientation = (uint32_t)atoi(word + 12);
  if ((word = strstr(line, "crop="))) {
    sscanf(word, "crop=%u,%u,%u,%u", &metadata.crop.x, &metadata.crop.y, &metadata.crop.width,
           &metadata.crop.height);
  }
  if ((word = strstr(line, "matrix="))) format.color_matrix = (uint8_t)atoi(word + 7);
  if (strstr(line, "full")) format.color_range = FRAMEBUS_RANGE_FULL;
  picture = realloc(picture, format.byte_count);
  paint();
  return 1;
}

static void report_subscribers(void) {
  static uint32_t last;
  framebus_publisher_status status = {.size = sizeof status};
  framebus_publisher_get_status(publisher, &status, NULL);
  if (status.subscriber_count == last) return;
  last = status.subscriber_count;
  printf("subscribers %u\n", last);
}

static void publish(const void *bytes, uint64_t count) {
  framebus_slot slot = FRAMEBUS_SLOT_INIT;
  framebus_metadata now = metadata;
  if (framebus_publisher_loan(publisher, 0, NULL, &slot, &error) != FRAMEBUS_OK) return;
  memcpy(slot.bytes, bytes, count);
  now.pts_ns = (int64_t)framebus_now_ns();
  now.captured_at_ns = (uint64_t)now.pts_ns;
  check(framebus_loan_publish(slot.loan, &now, count, NULL, &error));
}

static void publish_tone(framebus_group *group, const char *stream) {
  int16_t chunk[480];
  framebus_publisher_options options = FRAMEBUS_PUBLISHER_OPTIONS_INIT;
  options.ring_depth = 64;
  check(framebus_format_audio(FRAMEBUS_KIND_APP_AUDIO, FRAMEBUS_S16LE, 48000, 1, 480, &format,
                              &error));
  check(framebus_publisher_open(group, stream, &format, &options, &publisher, &error));
  puts("publishing");
  uint64_t due = framebus_now_ns();
  for (uint64_t sample = 0; !is_ending;) {
    for (int i = 0; i < 480; i++, sample++) {
      chunk[i] = (int16_t)(10000 * sin((double)sample * 2 * M_PI * 440 / 48000));
    }
    report_subscribers();
    framebus_metadata_now(&metadata, NULL);
    publish(chunk, sizeof chunk);
    due += 10000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
                    &(struct timespec){(time_t)(due / 1000000000), (long)(due % 1000000000)}, NULL);
  }
}

int main(int count, char **arguments) {
  framebus_group *group;
  if (count < 3) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  signal(SIGTERM, end);
  check(framebus_group_open(NULL, arguments[1], &group, &error));
  if (count > 3) {
    publish_tone(group, arguments[2]);
  } else {
    if (!read_line()) return 2;
    check(framebus_publisher_open(group, arguments[2], &format, NULL, &publisher, &error));
    puts("publishing");
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    while (!is_ending) {
      report_subscribers();
      publish(picture, format.byte_count);
      if (poll(&input, 1, 33) > 0 && !is_ending) {
        if (!read_line()) break;
        check(framebus_publisher_set_format(publisher, &format, &error));
      }
    }
  }
  framebus_publisher_close(publisher, FRAMEBUS_END_ENDED, NULL);
  framebus_group_close(group);
  free(picture);
}
