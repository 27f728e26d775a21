// An HTTP server by libmicrohttpd: requests come whole and bounded, answers go whole.
//
// Nothing here knows a path, a token or a media type. Every connection has a thread of its own, so
// a handler may wait; how many there are, how long they may be silent and how much memory a head
// may take is bounded.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A request, valid during the call. Texts that the client did not send are empty.
struct http_request {
  const char *method;
  const char *path;
  const char *host;
  const char *origin;
  const char *contentType;
  const char *ifMatch;
  /// The address of this machine that the client reached.
  const char *localAddress;
  const void *body;
  size_t bodyBytes;
  /// The body is longer than the server takes; it was not read.
  bool isTooLarge;
};

typedef struct http_exchange http_exchange;

/// Called for each request, on its connection's thread. It adds headers and answers once.
typedef void (*http_handler)(void *context, const struct http_request *request,
                             http_exchange *exchange);

void http_exchange_add_header(http_exchange *exchange, const char *name, const char *value);
/// Copies the body.
void http_exchange_answer(http_exchange *exchange, unsigned status, const void *body,
                          size_t bodyBytes);

typedef struct http_server http_server;

struct http_server_options {
  /// Of IPv4, or of IPv6 without brackets.
  const char *address;
  /// 0: any that is free.
  uint16_t port;
  unsigned maximumConnections;
  /// 0: as many as there may be at all.
  unsigned maximumConnectionsOfAddress;
  unsigned idleSeconds;
  size_t maximumBodyBytes;
  http_handler handler;
  void *context;
};

/// NULL, with errno: why it does not listen.
http_server *http_server_start(const struct http_server_options *options);
uint16_t http_server_port(http_server *server);
/// Closes every connection, and waits for the handlers that still run.
void http_server_stop(http_server *server);
