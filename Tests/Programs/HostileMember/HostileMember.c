// A member of the group that keeps no rule: it writes random bytes into all it can write, sends
// what nobody asked for, and takes more than its share.
//
//   HostileMember ROLE SOCKET [SEED]     one of the roles below; goes on until it is killed
//
// It says "ready" once it is at work. Only `seat`, which holds a frame and waits, and `seals`, the
// list of Seals.c, harm nobody by design.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "Seat.h"

void attack_seals(const char *path);

static const char *path;

static _Noreturn void wait_for_ever(void) {
  for (;;) pause();
}

static void nap(long microseconds) {
  struct timespec time = {0, microseconds * 1000};
  nanosleep(&time, NULL);
}

static long futex(const volatile void *word, int operation, uint32_t value, uintptr_t timeout,
                  const volatile void *other) {
  return syscall(SYS_futex, word, operation, value, timeout, other, 0);
}

// Attaches, holds the newest frame and waits: the small child of the attach and kill cycles.
static void seat(void) {
  struct seat seat;
  take_seat(&seat, path, 1);
  seat.page->holds[0] = seat.board->cursor;
  say("ready");
  wait_for_ever();
}

// Random bytes in all it can write: its pages. Holds name frames that exist, now and then.
static void scribble(void) {
  struct seat seats[4];
  for (int index = 0; index < 4; index++) take_seat(&seats[index], path, 16);
  say("ready");
  for (unsigned turn = 0;; turn++) {
    struct seat *seat = &seats[turn % 4];
    volatile uint64_t *words = (volatile uint64_t *)seat->page;
    for (int index = 0; index < PAGE_BYTES / 8; index++) words[index] = random_word();
    for (int index = 0; index < FB_MAXIMUM_HOLDS; index++) {
      seat->page->holds[index] = seat->board->cursor - random_below(8);
    }
    seat->page->position = seat->board->cursor + random_below(8) - 4;
    seat->page->waiting = (uint32_t)random_below(6);
  }
}

// A socket whose last close blocks: unsent data, and SO_LINGER.
static int lingering_socket(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0) return listener;
  listen(listener, 1);
  getsockname(listener, (struct sockaddr *)&address, &size);
  int talker = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct linger linger = {1, 10};
  setsockopt(talker, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
  if (connect(talker, (struct sockaddr *)&address, sizeof address) == 0) {
    static char bytes[1 << 16];
    while (send(talker, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
  }
  close(listener);
  return talker;
}

// Descriptors of many kinds, to be sent to who did not ask for them.
static int unwanted_file(void) {
  int pair[2];
  switch (random_below(7)) {
    case 0: return memfd_create("unwanted", MFD_CLOEXEC);
    case 1: return (int)syscall(SYS_pidfd_open, getpid(), 0);
    case 2: return eventfd(0, EFD_CLOEXEC);
    case 3: return epoll_create1(EPOLL_CLOEXEC);
    case 4: return lingering_socket();
    case 5:
      if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return -1;
      // One end in flight inside the other: a cycle that the kernel's collector must free.
      send_with(pair[0], "x", 1, &pair[1], 1);
      close(pair[1]);
      return pair[0];
    default: return connect_to(path);
  }
}

// Random and unwanted messages, with and without descriptors; answers are never read.
static void chatter(void) {
  static const size_t sizes[] = {0, 1, 16, 24, 32, 64, 128, 640, 4095, 4096, 5000};
  say("ready");
  for (;;) {
    struct seat seat;
    _Bool is_seated = random_below(4) == 0 && try_seat(&seat, path, 1);
    int socket = is_seated ? seat.socket : connect_to(path);
    if (socket < 0) {
      nap(1000);
      continue;
    }
    for (uint64_t count = random_below(20); count > 0; count--) {
      uint64_t bytes[640];
      for (size_t index = 0; index < 640; index++) bytes[index] = random_word();
      size_t size = sizes[random_below(sizeof sizes / sizeof *sizes)];
      if (random_below(4) > 0) {
        struct fb_message_header header = header_of((uint32_t)random_below(14));
        memcpy(bytes, &header, sizeof header);
        // Numbers that are nearly right.
        for (int index = 2; index < 16; index++) bytes[index] &= 0x100000003;
      }
      int files[250];
      int file = random_below(3) == 0 ? unwanted_file() : -1;
      int file_count = file < 0 ? 0 : random_below(4) == 0 ? 250 : 1;
      for (int index = 0; index < file_count; index++) files[index] = file;
      send_with(socket, bytes, size, files, file_count);
      if (file >= 0) close(file);
    }
    if (random_below(3) == 0) shutdown(socket, (int)random_below(3));
    if (is_seated) {
      leave_seat(&seat);
    } else {
      close(socket);
    }
  }
}

// Says that it waits for its bell, and never reads what is rung.
static void mute(void) {
  struct seat seats[8];
  for (int index = 0; index < 8; index++) take_seat(&seats[index], path, 1);
  say("ready");
  for (unsigned turn = 0;; turn++) {
    struct seat *seat = &seats[turn % 8];
    seat->page->waiting = turn % 3 == 0 ? FB_WAITING_BELL : FB_WAITING_SEMAPHORE;
    char byte;
    // Put out of doors for it, it comes again.
    if (recv(seat->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) {
      leave_seat(seat);
      while (!try_seat(seat, path, 1)) nap(1000);
    }
    nap(100);
  }
}

static struct seat parked;

static void *park_here(void *unused) {
  for (;;) futex(&parked.board->wake, FUTEX_WAIT, parked.board->wake, 0, NULL);
  return unused;
}

// Thousands of threads asleep on the word that wakes subscribers, of the lowest priority: what they
// cost the publisher stays the same, and tests beside this one get on.
static void park(void) {
  take_seat(&parked, path, 1);
  sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
  parked.page->waiting = FB_WAITING_FUTEX;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 15);
  for (int count = 0; count < 3000; count++) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, park_here, NULL) != 0) break;
  }
  say("ready");
  for (;;) {
    parked.page->waiting = FB_WAITING_FUTEX;
    nap(100);
  }
}

