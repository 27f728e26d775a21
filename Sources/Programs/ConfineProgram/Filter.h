// The system call filter: forbidden calls, and forbidden arguments of allowed calls.
#pragma once
#include "Confine.h"

#include <seccomp.h>

/// Fails a call with EPERM if its arguments meet all conditions.
/// - Returns: 0 or a negative error number; 0 also if there is no such call.
int forbid_if(scmp_filter_ctx filter, const char *name, unsigned count,
              const struct scmp_arg_cmp *conditions);

/// Forbids arguments with which an allowed call affects other processes or users.
int filter_arguments(scmp_filter_ctx filter, bool keepsFiles);
