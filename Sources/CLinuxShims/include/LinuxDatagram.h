// Datagrams of unix(7) whose receiver learns from the kernel who sent them.
#pragma once
#include <stdint.h>
#include <sys/types.h>

/// socket(2): a SOCK_DGRAM that never blocks. With `isReceiving`, SO_PASSCRED is set, and
/// SO_PASSRIGHTS is not where the kernel knows it.
int linux_datagram_socket(int isReceiving);
/// bind(2) to a name in an open directory, whose own path may be of any length.
int linux_bind_in(int socket, int directory, const char *name);
/// connect(2) to a socket that an O_PATH descriptor names, and to no other.
int linux_connect_node(int socket, int node);
/// Who sent a datagram: SCM_CREDENTIALS.
struct linux_sender {
  int32_t pid;
  uint32_t uid, gid;
};
/// send(2) and recvmsg(2) of 64-bit words, with MSG_DONTWAIT | MSG_NOSIGNAL. Both return how many
/// bytes went or came, or -1 with errno; a longer datagram than there is room for is cut short, and
/// descriptors that came along are closed by the kernel. The sender's uid is UINT32_MAX if the
/// kernel named none.
ssize_t linux_send_words(int socket, const uint64_t *words, unsigned count);
ssize_t linux_receive_words(int socket, uint64_t *words, unsigned count,
                            struct linux_sender *sender);
