#define _GNU_SOURCE
#include "LinuxDatagram.h"

#include "CLinuxShims.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int linux_datagram_socket(int isReceiving) {
  int number = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (number < 0 || !isReceiving) return number;
  int on = 1;
  if (setsockopt(number, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0) {
    close(number);
    return -1;
  }
  linux_refuse_descriptors(number);
  return number;
}

int linux_bind_in(int socket, int directory, const char *name) {
  char path[108];
  int length = snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, name);
  return linux_bind_path(socket, length < (int)sizeof path ? path : name);
}

int linux_connect_node(int socket, int node) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", node);
  return linux_connect_path(socket, path);
}

ssize_t linux_send_words(int socket, const uint64_t *words, unsigned count) {
  return send(socket, words, count * sizeof *words, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t linux_receive_words(int socket, uint64_t *words, unsigned count,
                            struct linux_sender *sender) {
  struct iovec vector = {.iov_base = words, .iov_len = count * sizeof *words};
  // Room for the credentials and nothing else, so that no descriptor is ever installed.
  union {
    char bytes[CMSG_SPACE(sizeof(struct ucred))];
    struct cmsghdr alignment;
  } control;
  struct msghdr message = {.msg_iov = &vector,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  *sender = (struct linux_sender){.pid = 0, .uid = UINT32_MAX, .gid = UINT32_MAX};
  ssize_t received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received < 0) return received;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header != NULL && header->cmsg_level == SOL_SOCKET &&
      header->cmsg_type == SCM_CREDENTIALS && header->cmsg_len == CMSG_LEN(sizeof(struct ucred))) {
    struct ucred credentials;
    memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
    *sender = (struct linux_sender){
        .pid = credentials.pid, .uid = credentials.uid, .gid = credentials.gid};
  }
  return received;
}
