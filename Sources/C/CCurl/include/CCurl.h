// HTTP exchanges by libcurl, bounded in time and size, and TLS tunnels. Swift cannot call libcurl's
// variadic functions, and its callbacks are simplest in C.
//
// Nothing here knows WHIP: it follows no redirects and adds no headers of its own.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  CURL_ANSWERED,
  CURL_STOPPED,
  CURL_TIMED_OUT,
  CURL_UNRESOLVABLE,
  CURL_UNREACHABLE,
  CURL_CERTIFICATE,
  CURL_CA_UNREADABLE,
  CURL_TOO_LARGE,
  CURL_HEADER_TOO_LONG,
  CURL_BROKEN,
} curl_outcome;

/// Receives libcurl's messages and the headers of both sides, never the bodies. `kind` is libcurl's
/// `curl_infotype`; the text is not NUL-terminated, and a request header contains the bearer token.
typedef void (*curl_listener)(void *context, unsigned kind, const char *text, size_t count);

/// A server, how to connect to it, and a deadline.
struct curl_server {
  const char *url;
  /// A file of certificates to trust instead of the system's, or NULL.
  const char *certificates;
  /// Connects directly, even if the environment names a proxy.
  bool isDirect;
  /// Stops the exchange or tunnel when it becomes readable; -1 for none.
  int stopDescriptor;
  /// By CLOCK_MONOTONIC; for an exchange, or for connecting a tunnel.
  uint64_t deadlineNs;
  /// libcurl's message, unless the outcome is CURL_ANSWERED.
  char message[256];
};

struct curl_exchange {
  struct curl_server server;
  const char *method;
  /// Lines such as "Content-Type: application/sdp", each ended by a newline.
  const char *headers;
  /// Secret, not NUL-terminated; NULL for none.
  const char *bearer;
  size_t bearerBytes;
  const char *body;
  size_t bodyBytes;
  size_t maximumBodyBytes;
  size_t maximumHeaderBytes;
  /// NULL for none.
  curl_listener listener;
  void *listenerContext;

  /// The answer, once the outcome is CURL_ANSWERED; freed by `curl_exchange_clear`.
  long status;
  char *answer;
  size_t answerBytes;
  /// The lines of the header, as received.
  char *header;
  size_t headerBytes;
};

typedef struct curl_client curl_client;

/// Keeps connections between exchanges. NULL if out of memory. One thread at a time may use it.
curl_client *curl_client_create(void);
curl_outcome curl_client_run(curl_client *client, struct curl_exchange *exchange);
/// Frees the answer of an exchange.
void curl_exchange_clear(struct curl_exchange *exchange);
void curl_client_destroy(curl_client *client);

/// A TLS connection. One thread at a time may use it.
typedef struct curl_tunnel curl_tunnel;

/// NULL if out of memory.
curl_tunnel *curl_tunnel_create(void);
curl_outcome curl_tunnel_connect(curl_tunnel *tunnel, struct curl_server *server);
/// The socket of a connected tunnel, to wait for; -1 on failure.
int curl_tunnel_socket(curl_tunnel *tunnel);
/// Sends or receives without blocking. Returns the number of bytes, or one of the two below.
ptrdiff_t curl_tunnel_send(curl_tunnel *tunnel, const void *bytes, size_t count);
ptrdiff_t curl_tunnel_receive(curl_tunnel *tunnel, void *bytes, size_t count);
enum {
  /// Nothing can be moved now.
  CURL_TUNNEL_WAIT = -1,
  /// The connection has ended.
  CURL_TUNNEL_CLOSED = -2,
};
/// Closes the connection.
void curl_tunnel_destroy(curl_tunnel *tunnel);
