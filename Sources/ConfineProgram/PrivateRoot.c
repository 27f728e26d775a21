#define _GNU_SOURCE
#include "Confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// Where the host's file system hangs while the private one is made.
#define HOST "/.host"

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

static bool write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool isWritten = write(file, text, strlen(text)) == (ssize_t)strlen(text);
  close(file);
  return isWritten;
}

/// Namespaces of its own; for who may not make them, if wished within a user namespace in which it
/// is who it was. Returns 0 or an error number.
static int unshare_namespaces(int flags, bool mayMapUsers) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (unshare(flags) == 0) return 0;
  if (errno != EPERM || !mayMapUsers) return errno;
  if (unshare(flags | CLONE_NEWUSER) != 0) return errno;
  char map[64];
  snprintf(map, sizeof map, "%u %u 1", uid, uid);
  if (!write_text("/proc/self/uid_map", map)) return EPERM;
  write_text("/proc/self/setgroups", "deny");
  snprintf(map, sizeof map, "%u %u 1", gid, gid);
  return write_text("/proc/self/gid_map", map) ? 0 : EPERM;
}

/// Turns /tmp, as this process alone sees it, into an empty root with the host's below it.
static int turn_root(void) {
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return errno;
  if (mount("framebus", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") != 0)
    return errno;
  if (mkdir("/tmp" HOST, 0700) != 0) return errno;
  if (syscall(SYS_pivot_root, "/tmp", "/tmp" HOST) != 0) return errno;
  return chdir("/") == 0 ? 0 : errno;
}

static int enter_empty_root(int flags, bool mayMapUsers) {
  int error = unshare_namespaces(flags, mayMapUsers);
  return error == 0 ? turn_root() : error;
}

/// Does so if a child that tries it first succeeds: there is no way back from half of it, as where
/// a user namespace can be had but gives no rights.
static int enter_if_possible(int flags, bool mayMapUsers) {
  pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) _exit(enter_empty_root(flags, mayMapUsers));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return errno;
  if (!WIFEXITED(status)) return EPERM;
  return WEXITSTATUS(status) == 0 ? enter_empty_root(flags, mayMapUsers) : WEXITSTATUS(status);
}

/// Makes a directory with the owner and the permissions of the host's, less the right of others to
/// write: so does whoever checks the way to a file trust it or not, as before.
static void make_directory(const char *path) {
  char host[PATH_MAX];
  struct stat status;
  if (snprintf(host, sizeof host, HOST "%s", path) >= (int)sizeof host) return;
  if (stat(host, &status) != 0 || mkdir(path, 0755) != 0) return;
  if (chown(path, status.st_uid, status.st_gid) != 0) {
    // In a user namespace of its own it stays this user's.
  }
  chmod(path, status.st_mode & 07755);
}

static void make_parents(const char *path) {
  char parent[PATH_MAX];
  if (strlen(path) >= sizeof parent) return;
  for (const char *end = path + 1; (end = strchr(end, '/')) != NULL; end++) {
    memcpy(parent, path, (size_t)(end - path));
    parent[end - path] = '\0';
    make_directory(parent);
  }
}

static void make_read_only(const char *path) {
  struct {
    uint64_t set, clear, propagation, userns;
  } attributes = {.set = 1 /* MOUNT_ATTR_RDONLY */};
  // Where the kernel is older (before Linux 5.12), Landlock alone keeps it from being written.
  syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attributes, sizeof attributes);
}

/// Shows a granted file or directory at its place.
static void show(const struct grant *grant) {
  char host[PATH_MAX];
  struct stat status;
  const char *path = grant->realPath;
  if (path == NULL || snprintf(host, sizeof host, HOST "%s", path) >= (int)sizeof host) return;
  if (stat(host, &status) != 0) return;
  make_parents(path);
  if (S_ISDIR(status.st_mode)) {
    make_directory(path);
  } else {
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
  }
  // What is listed shows what else was granted in it, and no more.
  if (grant->access != ACCESS_LIST && mount(host, path, NULL, MS_BIND | MS_REC, NULL) == 0 &&
      grant->access != ACCESS_WRITE)
    make_read_only(path);
  if (strcmp(path, grant->path) == 0) return;
  make_parents(grant->path);
  // A name that is there already leads to the same place.
  if (symlink(path, grant->path) != 0 && errno != EEXIST) return;
}

static void report_namespace(const char *measure, int error, bool mayMap, const char *detail) {
  if (error == EPERM && !mayMap)
    report(measure, false, "only root may, in a group that several users share");
  else
    report_result(measure, error, detail);
}

struct surroundings enter_private_root(const struct request *request) {
  char *folder = getcwd(NULL, 0);
  bool isLocal = request->sockets == SOCKETS_LOCAL;
  bool mayMap = request->mayMapUsers;
  int networkError = isLocal ? enter_if_possible(CLONE_NEWNS | CLONE_NEWNET, mayMap) : 0;
  int error = networkError;
  if (!isLocal || error != 0) error = enter_if_possible(CLONE_NEWNS, mayMap);
  if (error == 0) {
    for (unsigned i = 0; i < request->grantCount; i++) show(&request->grants[i]);
    umount2(HOST, MNT_DETACH);
    rmdir(HOST);
    mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL);
    if (folder == NULL || chdir(folder) != 0) error = chdir("/") == 0 ? 0 : errno;
  }
  free(folder);
  report_namespace("private-root", error, mayMap, "nothing but what was granted is in sight");
  if (isLocal)
    report_namespace("private-network", networkError, mayMap, "one with nobody else in it");
  return (struct surroundings){.hasRoot = error == 0, .hasNetwork = isLocal && networkError == 0};
}
