#define _GNU_SOURCE
#include "Confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// From landlock(7): constants newer than the system's headers.
enum { SYS_create_ruleset = 444, SYS_add_rule = 445, SYS_restrict_self = 446 };
enum { RULE_PATH_BENEATH = 1, CREATE_VERSION = 1 };
enum {
  MAY_EXECUTE = 1 << 0,
  MAY_WRITE_FILE = 1 << 1,
  MAY_READ_FILE = 1 << 2,
  MAY_READ_DIRECTORY = 1 << 3,
  /// Creating and removing entries, including devices.
  MAY_CHANGE_DIRECTORY = 0x1ff0,
  MAY_MAKE_DEVICES = 1 << 6 | 1 << 11,
  /// Since ABI 2, 3 and 5.
  MAY_MOVE = 1 << 13,
  MAY_TRUNCATE = 1 << 14,
  MAY_CONTROL_DEVICE = 1 << 15,
};
enum {
  /// Rights that apply to files; the others apply to directories only.
  OF_FILES = MAY_EXECUTE | MAY_WRITE_FILE | MAY_READ_FILE | MAY_TRUNCATE | MAY_CONTROL_DEVICE,
};
/// ABI 4: binding and connecting TCP ports. ABI 6: abstract sockets and signals.
enum { ALL_TCP = 3, ALL_SCOPES = 3 };

struct ruleset {
  uint64_t files, network, scopes;
};
struct path_rule {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

static uint64_t known_file_rights(long version) {
  uint64_t rights = 0x1fff;
  if (version >= 2) rights |= MAY_MOVE;
  if (version >= 3) rights |= MAY_TRUNCATE;
  if (version >= 5) rights |= MAY_CONTROL_DEVICE;
  return rights;
}

static uint64_t rights_of(enum access access) {
  switch (access) {
    case ACCESS_LIST: return MAY_READ_DIRECTORY;
    case ACCESS_READ: return MAY_READ_FILE | MAY_READ_DIRECTORY;
    case ACCESS_RUN: return MAY_EXECUTE | MAY_READ_FILE | MAY_READ_DIRECTORY;
    case ACCESS_WRITE:
      return (MAY_CHANGE_DIRECTORY & ~MAY_MAKE_DEVICES) | MAY_READ_FILE | MAY_READ_DIRECTORY |
             MAY_WRITE_FILE | MAY_MOVE | MAY_TRUNCATE | MAY_CONTROL_DEVICE;
  }
  return 0;
}

/// Skips files that cannot be opened.
static void allow(int ruleset, uint64_t known, const struct grant *grant) {
  if (grant->realPath == NULL) return;
  struct path_rule rule = {.allowed = rights_of(grant->access) & known};
  rule.parent = open(grant->realPath, O_PATH | O_CLOEXEC);
  if (rule.parent < 0) return;
  struct stat status;
  if (fstat(rule.parent, &status) == 0) {
    if (!S_ISDIR(status.st_mode)) rule.allowed &= OF_FILES;
    if (rule.allowed != 0) syscall(SYS_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0);
  }
  close(rule.parent);
}

bool restrict_files(const struct request *request) {
  long version = syscall(SYS_create_ruleset, NULL, 0, CREATE_VERSION);
  int error = version > 0 ? 0 : errno;
  if (error == 0) {
    struct ruleset attributes = {.files = known_file_rights(version)};
    if (version >= 4 && request->sockets == SOCKETS_LOCAL) attributes.network = ALL_TCP;
    if (version >= 6) attributes.scopes = ALL_SCOPES;
    size_t byteCount = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int ruleset = (int)syscall(SYS_create_ruleset, &attributes, byteCount, 0);
    if (ruleset < 0) {
      error = errno;
    } else {
      for (unsigned i = 0; i < request->grantCount; i++)
        allow(ruleset, attributes.files, &request->grants[i]);
      if (syscall(SYS_restrict_self, ruleset, 0) != 0) error = errno;
      close(ruleset);
    }
  }
  char detail[80];
  snprintf(detail, sizeof detail, "Landlock %ld: granted paths only, no memory of others", version);
  report_result("files", error, detail);
  if (error == 0 && version < 6) report("scope", false, "needs Linux 6.12");
  else report_result("scope", error, "no signals to others or abstract sockets of others");
  return error == 0 && version >= 6;
}
