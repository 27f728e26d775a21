// Every way around the seals of a stream's memory that we know of, a line each on standard output:
// what was tried, on what, and what the kernel said. SealTests has the list that is expected.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "Seat.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

static const char *target;

// Says what an attempt came to. A result below 0 is a refusal.
static void report(const char *attempt, long result) {
  int code = errno;
  printf("%s %s %s\n", target, attempt, result < 0 ? strerrorname_np(code) : "done");
  fflush(stdout);
}

static long map_result(void *address) { return address == MAP_FAILED ? -1 : 0; }

// Attempts on the descriptor itself.
static void attack_file(int file, size_t bytes) {
  char byte = 'x';
  report("mmap-shared-writable",
         map_result(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)));
  report("write", pwrite(file, &byte, 1, 0));
  struct iovec vector = {&byte, 1};
  report("pwritev2", pwritev2(file, &vector, 1, 0, 0));
  report("shrink", ftruncate(file, 0));
  report("grow", ftruncate(file, (off_t)bytes * 2));
  report("fallocate-grow", fallocate(file, 0, (off_t)bytes, 4096));
  report("fallocate-punch",
         fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes));
  report("fallocate-zero", fallocate(file, FALLOC_FL_ZERO_RANGE, 0, (off_t)bytes));
  report("fallocate-collapse", fallocate(file, FALLOC_FL_COLLAPSE_RANGE, 0, 4096));
  report("add-seals", fcntl(file, F_ADD_SEALS, F_SEAL_WRITE));
  report("chmod", fchmod(file, 0));
}

// A description of its own, through /proc, with rights of its own.
static void attack_reopened(int file, size_t bytes) {
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  int again = open(name, O_RDWR | O_CLOEXEC);
  report("reopen", again);
  if (again < 0) return;
  char byte = 'x';
  report("reopened-write", pwrite(again, &byte, 1, 0));
  report("reopened-mmap",
         map_result(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0)));
  close(again);
  report("reopen-truncating", open(name, O_RDWR | O_TRUNC | O_CLOEXEC));
}

// Attempts on a mapping that may only be read.
static void attack_mapping(int file, volatile uint8_t *mapping, size_t bytes) {
  void *address = (void *)mapping;
  report("mprotect", mprotect(address, bytes, PROT_READ | PROT_WRITE));
  report("madvise-remove", madvise(address, bytes, MADV_REMOVE));
  report("madvise-populate-write", madvise(address, 4096, 23));
  // The kernel itself, asked to write there.
  int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  report("read-into", read(zeros, address, 8));
  close(zeros);
  report("futex-wake-op", syscall(SYS_futex, address, FUTEX_WAKE_OP, 1, 1UL, address,
                                  FUTEX_OP(FUTEX_OP_SET, 7, FUTEX_OP_CMP_EQ, 0)));
  report("futex-lock-pi", syscall(SYS_futex, address, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0));
  uint64_t seven = 7;
  struct iovec from = {&seven, 8}, to = {address, 8};
  report("process_vm_writev-self", process_vm_writev(getpid(), &from, 1, &to, 1, 0));
  int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  report("proc-self-mem", pwrite(memory, &seven, 8, (off_t)(uintptr_t)address));
  close(memory);
  uint8_t *moved = mremap(address, 0, bytes, MREMAP_MAYMOVE);
  report("mremap-copy", map_result(moved));
  if (moved != MAP_FAILED) {
    report("mremap-mprotect", mprotect(moved, bytes, PROT_READ | PROT_WRITE));
  }

  // A copy of one's own may be written: it must not be seen through the shared mapping.
  uint8_t before = mapping[0];
  uint8_t *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  report("mmap-private", map_result(copy));
  if (copy == MAP_FAILED) return;
  copy[0] = (uint8_t)~before;
  errno = EACCES;
  report("mmap-private-seen-by-others", mapping[0] == before ? -1 : 0);
  report("madvise-remove-private", madvise(copy, bytes, MADV_REMOVE));
}

static void attack_with_userfaultfd(volatile uint8_t *mapping, size_t bytes) {
  int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
  report("userfaultfd", faults);
  if (faults < 0) return;
  struct uffdio_api api = {.api = UFFD_API};
  ioctl(faults, UFFDIO_API, &api);
  struct uffdio_register wanted = {.range = {(uintptr_t)mapping, bytes},
                                   .mode = UFFDIO_REGISTER_MODE_MISSING};
  report("userfaultfd-register", ioctl(faults, UFFDIO_REGISTER, &wanted));
  char page[4096] = "x";
  struct uffdio_copy copy = {.dst = (uintptr_t)mapping, .src = (uintptr_t)page, .len = 4096};
  report("userfaultfd-copy", ioctl(faults, UFFDIO_COPY, &copy));
  close(faults);
}

