// Linux calls that Swift cannot make by itself: variadic functions, control messages, calls that
// the C library has no wrapper for, and constants of newer kernels than the build machine's
// headers. Each function returns what the system call returns and sets errno; each names its
// manual page. No policy lives here: Platform gives these calls types and errors.
#pragma once
#include "LinuxArguments.h"
#include "LinuxDatagram.h"
#include "LinuxFileRights.h"
#include "LinuxGuard.h"
#include "LinuxKeyring.h"
#include "LinuxSemaphore.h"
#include "LinuxSpawn.h"
#include "LinuxTerminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <grp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/xattr.h>

/// memfd_create(2) with MFD_CLOEXEC | MFD_ALLOW_SEALING, and MFD_EXEC or MFD_NOEXEC_SEAL where
/// they are known.
int linux_memfd_create(const char *name, bool isExecutable);
/// fcntl(2), F_ADD_SEALS and F_GET_SEALS. Seals are the LINUX_SEAL_ bits.
int linux_add_seals(int descriptor, int seals);
int linux_get_seals(int descriptor);
enum {
  LINUX_SEAL_SEAL = 0x0001,
  LINUX_SEAL_SHRINK = 0x0002,
  LINUX_SEAL_GROW = 0x0004,
  LINUX_SEAL_WRITE = 0x0008,
  LINUX_SEAL_FUTURE_WRITE = 0x0010,
};
/// fstatfs(2): whether the descriptor lies in memory (tmpfs), as every memfd does.
bool linux_is_memory_file(int descriptor);

/// madvise(2): keep the mapping out of forked children; populate it writable (Linux 5.14).
int linux_keep_from_children(void *address, size_t byteCount);
int linux_populate_writable(void *address, size_t byteCount);

/// One word to wait on: its address, the value it must still have, and whether it is private to
/// this process.
struct linux_futex_wait {
  const uint32_t *word;
  uint32_t expected;
  bool isPrivate;
};
/// futex_waitv(2) (Linux 5.16) until an absolute CLOCK_MONOTONIC time, or for ever if it is
/// UINT64_MAX. At most LINUX_MAXIMUM_WAITS words, as many as the kernel takes.
enum { LINUX_MAXIMUM_WAITS = 128 };
long linux_futex_wait_any(const struct linux_futex_wait *waits, unsigned count,
                          uint64_t deadlineNs);
/// futex(2), FUTEX_WAKE: wakes at most `count` sleepers. Returns the number woken.
long linux_futex_wake(const uint32_t *word, int count, bool isPrivate);

/// socketpair(2): two connected SOCK_STREAM ends that never block, of which the second can only be
/// read, and the first only be written to: shutdown(2).
int linux_one_way_socket_pair(int ends[2]);
/// Whether the descriptor is a stream socket of unix(7).
bool linux_is_stream_socket(int descriptor);

/// unix(7): sendmsg(2) with MSG_DONTWAIT | MSG_NOSIGNAL and up to 8 descriptors (SCM_RIGHTS).
ssize_t linux_send_message(int socket, const void *bytes, size_t byteCount,
                           const int *descriptors, unsigned descriptorCount);
/// unix(7): recvmsg(2) with MSG_DONTWAIT | MSG_CMSG_CLOEXEC. Writes the received descriptors and
/// their number; `isTruncated` is set for MSG_TRUNC or MSG_CTRUNC, and the descriptors that did
/// arrive still belong to the caller.
ssize_t linux_receive_message(int socket, void *bytes, size_t byteCount, int *descriptors,
                              unsigned descriptorCapacity, unsigned *descriptorCount,
                              bool *isTruncated);
