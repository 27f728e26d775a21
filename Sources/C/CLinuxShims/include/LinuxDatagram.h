// Datagrams of unix(7) whose receiver learns from the kernel who sent them.
#pragma once
#include <stdint.h>
#include <sys/types.h>

/// socket(2): a SOCK_DGRAM that never blocks. With `isReceiving`, SO_PASSCRED is set, and
/// SO_PASSRIGHTS is not where the kernel knows it.
int linux_datagram_socket(int isReceiving);
/// bind(2) to a name in an open directory, whose own path may be of any length.
int linux_bind_in(int socket, int directory, const char *name, mode_t mode);
/// connect(2) to a socket that an O_PATH descriptor names, and to no other.
int linux_connect_node(int socket, int node);
/// send(2) of 64-bit words, with MSG_DONTWAIT | MSG_NOSIGNAL.
ssize_t linux_send_words(int socket, const uint64_t *words, unsigned count);

enum { LINUX_DATAGRAM_WORDS = 2, LINUX_DATAGRAMS_AT_ONCE = 2 };
/// A datagram, cut to its first words. `uid` is UINT32_MAX if the kernel named no sender
/// (SCM_CREDENTIALS).
struct linux_datagram {
  uint64_t words[LINUX_DATAGRAM_WORDS];
  uint32_t byte_count;
  int32_t pid;
  uint32_t uid, gid;
};
/// recvmmsg(2) with MSG_DONTWAIT: takes at most LINUX_DATAGRAMS_AT_ONCE out, in one call.
/// Descriptors that came along are closed by the kernel. Returns how many there were, or -1 with
/// errno.
int linux_receive_datagrams(int socket, struct linux_datagram *datagrams);
