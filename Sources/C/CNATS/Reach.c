#define _GNU_SOURCE
#include "CNATS.h"

#ifdef FRAMEBUS_MEDIA
#include "Link.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Connects to one address; returns an error number, 0 for success.
static int try_address(const struct addrinfo *address) {
  int descriptor =
      socket(address->ai_family, address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return errno;
  int error = connect(descriptor, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    struct pollfd wait = {.fd = descriptor, .events = POLLOUT};
    socklen_t count = sizeof error;
    if (poll(&wait, 1, 2000) != 1) {
      error = ETIMEDOUT;
    } else if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &count) < 0) {
      error = errno;
    }
  }
  close(descriptor);
  return error;
}

bool fb_nats_explain(const char *host, int port, char *message) {
  char name[256], service[8];
  size_t count = strlen(host);
  bool is_bracketed = count > 1 && host[0] == '[';
  snprintf(name, sizeof name, "%s", host + is_bracketed);
  if (is_bracketed && strlen(name) > 0) name[strlen(name) - 1] = 0;
  snprintf(service, sizeof service, "%d", port);
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  struct addrinfo *addresses = NULL;
  int found = getaddrinfo(name, service, &hints, &addresses);
  if (found != 0) {
    snprintf(message, FB_NATS_MESSAGE_BYTES, "%s", gai_strerror(found));
    return true;
  }
  // Of several addresses, the last one speaks for all.
  int error = 0;
  for (struct addrinfo *each = addresses; each != NULL; each = each->ai_next) {
    error = try_address(each);
    if (error == 0) break;
  }
  freeaddrinfo(addresses);
  // It accepts connections now: the caller's message stands.
  if (error == 0) return false;
  snprintf(message, FB_NATS_MESSAGE_BYTES, "%s", strerror(error));
  return true;
}
#endif
