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

int linux_bind_in(int socket, int directory, const char *name, mode_t mode) {
  char path[108];
  int length = snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, name);
  return linux_bind_path(socket, length < (int)sizeof path ? path : name, mode);
}

int linux_connect_node(int socket, int node) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", node);
  return linux_connect_path(socket, path);
}

ssize_t linux_send_words(int socket, const uint64_t *words, unsigned count) {
  return send(socket, words, count * sizeof *words, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Room for the credentials and nothing else, so that no descriptor is ever installed.
union control {
  char bytes[CMSG_SPACE(sizeof(struct ucred))];
  struct cmsghdr alignment;
};

static void note_sender(struct msghdr *message, struct linux_datagram *datagram) {
  struct ucred credentials = {.pid = 0, .uid = UINT32_MAX, .gid = UINT32_MAX};
  struct cmsghdr *header = CMSG_FIRSTHDR(message);
  if (header != NULL && header->cmsg_level == SOL_SOCKET &&
      header->cmsg_type == SCM_CREDENTIALS && header->cmsg_len == CMSG_LEN(sizeof credentials)) {
    memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
  }
  datagram->pid = credentials.pid;
  datagram->uid = credentials.uid;
  datagram->gid = credentials.gid;
}

int linux_receive_datagrams(int socket, struct linux_datagram *datagrams) {
  struct iovec vectors[LINUX_DATAGRAMS_AT_ONCE];
  union control controls[LINUX_DATAGRAMS_AT_ONCE];
  struct mmsghdr messages[LINUX_DATAGRAMS_AT_ONCE];
  for (int each = 0; each < LINUX_DATAGRAMS_AT_ONCE; each++) {
    vectors[each] = (struct iovec){datagrams[each].words, sizeof datagrams[each].words};
    messages[each].msg_hdr = (struct msghdr){.msg_iov = &vectors[each],
                                             .msg_iovlen = 1,
                                             .msg_control = controls[each].bytes,
                                             .msg_controllen = sizeof controls[each].bytes};
  }
  int count = recvmmsg(socket, messages, LINUX_DATAGRAMS_AT_ONCE, MSG_DONTWAIT | MSG_CMSG_CLOEXEC,
                       NULL);
  for (int each = 0; each < count; each++) {
    datagrams[each].byte_count = messages[each].msg_len;
    note_sender(&messages[each].msg_hdr, &datagrams[each]);
  }
  return count;
}
