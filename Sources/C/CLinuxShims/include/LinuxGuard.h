// The one handler of SIGBUS: reading or writing a mapped page that its file no longer has, because
// another process truncated it or the disk could not deliver it, ends a process by SIGBUS. For
// ranges that are guarded the handler puts a page of zeros in its place and notes the loss; any
// other SIGBUS goes to whoever handled it before, or ends the process as it would have.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// How many ranges a process can guard at once.
enum { LINUX_GUARDED_RANGES = 1024 };

/// Guards a range of whole pages. Returns its number, or -1 with
/// errno: ENOSPC when there are LINUX_GUARDED_RANGES already. The first call installs the handler.
int linux_guard(void *start, size_t byteCount);
/// Whether a page of the range was lost.
bool linux_guard_is_lost(int number);
/// Forgets the loss, before the range is mapped again.
void linux_guard_renew(int number);
/// Ends the guard. The caller unmaps the range afterwards, and nobody touches it meanwhile.
void linux_unguard(int number);
