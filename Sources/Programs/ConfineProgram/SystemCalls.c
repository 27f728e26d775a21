#define _GNU_SOURCE
#include "Filter.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

/// Calls that no role needs, because they access other processes, regain rights, or bypass the
/// filter. FrameBus works without io_uring.
static const char *const forbidden[] = {
  // Access to other processes
  "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
  "process_mrelease",
  // Alternative ways to make system calls
  "io_uring_setup", "io_uring_enter", "io_uring_register",
  // Kernel internals
  "bpf", "perf_event_open", "userfaultfd", "kexec_load", "kexec_file_load", "init_module",
  "finit_module", "delete_module", "syslog", "lookup_dcookie", "acct", "swapon", "swapoff",
  "reboot", "iopl", "ioperm", "modify_ldt", "vm86", "vm86old", "personality", "quotactl",
  "quotactl_fd", "nfsservctl", "fanotify_init", "vhangup",
  // Keys of the user's other processes
  "add_key", "request_key", "keyctl",
  // Alternative ways to files and namespaces
  "mount", "umount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree",
  "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "open_by_handle_at",
  "name_to_handle_at", "open_tree_attr",
  // System V's memory, semaphores and queues, and POSIX's queues: they outlive their creator
  "shmget", "shmat", "shmctl", "semget", "semctl", "semop", "semtimedop", "semtimedop_time64",
  "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "mq_timedsend",
  "mq_timedsend_time64", "mq_timedreceive", "mq_timedreceive_time64", "mq_notify", "mq_getsetattr",
  // The system clock
  "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
};

/// Calls that Landlock does not cover: by path they reach every file of the user, by descriptor
/// every readable one. Forbidden if files other than the granted ones are visible, or if read-only
/// grants are writable. inotify(7) reveals what happens to a file, and a user has few instances.
static const char *const ofFiles[] = {
  "chmod", "fchmod", "fchmodat", "fchmodat2",
  "chown", "fchown", "lchown", "fchownat", "chown32", "fchown32", "lchown32",
  "utime", "utimes", "futimesat", "utimensat", "utimensat_time64",
  "setxattr", "lsetxattr", "fsetxattr", "setxattrat",
  "removexattr", "lremovexattr", "fremovexattr", "removexattrat",
  "getxattr", "lgetxattr", "getxattrat", "listxattr", "llistxattr", "listxattrat",
  "file_setattr", "inotify_init", "inotify_init1",
};

/// Calls newer than libseccomp 2.5.4. Numbers from 424 on are the same on all architectures.
static const struct {
  const char *name;
  int number;
} young[] = {
  {"fchmodat2", 452}, {"setxattrat", 463}, {"getxattrat", 464}, {"listxattrat", 465},
  {"removexattrat", 466}, {"open_tree_attr", 467}, {"file_setattr", 469},
};

/// The number of a call, or __NR_SCMP_ERROR if this architecture does not have it.
static int number_of(const char *name) {
  int number = seccomp_syscall_resolve_name(name);
  for (unsigned i = 0; i < sizeof young / sizeof young[0] && number == __NR_SCMP_ERROR; i++)
    if (strcmp(young[i].name, name) == 0) number = young[i].number;
  return number;
}

int forbid_if(scmp_filter_ctx filter, const char *name, unsigned count,
              const struct scmp_arg_cmp *conditions) {
  int number = number_of(name);
  if (number == __NR_SCMP_ERROR) return 0;
  int result =
      seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), number, count, conditions);
  return result == -EDOM ? 0 : result;
}

static int forbid(scmp_filter_ctx filter, const char *name, int code) {
  int number = number_of(name);
  if (number == __NR_SCMP_ERROR) return 0;
  int result = seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)code), number, 0);
  return result == -EDOM ? 0 : result;
}

static int forbid_all(scmp_filter_ctx filter, const char *const *names, size_t count) {
  int result = 0;
  for (size_t i = 0; i < count && result == 0; i++) result = forbid(filter, names[i], EPERM);
  return result;
}

