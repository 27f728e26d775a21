#define _GNU_SOURCE
#include "LinuxFileRights.h"

#include <errno.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

int linux_take_file_rights(uid_t user, const gid_t *groups, size_t count) {
  // The C library's setgroups would change all threads.
  if (syscall(SYS_setgroups, count, groups) != 0) return errno;
  setfsgid(groups[0]);
  setfsuid(user);
  // Neither call says whether it has failed; these change nothing.
  return (uid_t)setfsuid(-1) == user && (gid_t)setfsgid(-1) == groups[0] ? 0 : EPERM;
}
