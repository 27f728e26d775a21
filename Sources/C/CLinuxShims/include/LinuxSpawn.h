// Starting and replacing processes: posix_spawn(3) with the file actions and attributes that
// Swift cannot spell without a page of pointers.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct linux_launch {
  /// A path, or a name that is looked up in PATH.
  const char *executable;
  /// NULL-terminated, the first being the program's own name.
  char *const *arguments;
  char *const *environment;
  /// The child's working directory, or NULL for the caller's.
  const char *directory;
  /// Become 0, 1, 2 … in the child, which gets no other descriptor.
  const int *descriptors;
  unsigned descriptorCount;
  /// Whether the child leads a process group of its own.
  bool hasOwnGroup;
};

/// Returns 0 and the child's pid, or an error number. The child starts with no signal blocked and
/// every signal at its default.
int linux_launch(const struct linux_launch *launch, int32_t *pid);

/// The calling process's environment, environ(7).
char *const *linux_environment(void);

/// pipe2(2) with O_CLOEXEC.
int linux_pipe(int ends[2]);

/// Blocks SIGINT and SIGTERM, and SIGHUP unless it is ignored, in the calling thread and those it
/// starts later; ignores SIGPIPE and SIGXFSZ. Returns 0 or an error number.
int linux_block_stop_signals(void);
struct linux_stop_signal {
  /// A negative error number if waiting failed.
  int number;
  /// Whether it came by linux_pidfd_queue_signal.
  bool isQueued;
};
/// sigwaitinfo(2) for one of them.
struct linux_stop_signal linux_wait_for_stop_signal(void);
/// Undoes linux_block_stop_signals for a program that this process is about to become.
void linux_restore_signals(void);
