// The file rights of one thread (setfsuid(2)).
#pragma once
#include <stddef.h>
#include <sys/types.h>

/// Gives this thread the file rights of a user with these groups, the primary one first, or its own
/// again. Returns 0, or an error number; the thread's rights are undefined then.
int linux_take_file_rights(uid_t user, const gid_t *groups, size_t count);
