#define _GNU_SOURCE
#include "Attempts.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

enum {
  SYS_OPENAT2 = 437,
  SYS_FCHMODAT2 = 452,
  SYS_SETXATTRAT = 463,
  SYS_GETXATTRAT = 464,
  SYS_LISTXATTRAT = 465,
  SYS_REMOVEXATTRAT = 466,
  SYS_FILE_SETATTR = 469,
};

/// With a mode that includes the file type, as mknod(2) takes it.
static int make_file(const char *call, const char *path, mode_t mode) {
  int flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC;
  // Not by the C library, which may make another call.
  if (strcmp(call, "open") == 0) {
#ifdef SYS_open
    return (int)syscall(SYS_open, path, flags, mode);
#endif
    return open(path, flags, mode);
  }
  if (strcmp(call, "openat") == 0) return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (strcmp(call, "creat") == 0) return creat(path, mode);
  if (strcmp(call, "openat2") == 0) {
    uint64_t how[] = {(uint64_t)flags, mode, 0};
    return (int)syscall(SYS_OPENAT2, AT_FDCWD, path, how, sizeof how);
  }
  if (strcmp(call, "tmpfile") == 0) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  }
  if (strcmp(call, "mknod") == 0) {
#ifdef SYS_mknod
    return (int)syscall(SYS_mknod, path, S_IFREG | mode, 0);
#endif
    return mknod(path, S_IFREG | mode, 0);
  }
  if (strcmp(call, "mknodat") == 0)
    return (int)syscall(SYS_mknodat, AT_FDCWD, path, S_IFREG | mode, 0);
  int file = open(path, flags, 0700);
  if (file < 0) return -1;
  int result = -1;
  errno = EINVAL;
  if (strcmp(call, "chmod") == 0) result = chmod(path, mode);
  if (strcmp(call, "fchmod") == 0) result = fchmod(file, mode);
  if (strcmp(call, "fchmodat") == 0) result = (int)syscall(SYS_fchmodat, AT_FDCWD, path, mode);
  if (strcmp(call, "fchmodat2") == 0)
    result = (int)syscall(SYS_FCHMODAT2, AT_FDCWD, path, mode, 0);
  int error = errno;
  close(file);
  errno = error;
  return result;
}

int set_identity(const char *call, const char *directory) {
  static const mode_t modes[] = {S_ISUID, S_ISGID, S_ISUID | S_ISGID};
  for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%u", directory, call, i);
    unlink(path);
    int file = make_file(call, path, modes[i] | 0755);
    int error = result_of(file);
    struct stat status;
    int found = strcmp(call, "tmpfile") == 0 ? fstat(file, &status) : stat(path, &status);
    if (file > 2) close(file);
    // One is enough.
    if (error == 0) return found == 0 && (status.st_mode & modes[i]) != 0 ? 0 : EINVAL;
    if (i == 2) return error;
  }
  return EINVAL;
}

/// By a descriptor of a readable file or directory.
static int change_open(const char *call, const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  int flags = 0, result = -1;
  struct stat status;
  errno = EINVAL;
  if (strcmp(call, "fchmod") == 0 && fstat(file, &status) == 0)
    result = fchmod(file, status.st_mode & 0777);
  if (strcmp(call, "fchown") == 0) result = fchown(file, (uid_t)-1, getegid());
  if (strcmp(call, "futimens") == 0) result = futimens(file, NULL);
  if (strcmp(call, "fsetxattr") == 0) result = fsetxattr(file, "user.framebus", "x", 1, 0);
  if (strcmp(call, "flags") == 0 && (result = ioctl(file, FS_IOC_GETFLAGS, &flags)) == 0)
    result = ioctl(file, FS_IOC_SETFLAGS, &flags);
  int error = errno;
  close(file);
  errno = error;
  return result;
}

