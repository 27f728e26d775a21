// A thread that captures sound, run under strace: it puts pieces into the ring, first while another
// thread takes them, then while none does. Between "begin" and "end", which it writes to standard
// output, it only puts pieces into the ring.
#include <CSoundRing.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECES = 3000, PIECE_BYTES = 1920 };

static struct fb_sound_ring *ring;
static atomic_bool isOver;

static void print(const char *word) {
  if (write(STDOUT_FILENO, word, strlen(word)) < 0) _exit(1);
}

static void *hear(void *unused) {
  (void)unused;
  unsigned char bytes[PIECE_BYTES];
  memset(bytes, 7, sizeof bytes);
  struct fb_sound_piece piece = {.byteCount = PIECE_BYTES, .format = 1};
  print("begin\n");
  for (int i = 0; i < PIECES; i++) {
    piece.ptsNs = i;
    if (!fb_sound_ring_put(ring, piece, bytes)) fb_sound_ring_count_lost(ring);
    if (i == PIECES / 2) atomic_store(&isOver, true);
  }
  print("end\n");
  return NULL;
}

int main(void) {
  ring = fb_sound_ring_new(1 << 20);
  if (ring == NULL) return 1;
  pthread_t thread;
  if (pthread_create(&thread, NULL, hear, NULL) != 0) return 1;
  unsigned char bytes[PIECE_BYTES];
  struct fb_sound_piece piece;
  int64_t previous = -1;
  uint64_t taken = 0;
  while (!atomic_load(&isOver)) {
    while (fb_sound_ring_peek(ring, &piece)) {
      fb_sound_ring_take(ring, bytes);
      if (piece.ptsNs <= previous || bytes[0] != 7 || bytes[PIECE_BYTES - 1] != 7) return 2;
      previous = piece.ptsNs;
      taken++;
    }
  }
  pthread_join(thread, NULL);
  while (fb_sound_ring_peek(ring, &piece)) {
    fb_sound_ring_take(ring, bytes);
    if (piece.ptsNs <= previous || bytes[0] != 7 || bytes[PIECE_BYTES - 1] != 7) return 2;
    previous = piece.ptsNs;
    taken++;
  }
  printf("taken %lu lost %lu\n", (unsigned long)taken, (unsigned long)fb_sound_ring_lost(ring));
  uint64_t all = taken + fb_sound_ring_lost(ring);
  fb_sound_ring_free(ring);
  return all == PIECES ? 0 : 3;
}
