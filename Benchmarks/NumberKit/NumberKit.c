#include "NumberKit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
  /// Frames that are not judged: programs start, and the first one may be an old picture.
  WARM_UP = 30,
  /// Older ones count as the oldest.
  AGES = 50000,
  AGE_NS = 10000,
};

struct number_counts {
  uint64_t frames, read, reportedAtNs;
  uint64_t shown, skipped, longest, torn, dropped;
  uint32_t last, ages[AGES];
};

number_counts *number_begin(void) {
  static number_counts counts;
  return &counts;
}

uint64_t number_now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint16_t check(const uint16_t words[6]) {
  uint32_t sum = 0x5a5a;
  for (unsigned index = 0; index < 6; index++) sum = sum * 31 + words[index];
  return (uint16_t)(sum ^ sum >> 16);
}

static void pack(uint16_t words[7], uint32_t number, uint64_t ns) {
  words[0] = (uint16_t)number;
  words[1] = (uint16_t)(number >> 16);
  for (unsigned index = 0; index < 4; index++) words[2 + index] = (uint16_t)(ns >> 16 * index);
  words[6] = check(words);
}

void number_draw(void *pixels, size_t stride, uint32_t number, uint64_t drawnAtNs) {
  uint16_t words[7];
  pack(words, number, drawnAtNs);
  for (unsigned row = 0; row < NUMBER_HEIGHT; row++) {
    uint32_t *line = (uint32_t *)((char *)pixels + row * stride);
    for (unsigned column = 0; column < NUMBER_WIDTH; column++) {
      unsigned bit = column / NUMBER_BLOCK;
      line[column] = words[bit / 16] >> bit % 16 & 1 ? 0xffffffffu : 0xff000000u;
    }
  }
}

/// - Returns: false if the picture is not a whole one.
static bool read_number(
  const void *pixels, size_t stride, uint32_t *number, uint64_t *drawnAtNs) {
  uint16_t words[7] = {0};
  const char *line = (const char *)pixels + NUMBER_BLOCK / 2 * stride;
  for (unsigned bit = 0; bit < NUMBER_BITS; bit++) {
    uint32_t pixel;
    memcpy(&pixel, line + (bit * NUMBER_BLOCK + NUMBER_BLOCK / 2) * 4, sizeof pixel);
    if ((pixel & 0xff00) > 0x7f00) words[bit / 16] |= (uint16_t)(1u << bit % 16);
  }
  if (words[6] != check(words)) return false;
  *number = words[0] | (uint32_t)words[1] << 16;
  *drawnAtNs = 0;
  for (unsigned index = 0; index < 4; index++) {
    *drawnAtNs |= (uint64_t)words[2 + index] << 16 * index;
  }
  return true;
}

/// - Parameter share: of the pictures, in thousandths.
static uint64_t age_ns(const number_counts *counts, uint64_t share) {
  uint64_t seen = 0;
  uint64_t total = 0;
  for (unsigned index = 0; index < AGES; index++) total += counts->ages[index];
  for (unsigned index = 0; index < AGES; index++) {
    seen += counts->ages[index];
    if (seen * 1000 >= total * share && seen > 0) return (uint64_t)index * AGE_NS;
  }
  return 0;
}

static void report(number_counts *counts, uint64_t nowNs) {
  if (nowNs - counts->reportedAtNs < 1000000000u) return;
  counts->reportedAtNs = nowNs;
  printf(
    "%llu frames\n{\"latency_p50_ns\": %llu, \"latency_p99_ns\": %llu, \"shown\": %llu, "
    "\"skipped\": %llu, \"longest\": %llu, \"torn\": %llu, \"dropped\": %llu}\n",
    (unsigned long long)counts->frames, (unsigned long long)age_ns(counts, 500),
    (unsigned long long)age_ns(counts, 990), (unsigned long long)counts->shown,
    (unsigned long long)counts->skipped, (unsigned long long)counts->longest,
    (unsigned long long)counts->torn, (unsigned long long)counts->dropped);
  fflush(stdout);
}

void number_note(
  number_counts *counts, const void *pixels, size_t stride, uint64_t dropped) {
  uint64_t nowNs = number_now_ns();
  uint32_t number = 0;
  uint64_t drawnAtNs = 0;
  bool isWhole = read_number(pixels, stride, &number, &drawnAtNs);
  if (counts->frames == 0) counts->reportedAtNs = nowNs;
  counts->frames++;
  counts->dropped = dropped;
  if (isWhole) {
    counts->read++;
    uint32_t step = number - counts->last;
    if (counts->read > WARM_UP && step > 0) {
      counts->shown += step;
      counts->skipped += step - 1;
      if (step - 1 > counts->longest) counts->longest = step - 1;
      uint64_t age = drawnAtNs < nowNs ? (nowNs - drawnAtNs) / AGE_NS : 0;
      counts->ages[age < AGES ? age : AGES - 1]++;
    }
    counts->last = number;
  } else if (counts->read > WARM_UP) {
    counts->torn++;
  }
  report(counts, nowNs);
}
