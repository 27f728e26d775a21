#include "CChecksum.h"

#include <pthread.h>
#include <string.h>

// A checksum is inverted between calls; `state` is the plain register. Bytes are processed lowest
// bit first, so a little-endian word is eight bytes at once.

/// The polynomial 0x1EDC6F41, lowest bit first.
static const uint32_t polynomial = 0x82F63B78;

/// byte_table[k][b]: the state after byte `b` and `k` zero bytes, from state 0.
static uint32_t byte_table[8][256];

/// The instruction takes three cycles, and one can start each cycle: so three lanes of this many
/// bytes are processed at once, and their states joined. A page for each lane lets the processor
/// prefetch; a cache line for each serves short input, such as a log record.
enum { PAGE_LANE, LINE_LANE, LANES };
static const size_t lane_bytes[LANES] = {4096, 64};

/// lane_table[l][k][b]: the state after lane_bytes[l] zero bytes, from the state `b << 8 * k`.
static uint32_t lane_table[LANES][4][256];

static uint64_t load(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/// Processes eight bytes in each iteration, with one lookup in each table.
static uint32_t extend_by_table(uint32_t state, const uint8_t *bytes, size_t count) {
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word = load(bytes) ^ state;
    state = 0;
    for (int k = 0; k < 8; k++) state ^= byte_table[7 - k][word >> (8 * k) & 0xff];
  }
  for (; count > 0; bytes++, count--) state = state >> 8 ^ byte_table[0][(state ^ *bytes) & 0xff];
  return state;
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <nmmintrin.h>
#define ACCELERATED __attribute__((target("sse4.2")))
ACCELERATED static inline uint32_t take_byte(uint32_t state, uint8_t byte) {
  return _mm_crc32_u8(state, byte);
}
ACCELERATED static inline uint32_t take_word(uint32_t state, uint64_t word) {
  return (uint32_t)_mm_crc32_u64(state, word);
}
bool fb_crc32c_is_accelerated(void) {
  unsigned eax, ebx, ecx = 0, edx;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx & bit_SSE4_2;
}
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#define ACCELERATED __attribute__((target("crc")))
ACCELERATED static inline uint32_t take_byte(uint32_t state, uint8_t byte) {
  return __crc32cb(state, byte);
}
ACCELERATED static inline uint32_t take_word(uint32_t state, uint64_t word) {
  return __crc32cd(state, word);
}
bool fb_crc32c_is_accelerated(void) { return getauxval(AT_HWCAP) & HWCAP_CRC32; }
#else
bool fb_crc32c_is_accelerated(void) { return false; }
#endif

#ifdef ACCELERATED
/// The state after a lane of zero bytes.
static inline uint32_t skip_lane(int lane, uint32_t state) {
  return lane_table[lane][0][state & 0xff] ^ lane_table[lane][1][state >> 8 & 0xff] ^
         lane_table[lane][2][state >> 16 & 0xff] ^ lane_table[lane][3][state >> 24];
}

/// Processes three lanes.
ACCELERATED static inline uint32_t take_lanes(int lane, uint32_t state, const uint8_t *bytes) {
  size_t size = lane_bytes[lane];
  uint32_t second = 0, third = 0;
  for (size_t at = 0; at < size; at += 8) {
    state = take_word(state, load(bytes + at));
    second = take_word(second, load(bytes + size + at));
    third = take_word(third, load(bytes + 2 * size + at));
  }
  // A checksum is linear: the checksum of two parts is that of the first, extended by as many
  // zeros as the second has bytes, xor that of the second.
  return skip_lane(lane, skip_lane(lane, state) ^ second) ^ third;
}

ACCELERATED static uint32_t extend_accelerated(uint32_t state, const uint8_t *bytes, size_t count) {
  for (int lane = 0; lane < LANES; lane++) {
    size_t taken = 3 * lane_bytes[lane];
    for (; count >= taken; bytes += taken, count -= taken) state = take_lanes(lane, state, bytes);
  }
  for (; count >= 8; bytes += 8, count -= 8) state = take_word(state, load(bytes));
  for (; count > 0; bytes++, count--) state = take_byte(state, *bytes);
  return state;
}
#endif

static uint32_t (*extend)(uint32_t state, const uint8_t *bytes, size_t count);

static void prepare(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t state = byte;
    for (int bit = 0; bit < 8; bit++) state = state >> 1 ^ (state & 1 ? polynomial : 0);
    byte_table[0][byte] = state;
  }
  for (int k = 1; k < 8; k++) {
    for (int byte = 0; byte < 256; byte++) {
      uint32_t state = byte_table[k - 1][byte];
      byte_table[k][byte] = state >> 8 ^ byte_table[0][state & 0xff];
    }
  }
  extend = extend_by_table;
#ifdef ACCELERATED
  if (!fb_crc32c_is_accelerated()) return;
  extend = extend_accelerated;
  static const uint8_t zeros[4096];
  for (int lane = 0; lane < LANES; lane++) {
    for (int k = 0; k < 4; k++) {
      uint32_t *table = lane_table[lane][k];
      // Each entry is the xor of the entries of its bits, which precede it.
      for (uint32_t byte = 1; byte < 256; byte++) {
        uint32_t rest = byte & (byte - 1);
        table[byte] = rest ? table[rest] ^ table[byte ^ rest]
                           : extend_by_table(byte << 8 * k, zeros, lane_bytes[lane]);
      }
    }
  }
#endif
}

static void prepare_once(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
}

uint32_t fb_crc32c(uint32_t before, const void *bytes, size_t byteCount) {
  prepare_once();
  return ~extend(~before, bytes, byteCount);
}

uint32_t fb_crc32c_by_table(uint32_t before, const void *bytes, size_t byteCount) {
  prepare_once();
  return ~extend_by_table(~before, bytes, byteCount);
}
