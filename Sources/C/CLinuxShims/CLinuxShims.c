#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

enum { MAXIMUM_DESCRIPTORS = 8, MAXIMUM_WAITS = 8 };

int linux_memfd_create(const char *name, bool isExecutable) {
  unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int descriptor = memfd_create(name, flags | (isExecutable ? MFD_EXEC : MFD_NOEXEC_SEAL));
  // Kernels before 6.3 know neither flag.
  return descriptor < 0 && errno == EINVAL ? memfd_create(name, flags) : descriptor;
}

int linux_add_seals(int descriptor, int seals) { return fcntl(descriptor, F_ADD_SEALS, seals); }

int linux_get_seals(int descriptor) { return fcntl(descriptor, F_GET_SEALS); }

bool linux_is_memory_file(int descriptor) {
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 && status.f_type == TMPFS_MAGIC;
}

int linux_keep_from_children(void *address, size_t byteCount) {
  return madvise(address, byteCount, MADV_DONTFORK);
}

int linux_populate_writable(void *address, size_t byteCount) {
  return madvise(address, byteCount, MADV_POPULATE_WRITE);
}

long linux_futex_wait_any(const struct linux_futex_wait *waits, unsigned count,
                          uint64_t deadlineNs) {
  struct futex_waitv vector[LINUX_MAXIMUM_WAITS];
  if (count > LINUX_MAXIMUM_WAITS) {
    errno = EINVAL;
    return -1;
  }
  memset(vector, 0, count * sizeof vector[0]);
  for (unsigned i = 0; i < count; i++) {
    vector[i].uaddr = (uintptr_t)waits[i].word;
    vector[i].val = waits[i].expected;
    vector[i].flags = FUTEX_32 | (waits[i].isPrivate ? FUTEX_PRIVATE_FLAG : 0);
  }
  struct timespec deadline = {.tv_sec = (time_t)(deadlineNs / 1000000000),
                              .tv_nsec = (long)(deadlineNs % 1000000000)};
  return syscall(SYS_futex_waitv, vector, count, 0,
                 deadlineNs == UINT64_MAX ? NULL : &deadline, CLOCK_MONOTONIC);
}

long linux_futex_wake(const uint32_t *word, int count, bool isPrivate) {
  return syscall(SYS_futex, word, isPrivate ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE, count);
}

int linux_one_way_socket_pair(int ends[2]) {
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) return -1;
  // The other end then has EPIPE for whatever it sends, descriptors among it.
  if (shutdown(ends[0], SHUT_RD) == 0) return 0;
  close(ends[0]);
  close(ends[1]);
  return -1;
}

bool linux_is_stream_socket(int descriptor) {
  int domain = 0, type = 0;
  socklen_t length = sizeof domain;
  if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0) return false;
  length = sizeof type;
  if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) < 0) return false;
  return domain == AF_UNIX && type == SOCK_STREAM;
}

ssize_t linux_send_message(int socket, const void *bytes, size_t byteCount,
                           const int *descriptors, unsigned descriptorCount) {
  if (descriptorCount > MAXIMUM_DESCRIPTORS) {
    errno = EINVAL;
    return -1;
  }
  struct iovec vector = {.iov_base = (void *)bytes, .iov_len = byteCount};
  union {
    char bytes[CMSG_SPACE(sizeof(int) * MAXIMUM_DESCRIPTORS)];
    struct cmsghdr alignment;
  } control;
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  if (descriptorCount > 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptorCount);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * descriptorCount);
    memcpy(CMSG_DATA(header), descriptors, sizeof(int) * descriptorCount);
  }
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t linux_receive_message(int socket, void *bytes, size_t byteCount, int *descriptors,
                              unsigned descriptorCapacity, unsigned *descriptorCount,
                              bool *isTruncated) {
  struct iovec vector = {.iov_base = bytes, .iov_len = byteCount};
  union {
    char bytes[CMSG_SPACE(sizeof(int) * MAXIMUM_DESCRIPTORS)];
    struct cmsghdr alignment;
  } control;
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  *descriptorCount = 0;
  *isTruncated = false;
  ssize_t received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received < 0) return received;
  *isTruncated = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    unsigned count = (unsigned)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (unsigned i = 0; i < count; i++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
      if (*descriptorCount < descriptorCapacity) {
        descriptors[(*descriptorCount)++] = descriptor;
      } else {
        close(descriptor);
        *isTruncated = true;
      }
    }
  }
  return received;
}

static bool set_path(struct sockaddr_un *address, const char *path) {
  size_t length = strlen(path);
  if (length >= sizeof address->sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  memcpy(address->sun_path, path, length + 1);
  return true;
}

/// bind(2) gives the new file the permissions that the umask leaves, which all threads share. A
/// child by vfork(2) has its own, shares this memory, and lets this thread wait.
static int bind_with_mask(int socket, const struct sockaddr *address, socklen_t size, mode_t mask) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  volatile int error = 0;
  pid_t child = vfork();
  if (child == 0) {
    umask(mask);
    if (bind(socket, address, size) != 0) error = errno;
    _exit(0);
  }
  if (child < 0) {
    error = errno;
  } else {
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int linux_bind_path(int socket, const char *path, mode_t mode) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!set_path(&address, path)) return -1;
  return bind_with_mask(socket, (const struct sockaddr *)&address, sizeof address, ~mode & 0777);
}

