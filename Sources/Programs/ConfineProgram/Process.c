#define _GNU_SOURCE
#include "Confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void drop_bounding_set(void) {
  // Only a process with CAP_SETPCAP can shrink the bounding set, and no other gains from it.
  for (unsigned long number = 0; prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; number++)
    prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
}

int become_user(const struct request *request) {
  gid_t group = request->groups[0];
  uid_t user = request->user;
  // The groups first, because the user may not change them. Real, effective and saved IDs, so that
  // none can be restored.
  if (setgroups(request->groupCount, request->groups) != 0) return errno;
  if (setresgid(group, group, group) != 0) return errno;
  return setresuid(user, user, user) == 0 ? 0 : errno;
}

int drop_capabilities(void) {
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0}};
  return syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

int forbid_core_dumps(void) {
  struct rlimit none = {0, 0};
  return setrlimit(RLIMIT_CORE, &none) == 0 ? 0 : errno;
}

int limit_resources(void) {
  // The kernel compares the user's total with the limit of the calling process, so a lower limit
  // leaves some to the user's other processes. A message carries up to 253 descriptors.
  enum { DESCRIPTORS = 512, SIGNALS = 1024 };
  struct rlimit files, signals;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || getrlimit(RLIMIT_SIGPENDING, &signals) != 0)
    return errno;
  rlim_t half = files.rlim_cur / 2 > DESCRIPTORS ? files.rlim_cur / 2 : DESCRIPTORS;
  if (files.rlim_cur > half) files.rlim_cur = half;
  files.rlim_max = files.rlim_cur;
  if (signals.rlim_cur > SIGNALS) signals.rlim_cur = SIGNALS;
  signals.rlim_max = signals.rlim_cur;
  if (setrlimit(RLIMIT_NOFILE, &files) != 0) return errno;
  return setrlimit(RLIMIT_SIGPENDING, &signals) == 0 ? 0 : errno;
}

int die_with_parent(pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
  // The parent may have ended before.
  if (getppid() != parent) raise(SIGKILL);
  return 0;
}

void keep_descriptors(unsigned count, int *reportDescriptor) {
  int number = 3 + (int)count;
  if (*reportDescriptor != number) {
    dup3(*reportDescriptor, number, O_CLOEXEC);
    *reportDescriptor = number;
  }
  fcntl(number, F_SETFD, FD_CLOEXEC);
  closefrom(number + 1);
}

static bool stays(const char *entry, const struct request *request) {
  size_t length = strcspn(entry, "=");
  for (unsigned i = 0; i < request->variableCount; i++)
    if (strlen(request->variables[i]) == length &&
        strncmp(request->variables[i], entry, length) == 0)
      return true;
  return false;
}

int enter_group(const char *path) {
  char processes[PATH_MAX];
  if (snprintf(processes, sizeof processes, "%s/cgroup.procs", path) >= (int)sizeof processes)
    return ENAMETOOLONG;
  int file = open(processes, O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  // 0 means the writing process.
  int error = write(file, "0", 1) == 1 ? 0 : errno;
  close(file);
  return error;
}

void keep_variables(const struct request *request) {
  char **kept = environ;
  for (char **entry = environ; *entry != NULL; entry++)
    if (stays(*entry, request)) *kept++ = *entry;
  *kept = NULL;
}

int leave_session(void) {
  int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal >= 0) {
    ioctl(terminal, TIOCNOTTY);
    close(terminal);
  }
  if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0) return 0;
  // Where a container forbids the call, it forbids the role to read keys, too.
  return errno == EPERM || errno == ENOSYS ? 0 : errno;
}

void set_environment(const struct request *request, bool isInGroup) {
  keep_variables(request);
  setenv("FRAMEBUS_CONFINED", "1", 1);
  if (request->memoryBytes == 0) return;
  char number[24];
  snprintf(number, sizeof number, "%llu", (unsigned long long)request->memoryBytes);
  setenv("FRAMEBUS_MEMORY_BYTES", number, 1);
  if (isInGroup) setenv("FRAMEBUS_MEMORY_GROUP", request->memoryGroup, 1);
}
