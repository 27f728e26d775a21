// Stands between libnats and the C library: a program's own definitions of connect(2), recv(2) and
// OpenSSL's calls come before those of the libraries (ld.so(8)). Only calls from libnats are
// checked; all others are passed on unchanged.
#define _GNU_SOURCE
#include "CNATSGuard.h"

#ifdef FRAMEBUS_MEDIA
#include "Link.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum {
  MOST_DESCRIPTORS = 1024,
  /// As libnats's own timeout for a connection's setup.
  SETUP_MS = 5000,
};

struct guarded_socket {
  struct fb_nats_guard guard;
  int64_t setup_ends_ms;
};

typedef int connect_call(int, const struct sockaddr *, socklen_t);
typedef ssize_t recv_call(int, void *, size_t, int);
typedef int ssl_transfer(void *, void *, int);
typedef int ssl_call(void *);

static connect_call *real_connect;
static recv_call *real_recv;
static ssl_transfer *real_ssl_read;
static ssl_call *real_ssl_do_handshake, *ssl_get_fd;
static int (*ssl_get_error)(const void *, int);
static uintptr_t library_begin, library_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(struct guarded_socket *) sockets[MOST_DESCRIPTORS];
static _Atomic(const char *) newest_fault;

static int find_library(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  uintptr_t inside = (uintptr_t)context;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[index];
    uintptr_t begin = info->dlpi_addr + part->p_vaddr;
    if (part->p_type != PT_LOAD || inside < begin || inside >= begin + part->p_memsz) continue;
    library_begin = begin;
    library_end = begin + part->p_memsz;
    return 1;
  }
  return 0;
}

static void find(void) {
  *(void **)&real_connect = dlsym(RTLD_NEXT, "connect");
  *(void **)&real_recv = dlsym(RTLD_NEXT, "recv");
  *(void **)&real_ssl_read = dlsym(RTLD_NEXT, "SSL_read");
  *(void **)&real_ssl_do_handshake = dlsym(RTLD_NEXT, "SSL_do_handshake");
  *(void **)&ssl_get_fd = dlsym(RTLD_DEFAULT, "SSL_get_fd");
  *(void **)&ssl_get_error = dlsym(RTLD_DEFAULT, "SSL_get_error");
  // A function whose address this program does not provide itself.
  void *inside = dlsym(RTLD_DEFAULT, "natsConnection_Connect");
  dl_iterate_phdr(find_library, inside);
}

/// Whether the code at an address is libnats's.
static bool is_library(const void *address) {
  pthread_once(&once, find);
  return (uintptr_t)address >= library_begin && (uintptr_t)address < library_end;
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct guarded_socket *socket_of(int descriptor) {
  bool is_known = descriptor >= 0 && descriptor < MOST_DESCRIPTORS;
  return is_known ? atomic_load(&sockets[descriptor]) : NULL;
}

const char *fb_nats_take_fault(void) { return atomic_exchange(&newest_fault, NULL); }

/// What libnats gets to see of a read: `count`, or 0 for the end of the connection.
static int checked(struct guarded_socket *socket, const void *bytes, int count) {
  if (socket == NULL) return 0;
  if (count > 0 && fb_nats_guard_check(&socket->guard, bytes, (size_t)count)) return count;
  if (count <= 0) {
    // libnats 3.4 would read on for ever.
    if (socket->guard.is_set_up || now_ms() < socket->setup_ends_ms) return count;
    socket->guard.fault = "it did not answer in time";
  }
  atomic_store(&newest_fault, socket->guard.fault);
  return 0;
}

int connect(int descriptor, const struct sockaddr *address, socklen_t count) {
  if (is_library(__builtin_return_address(0))) {
    struct guarded_socket *socket = calloc(1, sizeof *socket);
    if (socket == NULL || descriptor < 0 || descriptor >= MOST_DESCRIPTORS) {
      free(socket);
      errno = EMFILE;
      return -1;
    }
    socket->setup_ends_ms = now_ms() + SETUP_MS;
    // The descriptor's earlier connection is closed, so nothing reads it any more.
    free(atomic_exchange(&sockets[descriptor], socket));
  }
  return real_connect(descriptor, address, count);
}

ssize_t recv(int descriptor, void *bytes, size_t count, int flags) {
  bool is_checked = is_library(__builtin_return_address(0));
  ssize_t received = real_recv(descriptor, bytes, count, flags);
  if (!is_checked) return received;
  int error = errno;
  received = checked(socket_of(descriptor), bytes, (int)received);
  errno = error;
  return received;
}

int SSL_read(void *ssl, void *bytes, int count) {
  bool is_checked = is_library(__builtin_return_address(0));
  int received = real_ssl_read(ssl, bytes, count);
  if (!is_checked) return received;
  int error = errno;
  received = checked(socket_of(ssl_get_fd(ssl)), bytes, received);
  errno = error;
  return received;
}

/// libnats waits for the other side without a timeout.
int SSL_do_handshake(void *ssl) {
  if (!is_library(__builtin_return_address(0))) return real_ssl_do_handshake(ssl);
  int descriptor = ssl_get_fd(ssl);
  struct guarded_socket *socket = socket_of(descriptor);
  int flags = fcntl(descriptor, F_GETFL);
  if (socket == NULL || flags < 0) return -1;
  fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
  int result;
  while ((result = real_ssl_do_handshake(ssl)) != 1) {
    enum { WANTS_READ = 2, WANTS_WRITE = 3 };  // SSL_get_error(3)
    int error = ssl_get_error(ssl, result);
    if (error != WANTS_READ && error != WANTS_WRITE) break;
    struct pollfd wait = {
        .fd = descriptor, .events = error == WANTS_READ ? POLLIN : POLLOUT};
    int64_t left = socket->setup_ends_ms - now_ms();
    if (left <= 0 || poll(&wait, 1, (int)left) == 0) {
      atomic_store(&newest_fault, "it did not finish the TLS handshake in time");
      break;
    }
  }
  fcntl(descriptor, F_SETFL, flags);
  return result;
}
#endif