int change_metadata(const char *call, const char *path) {
  struct {
    uint64_t value;
    uint32_t size, flags;
  } attribute = {(uintptr_t)"x", 1, 0};
  static const char name[] = "user.framebus";
  char list[256];
  struct stat status;
  if (stat(path, &status) != 0) return errno;
  mode_t mode = status.st_mode & 07777;
  if (strcmp(call, "chmod") == 0) return result_of(chmod(path, mode));
  if (strcmp(call, "fchmodat") == 0)
    return result_of(syscall(SYS_fchmodat, AT_FDCWD, path, mode));
  if (strcmp(call, "fchmodat2") == 0)
    return result_of(syscall(SYS_FCHMODAT2, AT_FDCWD, path, mode, 0));
  if (strcmp(call, "chown") == 0) return result_of(chown(path, (uid_t)-1, getegid()));
  if (strcmp(call, "lchown") == 0) return result_of(lchown(path, (uid_t)-1, getegid()));
  if (strcmp(call, "fchownat") == 0)
    return result_of(fchownat(AT_FDCWD, path, (uid_t)-1, getegid(), 0));
  if (strcmp(call, "utime") == 0) return result_of(utime(path, NULL));
  if (strcmp(call, "utimes") == 0) return result_of(utimes(path, NULL));
  if (strcmp(call, "futimesat") == 0) return result_of(futimesat(AT_FDCWD, path, NULL));
  if (strcmp(call, "utimensat") == 0) return result_of(utimensat(AT_FDCWD, path, NULL, 0));
  if (strcmp(call, "setxattr") == 0) return result_of(setxattr(path, name, "x", 1, 0));
  if (strcmp(call, "lsetxattr") == 0) return result_of(lsetxattr(path, name, "x", 1, 0));
  if (strcmp(call, "getxattr") == 0) return result_of(getxattr(path, name, list, sizeof list));
  if (strcmp(call, "listxattr") == 0) return result_of(listxattr(path, list, sizeof list));
  if (strcmp(call, "removexattr") == 0) return result_of(removexattr(path, name));
  if (strcmp(call, "setxattrat") == 0)
    return result_of(
        syscall(SYS_SETXATTRAT, AT_FDCWD, path, 0, name, &attribute, sizeof attribute));
  if (strcmp(call, "removexattrat") == 0)
    return result_of(syscall(SYS_REMOVEXATTRAT, AT_FDCWD, path, 0, name));
  return result_of(change_open(call, path));
}

/// Takes a number of inotify instances.
static int watch(const char *count) {
  int wanted = atoi(count), taken = 0;
  int numbers[1024];
  while (taken < wanted && taken < 1024 && (numbers[taken] = inotify_init1(IN_CLOEXEC)) >= 0)
    taken++;
  int error = taken < wanted ? errno : 0;
  while (taken > 0) close(numbers[--taken]);
  return error;
}

/// Watches events in a directory.
static int observe(const char *path) {
  int number = inotify_init1(IN_CLOEXEC);
  if (number < 0) return errno;
  int error = result_of(inotify_add_watch(number, path, IN_ALL_EVENTS));
  close(number);
  return error;
}

/// Takes a lease, which blocks processes that open the file for writing.
static int lease(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  int error = result_of(fcntl(file, F_SETLEASE, F_RDLCK));
  close(file);
  return error;
}

/// A second name of a file, in a directory: `FILE:DIRECTORY`.
static int link_into(const char *words) {
  char from[4096], to[4200];
  snprintf(from, sizeof from, "%s", words);
  char *directory = strchr(from, ':');
  if (directory == NULL) return EINVAL;
  *directory++ = '\0';
  snprintf(to, sizeof to, "%s/linked", directory);
  int error = result_of(link(from, to));
  if (error == 0) unlink(to);
  return error;
}

/// Gives a new file in a directory a capability, for every process that runs it.
static int give_capability(const char *directory) {
  char path[4096];
  snprintf(path, sizeof path, "%s/capable", directory);
  int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
  if (file < 0) return errno;
  // VFS_CAP_REVISION_2, effective: CAP_NET_RAW
  uint32_t value[] = {0x02000001, 1 << 13, 0, 0, 0};
  int error = result_of(fsetxattr(file, "security.capability", value, sizeof value, 0));
  close(file);
  unlink(path);
  return error;
}

/// Makes a call of a device's driver.
static int control(const char *device) {
  int file = open(device, O_RDWR | O_CLOEXEC);
  if (file < 0) return errno;
  int result = result_of(ioctl(file, _IO('d', 0)));
  close(file);
  return result;
}

int attempt_on_files(const char *what, const char *argument) {
  if (strcmp(what, "control") == 0) return control(argument);
  if (strcmp(what, "watches") == 0) return watch(argument);
  if (strcmp(what, "observe") == 0) return observe(argument);
  if (strcmp(what, "lease") == 0) return lease(argument);
  if (strcmp(what, "link") == 0) return link_into(argument);
  if (strcmp(what, "capability") == 0) return give_capability(argument);
  return EINVAL;
}
