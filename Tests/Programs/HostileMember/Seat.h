// A seat at a stream, taken by the protocol and then used against it.
#pragma once
#include <CFrameLayout.h>

#include <stddef.h>
#include <stdint.h>

enum { PAGE_BYTES = 4096, MAXIMUM_FILES = 8 };

// Its files, in the order in which they come.
enum { PAGE_FILE, BOARD_FILE, POOL_FILE, BELL_FILE };

struct seat {
  int socket;
  int file_count;
  int files[MAXIMUM_FILES];
  struct fb_welcome welcome;
  const volatile struct fb_board *board;
  volatile struct fb_page *page;
  const volatile uint8_t *pool;
  size_t board_bytes;
  size_t pool_bytes;
};

// Connects; −1 and errno if nobody listens there.
int connect_to(const char *path);

// Says hello and maps what it was given. Ends the process if it is refused.
void take_seat(struct seat *seat, const char *path, unsigned holds);

// As take_seat, false where that ends the process.
_Bool try_seat(struct seat *seat, const char *path, unsigned holds);

void leave_seat(struct seat *seat);

// Sends bytes with descriptors, without waiting. As sendmsg(2).
long send_with(int socket, const void *bytes, size_t count, const int *files, int file_count);

struct fb_message_header header_of(uint32_t kind);

// SplitMix64.
uint64_t random_word(void);
void seed_random(uint64_t seed);
static inline uint64_t random_below(uint64_t limit) { return random_word() % limit; }

_Noreturn void fail(const char *what);
void say(const char *line);
