// The filter of system calls, in two parts: which calls, and which arguments of others.
#pragma once
#include "Confine.h"

#include <seccomp.h>

/// Refuses a call, with EPERM, whose arguments meet all conditions.
/// - Returns: 0 or a negative error number; 0 also where there is no such call.
int forbid_if(scmp_filter_ctx filter, const char *name, unsigned count,
              const struct scmp_arg_cmp *conditions);

/// Arguments by which an allowed call reaches other processes or other users.
int filter_arguments(scmp_filter_ctx filter, bool keepsFiles);
