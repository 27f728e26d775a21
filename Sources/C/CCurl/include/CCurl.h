// HTTP exchanges by libcurl, bounded in time and size, and bytes carried through TLS. Swift cannot
// call libcurl's variadic functions, and its callbacks are simplest in C.
//
// Nothing here knows WHIP: it follows no redirect and adds no header that it was not given.
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

/// Told what libcurl says and what headers go either way, never the bodies. `kind` is libcurl's
/// `curl_infotype`; the text is no string of C, and holds the bearer where it is a header that is
/// sent.
typedef void (*curl_listener)(void *context, unsigned kind, const char *text, size_t count);

/// A server, how it is to be reached, and until when.
struct curl_server {
  const char *url;
  /// A file of certificates to trust instead of the system's, or NULL.
  const char *certificates;
  /// Goes to the address itself, whatever proxy the environment names.
  bool isDirect;
  /// Ends what is under way when it becomes readable; -1 for none.
  int stopDescriptor;
  /// Of CLOCK_MONOTONIC: of an exchange, or of the beginning of a tunnel.
  uint64_t deadlineNs;
  /// libcurl's own words, unless answered.
  char message[256];
};

struct curl_exchange {
  struct curl_server server;
  const char *method;
  /// Lines such as "Content-Type: application/sdp", each ended by a newline.
  const char *headers;
  /// Secret, without a final zero; NULL for none.
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
  /// The lines of the header, as they came.
  char *header;
  size_t headerBytes;
};

typedef struct curl_client curl_client;

/// Keeps connections between exchanges. NULL without memory. One thread at a time may use it.
curl_client *curl_client_create(void);
curl_outcome curl_client_run(curl_client *client, struct curl_exchange *exchange);
/// Frees what an exchange was answered.
void curl_exchange_clear(struct curl_exchange *exchange);
void curl_client_destroy(curl_client *client);

/// Connects by TLS, and carries bytes between the server and `local`, a connected socket that does
/// not block, until one of the two closes: then the outcome is CURL_ANSWERED. With -1 for `local`
/// it only connects.
curl_outcome curl_tunnel_run(struct curl_server *server, int local);

/// A socket that listens on 127.0.0.1, and its port; -1 with errno.
int curl_tunnel_listen(uint16_t *port);
/// A connection to `listener`, which does not block; -1 with errno.
int curl_tunnel_accept(int listener);