// Pipes move pages without copying them; none of that may reach the file's own pages.
static void attack_with_pipes(int file, volatile uint8_t *mapping) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) fail("pipe2");
  loff_t offset = 0;
  if (write(ends[1], "x", 1) != 1) fail("write");
  report("splice-into", splice(ends[0], NULL, file, &offset, 1, SPLICE_F_MOVE));
  char byte;
  (void)!read(ends[0], &byte, 1);
  uint8_t before = mapping[0];
  struct iovec vector = {(void *)mapping, 8};
  report("vmsplice", vmsplice(ends[1], &vector, 1, SPLICE_F_GIFT));
  // What is appended to a pipe must not be merged into the page that it refers to.
  (void)!write(ends[1], "y", 1);
  offset = 0;
  report("splice-from", splice(file, &offset, ends[1], NULL, 1, SPLICE_F_MOVE));
  (void)!write(ends[1], "z", 1);
  errno = EACCES;
  report("pipes-seen-by-others", mapping[0] == before ? -1 : 0);
  close(ends[0]);
  close(ends[1]);
}

// A third party that was sent the descriptor may do no more with it than we.
static void pass_on(int file, size_t bytes) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) fail("socketpair");
  send_with(pair[0], "x", 1, &file, 1);
  pid_t child = fork();
  if (child == 0) {
    char control[CMSG_SPACE(sizeof(int))], byte;
    struct iovec vector = {&byte, 1};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    if (recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC) < 0) fail("recvmsg");
    int received;
    memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
    report("third-party-mmap",
           map_result(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, received, 0)));
    report("third-party-write", pwrite(received, &byte, 1, 0));
    _exit(0);
  }
  waitpid(child, NULL, 0);
  close(pair[0]);
  close(pair[1]);
}

// The publisher's own process, whose mapping can be written.
static void attack_process(pid_t publisher) {
  target = "publisher";
  char name[64];
  long number = publisher;
  report("ptrace", ptrace(PTRACE_SEIZE, publisher, NULL, NULL));
  snprintf(name, sizeof name, "/proc/%ld/mem", number);
  report("proc-mem", open(name, O_RDWR | O_CLOEXEC));
  snprintf(name, sizeof name, "/proc/%ld/fd/3", number);
  report("proc-fd", open(name, O_RDWR | O_CLOEXEC));
  snprintf(name, sizeof name, "/proc/%ld/maps", number);
  report("proc-maps", open(name, O_RDONLY | O_CLOEXEC));
  uint64_t seven = 7;
  struct iovec from = {&seven, 8}, to = {(void *)name, 8};
  report("process_vm_writev", process_vm_writev(publisher, &from, 1, &to, 1, 0));
  int handle = (int)syscall(SYS_pidfd_open, publisher, 0);
  report("pidfd_getfd", syscall(SYS_pidfd_getfd, handle, 3, 0));
  report("process_madvise", syscall(SYS_process_madvise, handle, &to, 1, MADV_COLD, 0));
  report("kill", kill(publisher, SIGSTOP));
}

static void attack_memory(const char *name, int file, const volatile void *mapping, size_t bytes) {
  volatile uint8_t *start = (volatile uint8_t *)(uintptr_t)mapping;
  target = name;
  attack_file(file, bytes);
  attack_reopened(file, bytes);
  attack_mapping(file, start, bytes);
  attack_with_userfaultfd(start, bytes);
  attack_with_pipes(file, start);
  pass_on(file, bytes);
}

void attack_seals(const char *path) {
  struct seat seat;
  take_seat(&seat, path, 1);
  attack_memory("board", seat.files[BOARD_FILE], seat.board, seat.board_bytes);
  attack_memory("pool", seat.files[POOL_FILE], seat.pool, seat.pool_bytes);
  // Its own page it may write; but not take away what the publisher reads, nor make it fault.
  target = "page";
  int page = seat.files[PAGE_FILE];
  report("shrink", ftruncate(page, 0));
  report("grow", ftruncate(page, 8192));
  report("add-seals", fcntl(page, F_ADD_SEALS, F_SEAL_WRITE));
  report("fallocate-punch",
         fallocate(page, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE_BYTES));
  report("write", pwrite(page, "x", 1, PAGE_BYTES - 1));
  report("madvise-remove-own", madvise((void *)seat.page, PAGE_BYTES, MADV_REMOVE));
  attack_process((pid_t)seat.board->publisher_pid);
  say("all tried");
}
