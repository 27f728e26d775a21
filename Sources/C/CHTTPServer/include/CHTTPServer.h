// An HTTP server by libmicrohttpd. Requests are complete and bounded; answers are sent as a whole.
//
// Nothing here knows a path, a token or a media type. Every connection has its own thread, so a
// handler may block. The number of connections, their idle time and the size of request heads are
// bounded.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A request, valid during the call. Headers that the client did not send are empty strings.
struct http_request {
  const char *method;
  const char *path;
  const char *host;
  const char *origin;
  const char *contentType;
  const char *ifMatch;
  /// The address of this machine that the client connected to.
  const char *localAddress;
  const void *body;
  size_t bodyBytes;
  /// The body exceeds the server's limit and was not kept.
  bool isTooLarge;
};

typedef struct http_exchange http_exchange;

/// Called for each request, on the thread of its connection. It adds headers and answers once.
typedef void (*http_handler)(void *context, const struct http_request *request,
                             http_exchange *exchange);

void http_exchange_add_header(http_exchange *exchange, const char *name, const char *value);
/// Copies the body.
void http_exchange_answer(http_exchange *exchange, unsigned status, const void *body,
                          size_t bodyBytes);

typedef struct http_server http_server;

struct http_server_options {
  /// An IPv4 address, or an IPv6 address without brackets.
  const char *address;
  /// 0 means any free port.
  uint16_t port;
  /// A socket that listens at that address already, which the server closes; 0 means none.
  int listeningSocket;
  unsigned maximumConnections;
  /// 0 means no limit for an address.
  unsigned maximumConnectionsOfAddress;
  unsigned idleSeconds;
  size_t maximumBodyBytes;
  http_handler handler;
  void *context;
};

/// Starts a server. NULL and errno on failure.
http_server *http_server_start(const struct http_server_options *options);
uint16_t http_server_port(http_server *server);
/// Closes every connection, and waits for running handlers.
void http_server_stop(http_server *server);

/// Writes the address at which a socket listens. False if it does not listen for IPv4 or IPv6.
bool http_server_listening_address(int listeningSocket, char *text, size_t count, uint16_t *port);

/// Writes the address with which this machine reaches others, by its default route. Sends nothing.
bool http_server_outgoing_address(char *text, size_t count);
