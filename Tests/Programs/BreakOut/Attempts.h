// The attempts of BreakOut in files of their own. Each returns 0 or an error number.
#pragma once
#include <errno.h>
#include <sys/types.h>

/// 0, or the reason of a failure.
static inline int result_of(long value) { return value < 0 ? errno : 0; }

/// Creates a file with the set-user-ID or set-group-ID bit in a directory, by the named call.
int set_identity(const char *call, const char *directory);
/// Changes the permissions, owner, times or attributes of a file, by the named call.
int change_metadata(const char *call, const char *path);
/// Takes processor time, processors or disk time from another process, by the named call.
int slow_process(const char *call, pid_t process);
/// Uses up what its user has a limited number of (`fill-descriptors`, `fill-signals`), or takes one
/// of them (`pass`, `enqueue`); or waits with what it has (`hold`).
int take_from_user(const char *what);
/// Further attempts on files, by name.
int attempt_on_files(const char *what, const char *argument);
