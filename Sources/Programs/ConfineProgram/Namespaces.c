#define _GNU_SOURCE
#include "Namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAXIMUM_MAP_BYTES = 16384 };

static bool write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool isWritten = write(file, text, strlen(text)) == (ssize_t)strlen(text);
  close(file);
  return isWritten;
}

static int map_self(uid_t uid, gid_t gid) {
  char map[64];
  snprintf(map, sizeof map, "%u %u 1", uid, uid);
  if (!write_text("/proc/self/uid_map", map)) return EPERM;
  write_text("/proc/self/setgroups", "deny");
  snprintf(map, sizeof map, "%u %u 1", gid, gid);
  return write_text("/proc/self/gid_map", map) ? 0 : EPERM;
}

/// Maps this process's users, or groups, into another process's user namespace.
static bool map_all(pid_t process, const char *name) {
  char path[64], map[MAXIMUM_MAP_BYTES] = "";
  snprintf(path, sizeof path, "/proc/self/%s", name);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  unsigned first, outside, count;
  size_t length = 0;
  while (fscanf(file, "%u %u %u", &first, &outside, &count) == 3 && length + 64 < sizeof map)
    length += (size_t)snprintf(map + length, 64, "%u %u %u\n", first, first, count);
  fclose(file);
  snprintf(path, sizeof path, "/proc/%d/%s", process, name);
  return length > 0 && write_text(path, map);
}

/// Maps all users by a child that stays outside, because a process inside a new user namespace can
/// map only itself.
static int unshare_with_all(int flags) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  pid_t process = getpid(), child = fork();
  if (child == 0) {
    char byte;
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 1) _exit(1);
    _exit(map_all(process, "uid_map") && map_all(process, "gid_map") ? 0 : 1);
  }
  int error = child < 0 ? errno : 0;
  close(ends[0]);
  if (error == 0 && unshare(flags | CLONE_NEWUSER) != 0) error = errno;
  if (error == 0 && write(ends[1], "", 1) != 1) error = errno;
  close(ends[1]);
  int status = 0;
  if (child < 0) return error;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return errno;
  return error == 0 && status != 0 ? EPERM : error;
}

int unshare_namespaces(int flags, enum users users) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (users == USERS_ALL) return unshare_with_all(flags);
  if (users == USERS_OF_HOST) return unshare(flags) == 0 ? 0 : errno;
  return unshare(flags | CLONE_NEWUSER) == 0 ? map_self(uid, gid) : errno;
}

bool limit_watches(void) {
  return write_text("/proc/sys/user/max_inotify_instances", "32") &&
         write_text("/proc/sys/user/max_inotify_watches", "4096");
}
