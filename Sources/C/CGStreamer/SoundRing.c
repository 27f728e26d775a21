#include "CSoundRing.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct fb_sound_ring {
  /// Total bytes put; written only by the filling thread.
  _Alignas(64) atomic_size_t filled;
  atomic_uint_least64_t lost;
  /// Total bytes taken; written only by the emptying thread.
  _Alignas(64) atomic_size_t emptied;
  size_t capacity;
  int event;
  unsigned char *bytes;
};

struct fb_sound_ring *fb_sound_ring_new(size_t capacity) {
  struct fb_sound_ring *ring = aligned_alloc(64, sizeof *ring);
  if (ring == NULL) return NULL;
  *ring = (struct fb_sound_ring){.capacity = capacity};
  ring->bytes = malloc(capacity);
  ring->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (ring->bytes == NULL || ring->event < 0) {
    fb_sound_ring_free(ring);
    return NULL;
  }
  // Touched now, so that the filling thread has no page fault later.
  memset(ring->bytes, 0, capacity);
  return ring;
}

void fb_sound_ring_free(struct fb_sound_ring *ring) {
  if (ring->event >= 0) close(ring->event);
  free(ring->bytes);
  free(ring);
}

int fb_sound_ring_descriptor(struct fb_sound_ring *ring) { return ring->event; }

void fb_sound_ring_raise(struct fb_sound_ring *ring) {
  uint64_t one = 1;
  // A failed write means that the counter is at its maximum: the descriptor is readable already.
  if (write(ring->event, &one, sizeof one) < 0) return;
}

void fb_sound_ring_lower(struct fb_sound_ring *ring) {
  uint64_t count;
  if (read(ring->event, &count, sizeof count) < 0) return;
}

static void copy_in(struct fb_sound_ring *ring, size_t at, const void *bytes, size_t count) {
  size_t start = at & (ring->capacity - 1);
  size_t first = count < ring->capacity - start ? count : ring->capacity - start;
  memcpy(ring->bytes + start, bytes, first);
  memcpy(ring->bytes, (const unsigned char *)bytes + first, count - first);
}

static void copy_out(struct fb_sound_ring *ring, size_t at, void *bytes, size_t count) {
  size_t start = at & (ring->capacity - 1);
  size_t first = count < ring->capacity - start ? count : ring->capacity - start;
  memcpy(bytes, ring->bytes + start, first);
  memcpy((unsigned char *)bytes + first, ring->bytes, count - first);
}

bool fb_sound_ring_put(struct fb_sound_ring *ring, struct fb_sound_piece piece,
                       const void *bytes) {
  // Relaxed: this thread alone writes it.
  size_t filled = atomic_load_explicit(&ring->filled, memory_order_relaxed);
  // SYNC sound/empty: pairs with the release in take. What is overwritten was copied out before.
  size_t emptied = atomic_load_explicit(&ring->emptied, memory_order_acquire);
  if (ring->capacity - (filled - emptied) < sizeof piece + piece.byteCount) return false;
  copy_in(ring, filled, &piece, sizeof piece);
  copy_in(ring, filled + sizeof piece, bytes, piece.byteCount);
  // SYNC sound/fill: pairs with the acquire in peek. A thread that sees the count sees the bytes.
  atomic_store_explicit(&ring->filled, filled + sizeof piece + piece.byteCount,
                        memory_order_release);
  fb_sound_ring_raise(ring);
  return true;
}

void fb_sound_ring_count_lost(struct fb_sound_ring *ring) {
  // Relaxed: a statistic.
  atomic_fetch_add_explicit(&ring->lost, 1, memory_order_relaxed);
}

bool fb_sound_ring_peek(struct fb_sound_ring *ring, struct fb_sound_piece *piece) {
  // Relaxed: this thread alone writes it.
  size_t emptied = atomic_load_explicit(&ring->emptied, memory_order_relaxed);
  // SYNC sound/fill: pairs with the release in put.
  if (atomic_load_explicit(&ring->filled, memory_order_acquire) == emptied) return false;
  copy_out(ring, emptied, piece, sizeof *piece);
  return true;
}

void fb_sound_ring_take(struct fb_sound_ring *ring, void *bytes) {
  struct fb_sound_piece piece;
  size_t emptied = atomic_load_explicit(&ring->emptied, memory_order_relaxed);
  copy_out(ring, emptied, &piece, sizeof piece);
  copy_out(ring, emptied + sizeof piece, bytes, piece.byteCount);
  // SYNC sound/empty: pairs with the acquire in put.
  atomic_store_explicit(&ring->emptied, emptied + sizeof piece + piece.byteCount,
                        memory_order_release);
}

uint64_t fb_sound_ring_lost(struct fb_sound_ring *ring) {
  return atomic_load_explicit(&ring->lost, memory_order_relaxed);
}
