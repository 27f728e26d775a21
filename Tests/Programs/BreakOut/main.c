// A program that tries what a role may not do, and reports the result of each attempt: `did`, or
// the kernel's reason. It does not know how it is confined.
//
//   BreakOut ATTEMPT[=ARGUMENT]...
#define _GNU_SOURCE
#include "Attempts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  SYS_URING_SETUP = 425,
  SYS_PIDFD_OPEN = 434,
  SYS_CLONE3 = 435,
  SYS_PIDFD_GETFD = 438,
  SYS_LANDLOCK_CREATE_RULESET = 444,
  SYS_OPEN_TREE_ATTR = 467
};

static int open_file(const char *path, int flags) {
  int file = open(path, flags | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  char byte;
  int error = flags == O_RDONLY ? result_of(read(file, &byte, 1)) : 0;
  close(file);
  return error;
}

static int connect_to(const char *path, bool isAbstract) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(path);
  if (length + 2 > sizeof address.sun_path) return ENAMETOOLONG;
  memcpy(address.sun_path + isAbstract, path, length);
  int number = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number < 0) return errno;
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
  int error = result_of(connect(number, (struct sockaddr *)&address, size));
  close(number);
  return error;
}

static int connect_to_port(const char *port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number < 0) return errno;
  int error = result_of(connect(number, (struct sockaddr *)&address, sizeof address));
  close(number);
  return error;
}

/// The number may have bits above those that the kernel reads.
static int open_socket(const char *family) {
  long number = syscall(SYS_socket, strtoull(family, NULL, 0), (long)SOCK_DGRAM, 0L);
  if (number >= 0) close((int)number);
  return result_of(number);
}

static int open_pair(const char *family) {
  int ends[2];
  if (socketpair(atoi(family), SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  close(ends[0]);
  close(ends[1]);
  return 0;
}

static int set_up_ring(void) {
  unsigned char parameters[120] = {0};
  long number = syscall(SYS_URING_SETUP, 2, parameters);
  if (number >= 0) close((int)number);
  return result_of(number);
}

static int read_memory(pid_t process) {
  // Any address will do: without the permission, the kernel does not read it.
  char byte;
  struct iovec here = {&byte, 1}, there = {(void *)8, 1};
  long count = syscall(SYS_process_vm_readv, process, &here, 1, &there, 1, 0);
  return count < 0 && errno == EFAULT ? 0 : result_of(count);
}

static int take_descriptor(pid_t process) {
  long pidfd = syscall(SYS_PIDFD_OPEN, process, 0);
  if (pidfd < 0) return errno;
  return result_of(syscall(SYS_PIDFD_GETFD, pidfd, 0, 0));
}

static int trace(pid_t process) {
  if (ptrace(PTRACE_SEIZE, process, NULL, NULL) != 0) return errno;
  return 0;
}

/// Reads another process's limits: the permission to read them includes setting them.
static int limit(pid_t process) {
  struct rlimit files;
  return result_of(prlimit(process, RLIMIT_NOFILE, NULL, &files));
}

static int make_namespace(void) {
  pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) _exit(result_of(unshare(CLONE_NEWUSER)));
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

static int clone_namespace(void) {
  struct {
    uint64_t flags, pidfd, childTid, parentTid, exitSignal, stack, stackSize, tls;
  } arguments = {.flags = CLONE_NEWUSER, .exitSignal = SIGCHLD};
  long child = syscall(SYS_CLONE3, &arguments, sizeof arguments);
  if (child == 0) _exit(0);
  if (child > 0) waitpid((pid_t)child, NULL, 0);
  return result_of(child);
}

static int share_memory(void) {
  int number = shmget(IPC_PRIVATE, 4096, 0600);
  if (number >= 0) shmctl(number, IPC_RMID, NULL);
  return result_of(number);
}

/// Uses a missing semaphore: only a permitted caller learns that it is missing.
static int wait_for_semaphore(void) {
  struct sembuf operation = {0};
  struct timespec atOnce = {0};
  int result = semtimedop(-1, &operation, 1, &atOnce);
  return result < 0 && errno == EINVAL ? 0 : result_of(result);
}

static int open_queue(void) {
  static const char name[] = "framebus-break-out";
  long number = syscall(SYS_mq_open, name, O_CREAT | O_RDWR | O_CLOEXEC, 0600, NULL);
  if (number < 0) return errno;
  close((int)number);
  // Another process that tries it may have done so first.
  syscall(SYS_mq_unlink, name);
  return 0;
}

/// Confines nothing: tests whether the kernel has scopes for signals and sockets (Linux 6.12).
static int make_scope(void) {
  uint64_t attributes[] = {0, 0, 3};
  long number = syscall(SYS_LANDLOCK_CREATE_RULESET, attributes, sizeof attributes, 0);
  if (number >= 0) close((int)number);
  return result_of(number);
}

/// Takes an amount of memory in MiB, slowly enough for a watch to notice.
static int take_memory(const char *count) {
  for (int i = atoi(count); i > 0; i--) {
    char *taken = malloc(1 << 20);
    if (taken == NULL) return ENOMEM;
    // Not memset, which the optimiser removes if the memory is never read.
    explicit_bzero(taken, 1 << 20);
    usleep(1000);
  }
  pause();
  return 0;
}

/// The same, but a child takes the memory.
static int have_child_take_memory(const char *count) {
  pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) _exit(take_memory(count));
  waitpid(child, NULL, 0);
  return 0;
}

static int call_x32(void) {
#if defined(__x86_64__)
  return result_of(syscall(0x40000000 + SYS_getpid));
#else
  raise(SIGSYS);
  return 0;
#endif
}

static int call_by_interrupt(void) {
#if defined(__x86_64__)
  long result = 20;  // getpid of 32-bit programs
  __asm__ volatile("int $0x80" : "+a"(result)::"memory");
  if (result < 0) errno = (int)-result;
  return result < 0 ? errno : 0;
#else
  raise(SIGSYS);
  return 0;
#endif
}

/// Reports what a process has that it might have lost.
static int show_own(void) {
  for (int number = 3; number < 256; number++)
    if (fcntl(number, F_GETFD) >= 0) printf("descriptor %d\n", number);
  for (char **entry = environ; *entry != NULL; entry++) printf("variable %s\n", *entry);
  struct rlimit cores;
  if (getrlimit(RLIMIT_CORE, &cores) == 0 && cores.rlim_max > 0) printf("core dumps\n");
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0) printf("new privileges\n");
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct rights[2];
  if (syscall(SYS_capget, &header, rights) == 0 && (rights[0].permitted | rights[1].permitted))
    printf("capabilities\n");
  return 0;
}

