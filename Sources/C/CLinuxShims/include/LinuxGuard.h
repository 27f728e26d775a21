// The process's SIGBUS handler. The kernel sends SIGBUS on access to a mapped page that the file no
// longer has, because another process truncated it, or that the disk could not read. In guarded
// ranges the handler replaces the page by zeros and records the loss; any other SIGBUS goes to the
// previous handler, or ends the process as by default.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// The maximum number of guarded ranges in a process.
enum { LINUX_GUARDED_RANGES = 1024 };

/// Guards a range of whole pages. Returns its number, or -1 with
/// errno: ENOSPC if there are already LINUX_GUARDED_RANGES. The first call installs the handler.
int linux_guard(void *start, size_t byteCount);
/// Whether a page of the range was lost.
bool linux_guard_is_lost(int number);
/// Maps a file over the whole range again and clears the recorded loss. Returns 0, or -1 and errno.
int linux_guard_renew(int number, int descriptor, int protection);
/// Ends the guard. The caller unmaps the range afterwards; no thread may access it meanwhile.
void linux_unguard(int number);