/// Allows socket families. Compares whole 64-bit arguments, so that any other value in the upper
/// half is forbidden.
static int filter_sockets(scmp_filter_ctx filter, enum sockets sockets) {
  uint32_t deny = SCMP_ACT_ERRNO(EACCES);
  int number = SCMP_SYS(socket);
  if (sockets == SOCKETS_LOCAL)
    return seccomp_rule_add(filter, deny, number, 1, SCMP_A0(SCMP_CMP_NE, AF_UNIX));
  int result = seccomp_rule_add(filter, deny, number, 1, SCMP_A0(SCMP_CMP_GT, AF_NETLINK));
  for (unsigned family = 0; family < AF_NETLINK && result == 0; family++) {
    if (family == AF_INET || family == AF_INET6) continue;
    if (family == AF_UNIX && sockets != SOCKETS_INHERITED) continue;
    result = seccomp_rule_add(filter, deny, number, 1, SCMP_A0(SCMP_CMP_EQ, family));
  }
  return result;
}

/// Allows Unix socket pairs. SOCKETS_INHERITED allows only streams, with which libcurl wakes
/// itself: one end of a datagram pair could be reconnected to any socket.
static int filter_pairs(scmp_filter_ctx filter, enum sockets sockets) {
  uint32_t deny = SCMP_ACT_ERRNO(EACCES);
  int number = SCMP_SYS(socketpair);
  int result = seccomp_rule_add(filter, deny, number, 1, SCMP_A0(SCMP_CMP_NE, AF_UNIX));
  if (sockets != SOCKETS_INHERITED) return result;
  // These bits are the type; higher bits are SOCK_NONBLOCK and SOCK_CLOEXEC.
  enum { TYPE_BITS = 0xf };
  for (unsigned type = 0; type <= TYPE_BITS && result == 0; type++)
    if (type != SOCK_STREAM)
      result = seccomp_rule_add(filter, deny, number, 1,
                                SCMP_A1(SCMP_CMP_MASKED_EQ, TYPE_BITS, type));
  return result;
}

/// Forbids new namespaces, because a process has every capability in its own user namespace.
static int filter_clone(scmp_filter_ctx filter) {
  static const scmp_datum_t flags[] = {
    CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID, CLONE_NEWIPC, CLONE_NEWUTS,
    CLONE_NEWCGROUP,
  };
  int result = 0;
  for (unsigned i = 0; i < sizeof flags / sizeof flags[0] && result == 0; i++)
    result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                              SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
  // Its flags are in memory, which a filter cannot read. With ENOSYS, C libraries call clone.
  if (result == 0) result = forbid(filter, "clone3", ENOSYS);
  return result;
}

static int add_rules(scmp_filter_ctx filter, enum sockets sockets, bool keepsFiles) {
  // Calls of another architecture or of x32 have other numbers.
  int result = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  if (result == 0) result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
  if (result == 0)
    result = forbid_all(filter, forbidden, sizeof forbidden / sizeof forbidden[0]);
  if (result == 0 && !keepsFiles)
    result = forbid_all(filter, ofFiles, sizeof ofFiles / sizeof ofFiles[0]);
  // Its mode is in memory. With ENOSYS, C libraries call openat.
  if (result == 0) result = forbid(filter, "openat2", ENOSYS);
  if (result == 0) result = filter_sockets(filter, sockets);
  if (result == 0) result = filter_pairs(filter, sockets);
  if (result == 0) result = filter_clone(filter);
  if (result == 0) result = filter_arguments(filter, keepsFiles);
  return result;
}

bool filter_system_calls(enum sockets sockets, bool keepsFiles) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  int result = filter == NULL ? -ENOMEM : add_rules(filter, sockets, keepsFiles);
  if (result == 0) result = seccomp_load(filter);
  if (filter != NULL) seccomp_release(filter);
  report_result("system-calls", -result, "seccomp: none that bypasses the other measures");
  return result == 0;
}
