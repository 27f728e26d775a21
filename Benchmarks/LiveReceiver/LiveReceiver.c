// The receiver of `framebus bench upload`, `bitrate` and `link`: accepts one session, decodes it,
// and reads from each picture when it was drawn (the test pattern's mark,
// Sources/Media/Capture/TestPatternMark.swift).
//
//   LiveReceiver          prints "listening PORT", then for each picture "N frames, L us"
//   LiveReceiver srt URI  listens for SRT, and prints the same
//   LiveReceiver sizes    does not decode, and prints "N bytes at T ns" by the monotonic clock

#ifdef FRAMEBUS_MEDIA

#include <gst/gst.h>
#include <stdio.h>
#include <string.h>

#include "LiveKit.h"

enum { COLUMNS = 20, ROWS = 4 };

static uint16_t checksum(uint64_t value) {
  uint16_t crc = 0xFFFF;
  for (int shift = 56; shift >= 0; shift -= 8) {
    crc ^= (uint16_t)((value >> shift & 0xFF) << 8);
    for (int i = 0; i < 8; i++) crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
  }
  return crc;
}

/// Reads the drawing time from a picture, in milliseconds, 32 bits. False if it cannot be read.
static bool read_mark(const uint8_t *luma, unsigned width, unsigned height, unsigned stride,
                      uint32_t *milliseconds) {
  unsigned side = width / (COLUMNS + 2) < height / (ROWS + 4) ? width / (COLUMNS + 2)
                                                               : height / (ROWS + 4);
  uint64_t value = 0;
  uint16_t found = 0;
  for (unsigned i = 0; i < COLUMNS * ROWS; i++) {
    unsigned x = side * (1 + i % COLUMNS) + side / 2, y = side * (1 + i / COLUMNS) + side / 2;
    unsigned bit = luma[y * stride + x] >= 128;
    if (i < 64) value = value << 1 | bit;
    else found = (uint16_t)(found << 1 | bit);
  }
  *milliseconds = (uint32_t)value;
  return checksum(value) == found;
}

static void take(const uint8_t *luma, unsigned width, unsigned height, unsigned stride) {
  static unsigned count;
  uint32_t drawn;
  uint64_t nowUs = live_now_ns() / 1000;
  if (!read_mark(luma, width, height, stride, &drawn)) return;
  uint32_t whole = (uint32_t)(nowUs / 1000) - drawn;
  // The mark's milliseconds are rounded down, by half a millisecond on average.
  int64_t latencyUs = (int64_t)whole * 1000 + (int64_t)(nowUs % 1000) - 500;
  printf("%u frames, %lld us\n", ++count, (long long)latencyUs);
  fflush(stdout);
}

static void take_size(size_t byteCount) {
  printf("%zu bytes at %llu ns\n", byteCount, (unsigned long long)live_now_ns());
  fflush(stdout);
}

int main(int count, char **arguments) {
  gst_init(&count, &arguments);
  if (count > 1 && strcmp(arguments[1], "sizes") == 0) live_receive_sizes(take_size);
  if (count > 2 && strcmp(arguments[1], "srt") == 0) live_receive_srt(take, arguments[2]);
  live_receive(take);
}

#else
int main(void) { return 1; }
#endif