static int attempt(const char *what, const char *argument) {
  if (strcmp(what, "read") == 0) return open_file(argument, O_RDONLY);
  if (strcmp(what, "list") == 0) return open_file(argument, O_RDONLY | O_DIRECTORY);
  if (strcmp(what, "write") == 0) return open_file(argument, O_WRONLY | O_CREAT);
  if (strcmp(what, "connect") == 0) return connect_to(argument, false);
  if (strcmp(what, "abstract") == 0) return connect_to(argument, true);
  if (strcmp(what, "port") == 0) return connect_to_port(argument);
  if (strcmp(what, "socket") == 0) return open_socket(argument);
  if (strcmp(what, "pair") == 0) return open_pair(argument);
  if (strcmp(what, "ring") == 0) return set_up_ring();
  if (strcmp(what, "peek") == 0) return read_memory(atoi(argument));
  if (strcmp(what, "take") == 0) return take_descriptor(atoi(argument));
  if (strcmp(what, "trace") == 0) return trace(atoi(argument));
  if (strcmp(what, "signal") == 0) return result_of(kill(atoi(argument), 0));
  if (strcmp(what, "limit") == 0) return limit(atoi(argument));
  if (strcmp(what, "namespace") == 0) return make_namespace();
  if (strcmp(what, "clone") == 0) return clone_namespace();
  if (strcmp(what, "keys") == 0)
    return result_of(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, -4, 0, 0, 0));
  // Newer than libseccomp 2.5.4.
  if (strcmp(what, "tree") == 0)
    return result_of(syscall(SYS_OPEN_TREE_ATTR, -1, "", 0, NULL, (size_t)0));
  if (strcmp(what, "shared") == 0) return share_memory();
  if (strcmp(what, "semaphore") == 0) return wait_for_semaphore();
  if (strcmp(what, "queue") == 0) return open_queue();
  if (strcmp(what, "scope") == 0) return make_scope();
  if (strcmp(what, "allocate") == 0) return take_memory(argument);
  if (strcmp(what, "child-allocate") == 0) return have_child_take_memory(argument);
  if (strcmp(what, "x32") == 0) return call_x32();
  if (strcmp(what, "interrupt") == 0) return call_by_interrupt();
  if (strcmp(what, "own") == 0) return show_own();
  if (strncmp(what, "set-id.", 7) == 0) return set_identity(what + 7, argument);
  if (strncmp(what, "change.", 7) == 0) return change_metadata(what + 7, argument);
  if (strncmp(what, "slow.", 5) == 0) return slow_process(what + 5, atoi(argument));
  static const char *const scarce[] = {
    "fill-descriptors", "pass", "fill-signals", "enqueue", "hold",
  };
  for (unsigned i = 0; i < sizeof scarce / sizeof scarce[0]; i++)
    if (strcmp(what, scarce[i]) == 0) return take_from_user(what);
  return attempt_on_files(what, argument);
}

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 1; i < count; i++) {
    char *argument = strchr(arguments[i], '=');
    if (argument != NULL) *argument = '\0';
    int error = attempt(arguments[i], argument == NULL ? "" : argument + 1);
    if (argument != NULL) *argument = '=';
    printf("%s: %s\n", arguments[i], error == 0 ? "did" : strerrorname_np(error));
  }
  return 0;
}
