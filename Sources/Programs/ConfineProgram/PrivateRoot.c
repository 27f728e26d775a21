#define _GNU_SOURCE
#include "Confine.h"
#include "Namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/// Mount point of the host's file system during the setup of the private root.
#define HOST "/.host"

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

/// Makes /tmp, as only this process sees it, an empty root that contains the host's root.
static int turn_root(void) {
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return errno;
  if (mount("framebus", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") != 0)
    return errno;
  if (mkdir("/tmp" HOST, 0700) != 0) return errno;
  if (syscall(SYS_pivot_root, "/tmp", "/tmp" HOST) != 0) return errno;
  return chdir("/") == 0 ? 0 : errno;
}

static int enter_empty_root(int flags, enum users users, bool *isLimited) {
  int error = unshare_namespaces(flags, users);
  if (error != 0) return error;
  *isLimited = users != USERS_OF_HOST && limit_watches();
  return turn_root();
}

/// Enters the root if a child could do so first, because a half-finished attempt cannot be undone,
/// as where a user namespace can be created but gives no privileges.
static int enter_if_possible(int flags, enum users users, bool *isLimited) {
  pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) _exit(enter_empty_root(flags, users, isLimited));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return errno;
  if (!WIFEXITED(status)) return EPERM;
  return WEXITSTATUS(status) == 0 ? enter_empty_root(flags, users, isLimited)
                                  : WEXITSTATUS(status);
}

/// Root, or a host that may change users, gets an own user namespace that maps all users, for its
/// own limits, or goes without if that fails. Another user, who may not create other namespaces,
/// gets, if requested, one that maps only that user.
static int enter_best(int flags, const struct request *request, bool *isLimited) {
  bool maySetUsers = geteuid() == 0 || request->user != 0;
  if (maySetUsers && enter_if_possible(flags, USERS_ALL, isLimited) == 0) return 0;
  int error = enter_if_possible(flags, USERS_OF_HOST, isLimited);
  if (error != EPERM || !request->mayMapUsers || request->user != 0) return error;
  return enter_if_possible(flags, USERS_SELF, isLimited);
}

/// Copies the access control list that lets members enter a group's directory (acl(5)).
static void copy_access(const char *host, const char *path) {
  static const char name[] = "system.posix_acl_access";
  static char list[XATTR_SIZE_MAX];
  ssize_t count = getxattr(host, name, list, sizeof list);
  if (count > 0 && setxattr(path, name, list, (size_t)count, 0) != 0) {
    // Then only the owner can enter, by the mode.
  }
}

/// Creates a directory with the owner and permissions of the host's, except the mode's write
/// permission for others: so checks of a path's trustworthiness have the same result as before.
static void make_directory(const char *path) {
  char host[PATH_MAX];
  struct stat status;
  if (snprintf(host, sizeof host, HOST "%s", path) >= (int)sizeof host) return;
  if (stat(host, &status) != 0 || mkdir(path, 0755) != 0) return;
  if (chown(path, status.st_uid, status.st_gid) != 0) {
    // In an own user namespace, the directory keeps this user as owner.
  }
  chmod(path, status.st_mode & 07755);
  copy_access(host, path);
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

/// Before Linux 5.12, only Landlock and the filter prevent changes.
static bool make_read_only(const char *path) {
  struct {
    uint64_t set, clear, propagation, userns;
  } attributes = {.set = 1 /* MOUNT_ATTR_RDONLY */};
  return syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attributes,
                 sizeof attributes) == 0;
}

/// Whether a path still leads to what it led to when it was granted: its user may exchange links.
/// What the system replaces, as /etc/passwd at each change of a user, is granted as it is now.
static bool is_same(const char *path, const struct grant *grant) {
  struct stat status;
  return stat(path, &status) == 0 &&
         (grant->isOfSystem ||
          (status.st_dev == grant->device && status.st_ino == grant->inode));
}

/// A file that is replaced between the search for it and its mount cannot be mounted; its successor
/// can.
static bool bind_to(const char *host, const char *path, const struct grant *grant) {
  enum { ATTEMPTS = 16 };
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (mount(host, path, NULL, MS_BIND | MS_REC, NULL) == 0) return true;
    if (!grant->isOfSystem) return false;
  }
  return false;
}

/// Mounts a granted file or directory at its path.
/// - Returns: false if a read-only grant is writable there.
static bool show(const struct grant *grant) {
  char host[PATH_MAX];
  struct stat status;
  const char *path = grant->realPath;
  if (path == NULL || snprintf(host, sizeof host, HOST "%s", path) >= (int)sizeof host) return true;
  if (stat(host, &status) != 0) return true;
  make_parents(path);
  if (S_ISDIR(status.st_mode)) {
    make_directory(path);
  } else {
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
  }
  // A listed directory contains only the other grants in it.
  bool isKept = true;
  if (grant->access != ACCESS_LIST && bind_to(host, path, grant)) {
    if (!is_same(path, grant)) {
      umount2(path, MNT_DETACH);
      return true;
    }
    if (grant->access != ACCESS_WRITE) isKept = make_read_only(path);
  }
  if (strcmp(path, grant->path) == 0) return isKept;
  make_parents(grant->path);
  if (symlink(path, grant->path) != 0) {
    // An existing name leads to the same file.
  }
  return isKept;
}

static void report_namespace(const char *measure, int error, bool mayMap, const char *detail) {
  if (error == EPERM && !mayMap)
    report(measure, false, "only root may do this in a group of several users");
  else
    report_result(measure, error, detail);
}

struct surroundings enter_private_root(const struct request *request) {
  char *folder = getcwd(NULL, 0);
  bool isLocal = request->sockets == SOCKETS_LOCAL;
  bool mayMap = request->mayMapUsers;
  bool isLimited = false;
  int networkError = isLocal ? enter_best(CLONE_NEWNS | CLONE_NEWNET, request, &isLimited) : 0;
  int error = networkError;
  if (!isLocal || error != 0) error = enter_best(CLONE_NEWNS, request, &isLimited);
  bool keepsFiles = error == 0;
  if (error == 0) {
    for (unsigned i = 0; i < request->grantCount; i++)
      if (!show(&request->grants[i])) keepsFiles = false;
    umount2(HOST, MNT_DETACH);
    rmdir(HOST);
    mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL);
    if (folder == NULL || chdir(folder) != 0) error = chdir("/") == 0 ? 0 : errno;
  }
  free(folder);
  report_namespace("private-root", error, mayMap, "only granted paths are visible");
  if (isLocal)
    report_namespace("private-network", networkError, mayMap, "not shared with other processes");
  return (struct surroundings){.hasRoot = error == 0,
                               .keepsFiles = keepsFiles,
                               .limitsWatches = isLimited,
                               .hasNetwork = isLocal && networkError == 0};
}
