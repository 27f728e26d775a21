#define _GNU_SOURCE
#include "Filter.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

/// Linux reads this many bits of an argument that is an int.
static const scmp_datum_t asInt = 0xffffffff;

/// Refuses set-user-ID and set-group-ID bits: such a file outlives the role and lends its user.
static int filter_modes(scmp_filter_ctx filter) {
  static const struct {
    const char *name;
    unsigned mode;
    /// The argument with the flags of open(2), without which the mode means nothing; or 0.
    unsigned flags;
  } calls[] = {
    {"chmod", 1, 0}, {"fchmod", 1, 0}, {"fchmodat", 2, 0}, {"fchmodat2", 2, 0},
    {"mkdir", 1, 0}, {"mkdirat", 2, 0}, {"mknod", 1, 0}, {"mknodat", 2, 0}, {"creat", 1, 0},
    {"open", 2, 1}, {"openat", 3, 2},
  };
  static const scmp_datum_t bits[] = {S_ISUID, S_ISGID};
  static const scmp_datum_t making[] = {O_CREAT, O_TMPFILE & ~O_DIRECTORY};
  int result = 0;
  for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; i++)
    for (unsigned bit = 0; bit < 2; bit++)
      for (unsigned flag = 0; flag < (calls[i].flags == 0 ? 1 : 2) && result == 0; flag++) {
        struct scmp_arg_cmp conditions[] = {
          SCMP_CMP(calls[i].mode, SCMP_CMP_MASKED_EQ, bits[bit], bits[bit]),
          SCMP_CMP(calls[i].flags, SCMP_CMP_MASKED_EQ, making[flag], making[flag]),
        };
        result = forbid_if(filter, calls[i].name, calls[i].flags == 0 ? 1 : 2, conditions);
      }
  return result;
}

/// Who waits for a processor or a disk: a process decides that for itself alone, by 0.
static int filter_priorities(scmp_filter_ctx filter) {
  enum { IO_OF_PROCESS = 1 };
  static const struct {
    const char *name;
    unsigned argument;
    scmp_datum_t allowed;
  } calls[] = {
    {"sched_setscheduler", 0, 0}, {"sched_setparam", 0, 0}, {"sched_setattr", 0, 0},
    {"sched_setaffinity", 0, 0}, {"setpriority", 0, PRIO_PROCESS}, {"setpriority", 1, 0},
    {"ioprio_set", 0, IO_OF_PROCESS}, {"ioprio_set", 1, 0}, {"migrate_pages", 0, 0},
    {"move_pages", 0, 0},
    // Limits.
    {"prlimit64", 0, 0},
  };
  int result = 0;
  for (unsigned i = 0; i < sizeof calls / sizeof calls[0] && result == 0; i++) {
    struct scmp_arg_cmp isOther =
        SCMP_CMP(calls[i].argument, SCMP_CMP_NE, calls[i].allowed);
    result = forbid_if(filter, calls[i].name, 1, &isOther);
  }
  return result;
}

static int forbid_value(scmp_filter_ctx filter, const char *name, scmp_datum_t value) {
  struct scmp_arg_cmp isValue = SCMP_A1(SCMP_CMP_MASKED_EQ, asInt, value);
  return forbid_if(filter, name, 1, &isValue);
}

int filter_arguments(scmp_filter_ctx filter, bool keepsFiles) {
  int result = filter_modes(filter);
  if (result == 0) result = filter_priorities(filter);
  // Typing into the terminal that the host reads.
  if (result == 0) result = forbid_value(filter, "ioctl", TIOCSTI);
  if (result == 0) result = forbid_value(filter, "ioctl", TIOCLINUX);
  // A process that opens a file for writing waits for the holder of its lease.
  if (result == 0) result = forbid_value(filter, "fcntl", F_SETLEASE);
  if (result == 0) result = forbid_value(filter, "fcntl64", F_SETLEASE);
  // Attributes of a file that may only be read.
  if (result == 0 && !keepsFiles) result = forbid_value(filter, "ioctl", FS_IOC_SETFLAGS);
  if (result == 0 && !keepsFiles) result = forbid_value(filter, "ioctl", FS_IOC_FSSETXATTR);
  // Memory that was made private stays so.
  struct scmp_arg_cmp isDumpable[] = {
    SCMP_A0(SCMP_CMP_MASKED_EQ, asInt, PR_SET_DUMPABLE),
    SCMP_A1(SCMP_CMP_NE, 0),
  };
  if (result == 0) result = forbid_if(filter, "prctl", 2, isDumpable);
  return result;
}
