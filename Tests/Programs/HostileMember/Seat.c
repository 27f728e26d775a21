#define _GNU_SOURCE
#include "Seat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

void say(const char *line) {
  puts(line);
  fflush(stdout);
}

void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static _Thread_local uint64_t state = 1;

void seed_random(uint64_t seed) { state = seed; }

uint64_t random_word(void) {
  uint64_t mixed = state += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31);
}

struct fb_message_header header_of(uint32_t kind) {
  return (struct fb_message_header){FB_MAGIC, FB_ABI_VERSION, kind};
}

int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  int number = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (number < 0) return -1;
  struct timeval timeout = {.tv_sec = 30};
  setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  if (connect(number, (struct sockaddr *)&address, sizeof address) == 0) return number;
  int code = errno;
  close(number);
  errno = code;
  return -1;
}

long send_with(int socket, const void *bytes, size_t count, const int *files, int file_count) {
  static _Thread_local char control[CMSG_SPACE(sizeof(int) * 256)];
  struct iovec vector = {(void *)bytes, count};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  if (file_count > 0) {
    memset(control, 0, sizeof control);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * file_count);
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * file_count);
    memcpy(CMSG_DATA(part), files, sizeof(int) * file_count);
  }
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Receives a message of a kind and its files, which are added to those there are.
static _Bool receive(struct seat *seat, void *record, size_t bytes, uint32_t kind) {
  char control[CMSG_SPACE(sizeof(int) * MAXIMUM_FILES)];
  struct iovec vector = {record, bytes};
  struct msghdr message = {.msg_iov = &vector,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof control};
  long count = recvmsg(seat->socket, &message, MSG_CMSG_CLOEXEC);
  struct cmsghdr *part = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (part != NULL && part->cmsg_type == SCM_RIGHTS) {
    int file_count = (int)((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    if (seat->file_count + file_count > MAXIMUM_FILES) fail("too many files");
    memcpy(seat->files + seat->file_count, CMSG_DATA(part), file_count * sizeof(int));
    seat->file_count += file_count;
  }
  return count == (long)bytes && ((struct fb_message_header *)record)->kind == kind;
}

static void *map_file(int file, int protection, size_t *bytes) {
  struct stat status;
  if (fstat(file, &status) != 0) fail("fstat");
  *bytes = (size_t)status.st_size;
  void *address = mmap(NULL, *bytes, protection, MAP_SHARED, file, 0);
  if (address == MAP_FAILED) fail("mmap");
  return address;
}

static _Bool say_short(struct seat *seat, uint32_t kind) {
  struct fb_short_message message = {.header = header_of(kind)};
  return send_with(seat->socket, &message, sizeof message, NULL, 0) >= 0;
}

// Ends what came to nothing.
static _Bool give_up(struct seat *seat) {
  for (int index = 0; index < seat->file_count; index++) close(seat->files[index]);
  close(seat->socket);
  return 0;
}

_Bool try_seat(struct seat *seat, const char *path, unsigned holds) {
  memset(seat, 0, sizeof *seat);
  seat->socket = connect_to(path);
  if (seat->socket < 0) return 0;
  struct fb_hello hello = {.header = header_of(FB_MESSAGE_HELLO), .holds = holds};
  struct fb_short_message page;
  if (send_with(seat->socket, &hello, sizeof hello, NULL, 0) < 0 ||
      !receive(seat, &page, sizeof page, FB_MESSAGE_PAGE) || seat->file_count != 1) {
    return give_up(seat);
  }
  size_t page_bytes;
  seat->page = map_file(seat->files[PAGE_FILE], PROT_READ | PROT_WRITE, &page_bytes);
  if (!say_short(seat, FB_MESSAGE_MAPPED) ||
      !receive(seat, &seat->welcome, sizeof seat->welcome, FB_MESSAGE_WELCOME) ||
      seat->file_count < 3) {
    munmap((void *)seat->page, PAGE_BYTES);
    return give_up(seat);
  }
  seat->board = map_file(seat->files[BOARD_FILE], PROT_READ, &seat->board_bytes);
  seat->pool = map_file(seat->files[POOL_FILE], PROT_READ, &seat->pool_bytes);
  return say_short(seat, FB_MESSAGE_SEATED);
}

void take_seat(struct seat *seat, const char *path, unsigned holds) {
  if (!try_seat(seat, path, holds)) fail("no seat");
}

void leave_seat(struct seat *seat) {
  munmap((void *)seat->board, seat->board_bytes);
  munmap((void *)seat->page, PAGE_BYTES);
  munmap((void *)seat->pool, seat->pool_bytes);
  for (int index = 0; index < seat->file_count; index++) close(seat->files[index]);
  close(seat->socket);
}
