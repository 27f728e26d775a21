// The hand-over of sound from the thread that hears it to the one that publishes it: a ring that
// one thread fills and one empties, without a lock.
//
// The filling thread never waits: it copies, stores one word, and raises an event that cannot
// block. Where there is no room, what came is left out and counted.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A run of raw samples.
struct fb_sound_piece {
  /// CLOCK_MONOTONIC for live sound, else the file's own time.
  int64_t ptsNs;
  uint32_t byteCount;
  /// Which of the formats that were announced it has, from 1.
  uint32_t format;
};

struct fb_sound_ring;

/// NULL without memory or descriptors. `capacity` is a power of two, in bytes.
struct fb_sound_ring *fb_sound_ring_new(size_t capacity);
void fb_sound_ring_free(struct fb_sound_ring *ring);

/// Readable when there may be something to take.
int fb_sound_ring_descriptor(struct fb_sound_ring *ring);
/// Lowers the descriptor; call before looking.
void fb_sound_ring_lower(struct fb_sound_ring *ring);

/// For the filling thread. False: there was no room.
bool fb_sound_ring_put(struct fb_sound_ring *ring, struct fb_sound_piece piece, const void *bytes);
/// Has the emptying thread look, for another reason.
void fb_sound_ring_raise(struct fb_sound_ring *ring);
/// Counts what was left out.
void fb_sound_ring_count_lost(struct fb_sound_ring *ring);

/// For the emptying thread: the oldest piece, whose bytes follow. False: there is none.
bool fb_sound_ring_peek(struct fb_sound_ring *ring, struct fb_sound_piece *piece);
/// Copies the bytes of the piece last peeked, and takes it.
void fb_sound_ring_take(struct fb_sound_ring *ring, void *bytes);
/// Pieces left out so far.
uint64_t fb_sound_ring_lost(struct fb_sound_ring *ring);
