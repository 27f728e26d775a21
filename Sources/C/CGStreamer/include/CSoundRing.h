// Passes sound from the thread that captures it to the thread that publishes it: a lock-free ring
// with one filling and one emptying thread.
//
// The filling thread never waits: it copies, stores one word, and raises an event that cannot
// block. If the ring is full, the piece is dropped and counted.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A run of raw samples.
struct fb_sound_piece {
  /// CLOCK_MONOTONIC for live sound, otherwise the file's own time.
  int64_t ptsNs;
  uint32_t byteCount;
  /// The number of its format, in the order of announcement, from 1.
  uint32_t format;
};

struct fb_sound_ring;

/// NULL if memory or descriptors are exhausted. `capacity` is a power of two, in bytes.
struct fb_sound_ring *fb_sound_ring_new(size_t capacity);
void fb_sound_ring_free(struct fb_sound_ring *ring);

/// Readable when the ring may hold a piece.
int fb_sound_ring_descriptor(struct fb_sound_ring *ring);
/// Resets the descriptor; call before peeking.
void fb_sound_ring_lower(struct fb_sound_ring *ring);

/// For the filling thread. False if the ring is full.
bool fb_sound_ring_put(struct fb_sound_ring *ring, struct fb_sound_piece piece, const void *bytes);
/// Wakes the emptying thread for another reason.
void fb_sound_ring_raise(struct fb_sound_ring *ring);
/// Counts a dropped piece.
void fb_sound_ring_count_lost(struct fb_sound_ring *ring);

/// For the emptying thread: the oldest piece, whose bytes follow. False if the ring is empty.
bool fb_sound_ring_peek(struct fb_sound_ring *ring, struct fb_sound_piece *piece);
/// Copies the bytes of the piece last peeked, and removes the piece.
void fb_sound_ring_take(struct fb_sound_ring *ring, void *bytes);
/// The number of pieces dropped so far.
uint64_t fb_sound_ring_lost(struct fb_sound_ring *ring);