/// unix(7): bind(2) or connect(2) with a path. ENAMETOOLONG when it does not fit sun_path. The new
/// file has these permissions whatever the umask is, and no later call need change them.
int linux_bind_path(int socket, const char *path, mode_t mode);
int linux_connect_path(int socket, const char *path);
/// accept4(2) with SOCK_CLOEXEC | SOCK_NONBLOCK.
int linux_accept(int socket);
/// ppoll(2) for POLLIN on two descriptors (the second may be -1) until an absolute
/// CLOCK_MONOTONIC time. Returns 1 or 2, the one that is ready, the first before the second; 0
/// at the deadline; -1 with errno, EINTR among them.
int linux_poll_readable(int first, int second, uint64_t deadlineNs);
/// unix(7): SO_PEERCRED and SO_PEERPIDFD (Linux 6.5).
int linux_peer_credentials(int socket, int32_t *pid, uint32_t *uid, uint32_t *gid);
int linux_peer_pidfd(int socket);
/// unix(7): SO_PASSRIGHTS 0 (Linux 6.16): refuse descriptors that the peer sends.
int linux_refuse_descriptors(int socket);

/// ppoll(2): waits until the first of up to 8 descriptors is readable or hung up, until an absolute
/// CLOCK_MONOTONIC time, or for ever if it is UINT64_MAX. Returns the index, or `count` when the
/// time has come.
int linux_wait_readable(const int *descriptors, unsigned count, uint64_t deadlineNs);

/// pidfd_open(2), pidfd_send_signal(2).
int linux_pidfd_open(int32_t pid);
int linux_pidfd_send_signal(int pidfd, int signal);
/// The same as sigqueue(3), by which who gets it can tell it from a person's; to the whole process
/// group that the process leads if that is wanted, but before Linux 6.9 to the process alone.
int linux_pidfd_queue_signal(int pidfd, int signal, bool toGroup);

/// fcntl(2), F_OFD_SETLK: an exclusive lock on the whole file, without waiting.
int linux_lock_exclusively(int descriptor);
/// fcntl(2), F_OFD_SETLK: releases the lock of this open file description.
int linux_unlock(int descriptor);
/// The same for one byte of the file, which may lie beyond its end.
int linux_lock_byte(int descriptor, int64_t offset);
int linux_unlock_byte(int descriptor, int64_t offset);

/// syncfs(2): writes all of a file's file system to its disk; needs _GNU_SOURCE.
int linux_sync_file_system(int descriptor);

/// open(2), O_PATH: a descriptor that only names a file; the constant needs _GNU_SOURCE.
static const int LINUX_O_PATH = 010000000;
/// lseek(2), SEEK_DATA: the next bytes that are not a hole; the constant needs _GNU_SOURCE.
static const int LINUX_SEEK_DATA = 3;
/// clock_gettime(2), CLOCK_MONOTONIC_COARSE: the clock as of its last tick.
uint64_t linux_coarse_clock_ns(void);
/// fcntl(2), F_OFD_GETLK: whether another open file description holds a lock on the file.
bool linux_is_locked(int descriptor);
/// renameat2(2) within one directory: replaces an entry of the new name, or fails with EEXIST.
int linux_rename(int directory, const char *name, const char *newName, bool isReplacing);

/// prctl(2), PR_SET_DUMPABLE to 0: no core dumps, and no look at this process's memory by others.
int linux_forbid_dumps(void);

/// malloc_trim(3): returns freed memory to the system, as far as possible.
void linux_return_free_memory(void);

/// prctl(2), PR_SET_NAME: the calling thread's name, at most 15 bytes.
int linux_name_thread(const char *name);

/// An address that belongs to the calling thread, NULL until it is set.
void linux_set_thread_owner(const void *owner);
const void *linux_thread_owner(void);
/// sched_getaffinity(2): how many processors the calling thread may run on, at least 1.
int linux_processor_count(void);
/// fcntl(2), F_SETFL: O_DIRECT, which needs _GNU_SOURCE, on an open file.
int linux_set_direct(int descriptor, bool isDirect);
/// fallocate(2), mode 0; unlike posix_fallocate(3) it never writes where the file system cannot.
int linux_allocate(int descriptor, uint64_t offset, uint64_t byteCount);

/// ioctl_tty(2), TIOCGWINSZ: the size of a terminal in characters; 0 of each where it is unknown.
int linux_terminal_size(int descriptor, unsigned *columns, unsigned *rows);

/// The processor's hint for a spin loop.
static inline void linux_spin_hint(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}