// Moves the sleepers of the board's word, and of its own page's words, to another word.
static void steal(void) {
  struct seat seat;
  take_seat(&seat, path, 1);
  say("ready");
  volatile uint8_t *own = (volatile uint8_t *)seat.page + 2048;
  for (;;) {
    futex(&seat.board->wake, FUTEX_REQUEUE, 0, 1000, own);
    futex(&seat.page->progress, FUTEX_REQUEUE, 0, 1000, own);
    sched_yield();
  }
}

// Children that keep its socket and write its page after it is gone.
static void breed(void) {
  say("ready");
  for (;;) {
    pid_t parent = fork();
    if (parent == 0) {
      struct seat seat;
      if (!try_seat(&seat, path, 4)) _exit(0);
      for (int count = 0; count < 4; count++) {
        if (fork() != 0) continue;
        alarm(1);
        for (;;) {
          for (int index = 0; index < 4; index++) {
            seat.page->holds[index] = seat.board->cursor;
          }
          seat.page->waiting = FB_WAITING_BELL;
          nap(100);
        }
      }
      nap(20000);
      kill(getpid(), SIGKILL);
    }
    waitpid(parent, NULL, 0);
  }
}

// All the seats that are left, and every hold it is granted there, for good.
static void hoard(void) {
  enum { WANTED = 64 };
  static struct seat seats[WANTED];
  int count = 0;
  while (count < WANTED && try_seat(&seats[count], path, 16)) count++;
  say("ready");
  for (;;) {
    for (int index = 0; index < count; index++) {
      uint64_t cursor = seats[index].board->cursor;
      volatile uint64_t *holds = seats[index].page->holds;
      for (int hold = 0; hold < FB_MAXIMUM_HOLDS; hold++) {
        if (holds[hold] == 0 && cursor > (uint64_t)hold) holds[hold] = cursor - (uint64_t)hold;
      }
    }
    nap(1000);
  }
}

// Takes every inotify instance that its user may have, and leaves none to the user's programs.
static void watches(void) {
  while (inotify_init1(IN_CLOEXEC) >= 0) {
  }
  say(errno == EMFILE ? "ready" : "no limit");
  wait_for_ever();
}

// Tries to make holes in the memory that the publisher reads for each frame.
static void punch(void) {
  struct seat seats[4];
  for (int index = 0; index < 4; index++) take_seat(&seats[index], path, 1);
  say("ready");
  for (unsigned turn = 0;; turn++) {
    struct seat *seat = &seats[turn % 4];
    fallocate(seat->files[PAGE_FILE], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE_BYTES);
    madvise((void *)seat->page, PAGE_BYTES, MADV_REMOVE);
    madvise((void *)seat->page, PAGE_BYTES, MADV_PAGEOUT);
    for (int hold = 0; hold < FB_MAXIMUM_HOLDS; hold++) seat->page->holds[hold] = random_word();
  }
}

// Wakes the sleepers of the shared word without a cause.
static void alarm_all(void) {
  struct seat seat;
  take_seat(&seat, path, 1);
  say("ready");
  for (;;) {
    futex(&seat.board->wake, FUTEX_WAKE, 1000, 0, NULL);
    sched_yield();
  }
}

static void seals(void) { attack_seals(path); }

int main(int count, char **arguments) {
  static const struct {
    const char *name;
    void (*play)(void);
  } roles[] = {{"seat", seat},   {"scribble", scribble}, {"chatter", chatter},
               {"mute", mute},   {"park", park},         {"steal", steal},
               {"breed", breed}, {"hoard", hoard},       {"punch", punch},
               {"alarm", alarm_all}, {"seals", seals},   {"watches", watches}};
  if (count < 3) {
    fputs("usage: HostileMember ROLE SOCKET [SEED]\n", stderr);
    return 2;
  }
  path = arguments[2];
  seed_random(count > 3 ? strtoull(arguments[3], NULL, 10) : 1);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  signal(SIGPIPE, SIG_IGN);
  for (size_t index = 0; index < sizeof roles / sizeof *roles; index++) {
    if (strcmp(arguments[1], roles[index].name) == 0) {
      roles[index].play();
      return 0;
    }
  }
  fputs("no such role\n", stderr);
  return 2;
}
