// Pictures that carry their number and the moment at which they were drawn, as black and white
// blocks in their upper left corner, and what a reader counts of them. Used by the programs of
// `framebus bench pacing` and of its Wayland rows.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  NUMBER_BLOCK = 8,
  NUMBER_BITS = 32 + 64 + 16,
  /// The part of a picture that carries the number, in pixels of 4 bytes.
  NUMBER_WIDTH = NUMBER_BITS * NUMBER_BLOCK,
  NUMBER_HEIGHT = NUMBER_BLOCK,
};

/// What a reader has counted.
typedef struct number_counts number_counts;

/// - Returns: counts of nothing, which live as long as the process.
number_counts *number_begin(void);

uint64_t number_now_ns(void);

/// - Parameter stride: bytes from one row to the next.
void number_draw(void *pixels, size_t stride, uint32_t number, uint64_t drawnAtNs);

/// Counts a picture that arrived now. Once a second it prints `N frames`, and then an object with
/// the ages (10 µs), and with what was shown, skipped, at most skipped in a row, torn and dropped.
/// - Parameter dropped: how many pictures the reader itself has lost.
void number_note(
  number_counts *counts, const void *pixels, size_t stride, uint64_t dropped);
