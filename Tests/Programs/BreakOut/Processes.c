#define _GNU_SOURCE
#include "Attempts.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/// ioprio_set(2)
enum { IO_OF_PROCESS = 1, IO_IDLE = 3 << 13 };

/// sched_setattr(2), as far as it has always been.
static int set_attributes(pid_t process) {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {.size = 48, .policy = SCHED_BATCH, .nice = 19};
  return result_of(syscall(SYS_sched_setattr, process, &attributes, 0));
}

int slow_process(const char *call, pid_t process) {
  struct sched_param parameters = {0};
  cpu_set_t processors;
  unsigned long pages = 1;
  if (strcmp(call, "setpriority") == 0)
    return result_of(setpriority(PRIO_PROCESS, (id_t)process, 19));
  if (strcmp(call, "setpriority-group") == 0)
    return result_of(setpriority(PRIO_PGRP, (id_t)process, 19));
  if (strcmp(call, "setpriority-user") == 0)
    return result_of(setpriority(PRIO_USER, getuid(), 19));
  if (strcmp(call, "sched_setscheduler") == 0)
    return result_of(sched_setscheduler(process, SCHED_BATCH, &parameters));
  if (strcmp(call, "sched_setparam") == 0)
    return result_of(sched_setparam(process, &parameters));
  if (strcmp(call, "sched_setattr") == 0) return set_attributes(process);
  if (strcmp(call, "sched_setaffinity") == 0) {
    CPU_ZERO(&processors);
    CPU_SET(0, &processors);
    return result_of(sched_setaffinity(process, sizeof processors, &processors));
  }
  if (strcmp(call, "ioprio_set") == 0)
    return result_of(syscall(SYS_ioprio_set, IO_OF_PROCESS, process, IO_IDLE));
  if (strcmp(call, "migrate_pages") == 0)
    return result_of(syscall(SYS_migrate_pages, process, 8 * sizeof pages, &pages, &pages));
  if (strcmp(call, "move_pages") == 0)
    return result_of(syscall(SYS_move_pages, process, 0L, NULL, NULL, NULL, 0));
  return EINVAL;
}

/// Sends descriptors that no process receives: one, or the user's maximum.
static int send_descriptors(bool isFilling) {
  enum { EACH = 100, MESSAGES = 40 };
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0) return errno;
  union {
    char bytes[CMSG_SPACE(EACH * sizeof(int))];
    struct cmsghdr alignment;
  } control = {0};
  unsigned each = isFilling ? EACH : 1;
  struct iovec byte = {"", 1};
  struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1, .msg_control = control.bytes};
  message.msg_controllen = CMSG_SPACE(each * sizeof(int));
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(each * sizeof(int));
  for (unsigned i = 0; i < each; i++)
    memcpy(CMSG_DATA(header) + i * sizeof(int), &null, sizeof null);
  do {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    for (int i = 0; i < (isFilling ? MESSAGES : 1); i++)
      if (sendmsg(ends[0], &message, MSG_NOSIGNAL) < 0)
        return isFilling && errno == ETOOMANYREFS ? 0 : errno;
  } while (isFilling);
  return 0;
}

/// Queues signals that no process takes: one, or the user's maximum.
static int queue_signals(bool isFilling) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  do {
    if (sigqueue(getpid(), SIGRTMIN, (union sigval){0}) != 0)
      return isFilling && errno == EAGAIN ? 0 : errno;
  } while (isFilling);
  return 0;
}

int take_from_user(const char *what) {
  if (strcmp(what, "fill-descriptors") == 0) return send_descriptors(true);
  if (strcmp(what, "pass") == 0) return send_descriptors(false);
  if (strcmp(what, "fill-signals") == 0) return queue_signals(true);
  if (strcmp(what, "enqueue") == 0) return queue_signals(false);
  printf("holds\n");
  return pause();
}