int linux_connect_path(int socket, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!set_path(&address, path)) return -1;
  return connect(socket, (const struct sockaddr *)&address, sizeof address);
}

int linux_accept(int socket) {
  return accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int linux_poll_readable(int first, int second, uint64_t deadlineNs) {
  struct pollfd entries[2] = {{.fd = first, .events = POLLIN}, {.fd = second, .events = POLLIN}};
  struct timespec left = {0};
  if (deadlineNs != UINT64_MAX) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t nowNs = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    uint64_t leftNs = deadlineNs > nowNs ? deadlineNs - nowNs : 0;
    left.tv_sec = (time_t)(leftNs / 1000000000);
    left.tv_nsec = (long)(leftNs % 1000000000);
  }
  int ready = ppoll(entries, 2, deadlineNs == UINT64_MAX ? NULL : &left, NULL);
  if (ready <= 0) return ready;
  return entries[0].revents != 0 ? 1 : 2;
}

int linux_peer_credentials(int socket, int32_t *pid, uint32_t *uid, uint32_t *gid) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  int result = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length);
  if (result == 0) {
    *pid = credentials.pid;
    *uid = credentials.uid;
    *gid = credentials.gid;
  }
  return result;
}

int linux_peer_pidfd(int socket) {
  int pidfd = -1;
  socklen_t length = sizeof pidfd;
  return getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) == 0 ? pidfd : -1;
}

int linux_refuse_descriptors(int socket) {
  int off = 0;
  return setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof off);
}

int linux_wait_readable(const int *descriptors, unsigned count, uint64_t deadlineNs) {
  struct pollfd polls[MAXIMUM_WAITS];
  if (count > MAXIMUM_WAITS) {
    errno = EINVAL;
    return -1;
  }
  for (unsigned i = 0; i < count; i++) {
    polls[i] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
  }
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t nowNs = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
  uint64_t leftNs = deadlineNs > nowNs ? deadlineNs - nowNs : 0;
  struct timespec left = {.tv_sec = (time_t)(leftNs / 1000000000),
                          .tv_nsec = (long)(leftNs % 1000000000)};
  int ready = ppoll(polls, count, deadlineNs == UINT64_MAX ? NULL : &left, NULL);
  if (ready < 0) return ready;
  unsigned index = 0;
  while (index < count && polls[index].revents == 0) index++;
  return (int)index;
}

int linux_pidfd_open(int32_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int linux_pidfd_send_signal(int pidfd, int signal) {
  return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

int linux_pidfd_queue_signal(int pidfd, int signal, bool toGroup) {
  siginfo_t info = {.si_signo = signal, .si_code = SI_QUEUE};
  info.si_pid = getpid();
  info.si_uid = getuid();
  const unsigned toProcessGroup = 1 << 2;
  unsigned flags = toGroup ? toProcessGroup : 0;
  int result = (int)syscall(SYS_pidfd_send_signal, pidfd, signal, &info, flags);
  // Before Linux 6.9 there is no such flag.
  if (result == 0 || !toGroup || errno != EINVAL) return result;
  return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, &info, 0);
}

int linux_lock_exclusively(int descriptor) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int linux_unlock(int descriptor) {
  struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int linux_sync_file_system(int descriptor) { return syncfs(descriptor); }

static int set_byte_lock(int descriptor, int64_t offset, short type) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int linux_lock_byte(int descriptor, int64_t offset) {
  return set_byte_lock(descriptor, offset, F_WRLCK);
}

int linux_unlock_byte(int descriptor, int64_t offset) {
  return set_byte_lock(descriptor, offset, F_UNLCK);
}

bool linux_is_locked(int descriptor) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int linux_rename(int directory, const char *name, const char *newName, bool isReplacing) {
  return renameat2(directory, name, directory, newName, isReplacing ? 0 : RENAME_NOREPLACE);
}

int linux_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0); }

void linux_return_free_memory(void) { malloc_trim(0); }

int linux_name_thread(const char *name) { return prctl(PR_SET_NAME, name); }

static _Thread_local const void *threadOwner;

void linux_set_thread_owner(const void *owner) { threadOwner = owner; }

const void *linux_thread_owner(void) { return threadOwner; }

int linux_processor_count(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

int linux_terminal_size(int descriptor, unsigned *columns, unsigned *rows) {
  struct winsize size;
  int result = ioctl(descriptor, TIOCGWINSZ, &size);
  if (result == 0) {
    *columns = size.ws_col;
    *rows = size.ws_row;
  }
  return result;
}

int linux_set_direct(int descriptor, bool isDirect) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return flags;
  return fcntl(descriptor, F_SETFL, isDirect ? flags | O_DIRECT : flags & ~O_DIRECT);
}

int linux_allocate(int descriptor, uint64_t offset, uint64_t byteCount) {
  return fallocate(descriptor, 0, (off_t)offset, (off_t)byteCount);
}

uint64_t linux_coarse_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
