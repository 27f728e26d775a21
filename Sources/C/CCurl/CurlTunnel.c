#define _GNU_SOURCE
#include "CCurl.h"

#ifdef FRAMEBUS_MEDIA
#include "CurlDrive.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Buffered bytes of one direction.
struct flow {
  char bytes[16 * 1024];
  size_t start, end;
};

typedef enum { MOVED, STUCK, CLOSED } progress;

static bool is_empty(const struct flow *flow) { return flow->start == flow->end; }

static progress fill(struct flow *flow, ssize_t count) {
  if (count > 0) {
    flow->start = 0;
    flow->end = (size_t)count;
    return MOVED;
  }
  return count < 0 && (errno == EAGAIN || errno == EINTR) ? STUCK : CLOSED;
}

static progress drain(struct flow *flow, ssize_t count) {
  if (count >= 0) {
    flow->start += (size_t)count;
    return MOVED;
  }
  return errno == EAGAIN || errno == EINTR ? STUCK : CLOSED;
}

/// Translates libcurl's result of a read or write to that of a socket.
static ssize_t as_socket(CURLcode code, size_t count) {
  if (code == CURLE_OK) return (ssize_t)count;
  errno = code == CURLE_AGAIN ? EAGAIN : EIO;
  return -1;
}

/// Forwards bytes from `local` to the server without blocking.
static progress move_out(CURL *easy, int local, struct flow *flow) {
  for (;;) {
    if (is_empty(flow)) {
      progress step = fill(flow, read(local, flow->bytes, sizeof flow->bytes));
      if (step != MOVED) return step;
    }
    size_t count = 0;
    CURLcode code =
        curl_easy_send(easy, flow->bytes + flow->start, flow->end - flow->start, &count);
    progress step = drain(flow, as_socket(code, count));
    if (step != MOVED) return step;
  }
}

/// Forwards bytes from the server to `local`, until libcurl has no decrypted bytes left.
static progress move_in(CURL *easy, int local, struct flow *flow) {
  for (;;) {
    if (is_empty(flow)) {
      size_t count = 0;
      CURLcode code = curl_easy_recv(easy, flow->bytes, sizeof flow->bytes, &count);
      progress step = fill(flow, as_socket(code, count));
      if (step != MOVED) return step;
    }
    size_t left = flow->end - flow->start;
    progress step = drain(flow, send(local, flow->bytes + flow->start, left, MSG_NOSIGNAL));
    if (step != MOVED) return step;
  }
}

static curl_outcome carry(CURL *easy, int local, int stopDescriptor) {
  curl_socket_t server = CURL_SOCKET_BAD;
  if (curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &server) != CURLE_OK) return CURL_BROKEN;
  struct flow out = {.end = 0}, in = {.end = 0};
  for (bool isHungUp = false;;) {
    if (move_out(easy, local, &out) == CLOSED || move_in(easy, local, &in) == CLOSED || isHungUp)
      return CURL_ANSWERED;
    // A side is read only if there is room for its bytes.
    struct pollfd polled[] = {
        {.fd = stopDescriptor, .events = POLLIN},
        {.fd = local,
         .events = (short)((is_empty(&out) ? POLLIN : 0) | (is_empty(&in) ? 0 : POLLOUT))},
        {.fd = server,
         .events = (short)((is_empty(&in) ? POLLIN : 0) | (is_empty(&out) ? 0 : POLLOUT))},
    };
    if (poll(polled, 3, -1) < 0 && errno != EINTR) return CURL_BROKEN;
    if (polled[0].revents != 0) return CURL_STOPPED;
    // Received bytes are forwarded once more; bytes that cannot be sent now are lost.
    isHungUp = ((polled[1].revents | polled[2].revents) & (POLLERR | POLLHUP)) != 0;
  }
}

static bool prepare(CURL *easy, struct curl_server *server) {
  return curl_prepare(easy, server, "https") == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L) == CURLE_OK;
}

curl_outcome curl_tunnel_run(struct curl_server *server, int local) {
  CURLM *multi = curl_multi_init();
  CURL *easy = curl_easy_init();
  curl_outcome outcome = CURL_BROKEN;
  CURLcode code = CURLE_FAILED_INIT;
  if (multi != NULL && easy != NULL && prepare(easy, server) &&
      curl_multi_add_handle(multi, easy) == CURLM_OK) {
    outcome = curl_drive(multi, server, &code);
    if (outcome == CURL_ANSWERED) outcome = curl_outcome_of(code, false);
    if (outcome == CURL_ANSWERED && local >= 0)
      outcome = carry(easy, local, server->stopDescriptor);
    curl_multi_remove_handle(multi, easy);
  }
  if (outcome == CURL_BROKEN) curl_keep_words(server, code);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  return outcome;
}

int curl_tunnel_listen(uint16_t *port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return -1;
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 8) == 0 &&
      getsockname(listener, (struct sockaddr *)&address, &length) == 0) {
    *port = ntohs(address.sin_port);
    return listener;
  }
  int code = errno;
  close(listener);
  errno = code;
  return -1;
}

int curl_tunnel_accept(int listener) {
  return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

#else
typedef int curl_tunnel_is_absent;
#endif
