#define _GNU_SOURCE
#include "CHTTPServer.h"

#ifdef FRAMEBUS_MEDIA
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/// The largest request head.
enum { HEAD_BYTES = 32 * 1024 };
/// A body of unknown length that exceeds the limit is read to its end, because only then can it be
/// answered. A body longer than this closes the connection.
enum { SKIPPED_BYTES = 4 * 1024 * 1024 };

struct http_server {
  struct MHD_Daemon *daemon;
  size_t maximumBodyBytes;
  http_handler handler;
  void *context;
};

/// The body of a request that is being received.
struct reception {
  char *body;
  /// Includes bytes that were too many to be kept.
  size_t bodyBytes;
};

struct header {
  char *name, *value;
};

enum { MAXIMUM_HEADERS = 16 };

struct http_exchange {
  struct header headers[MAXIMUM_HEADERS];
  unsigned headerCount;
  unsigned status;
  struct MHD_Response *response;
};

void http_exchange_add_header(http_exchange *exchange, const char *name, const char *value) {
  if (exchange->headerCount == MAXIMUM_HEADERS) return;
  exchange->headers[exchange->headerCount++] =
      (struct header){.name = strdup(name), .value = strdup(value)};
}

void http_exchange_answer(http_exchange *exchange, unsigned status, const void *body,
                          size_t bodyBytes) {
  exchange->status = status;
  // The library copies the body and does not write to the original.
  exchange->response =
      MHD_create_response_from_buffer(bodyBytes, (void *)body, MHD_RESPMEM_MUST_COPY);
}

struct lookup {
  const char *name, *value;
};

static enum MHD_Result look_up(void *context, enum MHD_ValueKind kind, const char *name,
                               const char *value) {
  (void)kind;
  struct lookup *lookup = context;
  if (strcasecmp(name, lookup->name) != 0) return MHD_YES;
  // Repeated header lines form one list (RFC 9110, section 5.3). A client that repeats a header
  // that is read here may try to make a proxy and this server read different values.
  lookup->value = lookup->value == NULL ? value : ",";
  return MHD_YES;
}

static const char *header_of(struct MHD_Connection *connection, const char *name) {
  struct lookup lookup = {.name = name};
  MHD_get_connection_values(connection, MHD_HEADER_KIND, look_up, &lookup);
  return lookup.value != NULL ? lookup.value : "";
}

/// Leaves paths escaped: the server's paths have no escapes, and a decoded 0 would end a C string.
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

/// The local address of a connection; an IPv4-mapped IPv6 address is returned as IPv4.
static void write_local_address(struct MHD_Connection *connection, char *text, socklen_t count) {
  text[0] = 0;
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  struct sockaddr_storage address = {0};
  socklen_t addressBytes = sizeof address;
  if (info == NULL ||
      getsockname(info->connect_fd, (struct sockaddr *)&address, &addressBytes) != 0)
    return;
  if (address.ss_family == AF_INET) {
    inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, text, count);
  } else {
    struct in6_addr *long_address = &((struct sockaddr_in6 *)&address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(long_address)) {
      inet_ntop(AF_INET, &long_address->s6_addr[12], text, count);
    } else {
      inet_ntop(AF_INET6, long_address, text, count);
    }
  }
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, http_exchange *exchange) {
  enum MHD_Result result = MHD_NO;
  for (unsigned i = 0; i < exchange->headerCount; i++) {
    struct header *header = &exchange->headers[i];
    if (exchange->response != NULL && header->name != NULL && header->value != NULL)
      MHD_add_response_header(exchange->response, header->name, header->value);
    free(header->name);
    free(header->value);
  }
  if (exchange->response != NULL) {
    result = MHD_queue_response(connection, exchange->status, exchange->response);
    MHD_destroy_response(exchange->response);
  }
  return result;
}

static enum MHD_Result handle(http_server *server, struct MHD_Connection *connection,
                              const char *method, const char *path,
                              const struct reception *reception) {
  char localAddress[INET6_ADDRSTRLEN];
  bool isTooLarge = reception == NULL || reception->bodyBytes > server->maximumBodyBytes;
  write_local_address(connection, localAddress, sizeof localAddress);
  struct http_request request = {
      .method = method,
      .path = path,
      .host = header_of(connection, MHD_HTTP_HEADER_HOST),
      .origin = header_of(connection, MHD_HTTP_HEADER_ORIGIN),
      .contentType = header_of(connection, MHD_HTTP_HEADER_CONTENT_TYPE),
      .ifMatch = header_of(connection, MHD_HTTP_HEADER_IF_MATCH),
      .localAddress = localAddress,
      .body = isTooLarge ? NULL : reception->body,
      .bodyBytes = isTooLarge ? 0 : reception->bodyBytes,
      .isTooLarge = isTooLarge};
  http_exchange exchange = {0};
  server->handler(server->context, &request, &exchange);
  return send_answer(connection, &exchange);
}

static enum MHD_Result receive(http_server *server, struct reception *reception,
                               const char *bytes, size_t *count) {
  size_t total = reception->bodyBytes + *count;
  if (total > SKIPPED_BYTES) return MHD_NO;
  if (total <= server->maximumBodyBytes) {
    char *grown = realloc(reception->body, total);
    if (grown == NULL) return MHD_NO;
    memcpy(grown + reception->bodyBytes, bytes, *count);
    reception->body = grown;
  } else {
    free(reception->body);
    reception->body = NULL;
  }
  reception->bodyBytes = total;
  *count = 0;
  return MHD_YES;
}

/// Called once for the head, then for each part of the body, then when the body is complete.
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *bytes, size_t *count, void **kept) {
  (void)version;
  http_server *server = context;
  if (*kept == NULL) {
    const char *length = header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (strtoull(length, NULL, 10) > server->maximumBodyBytes)
      return handle(server, connection, method, path, NULL);
    *kept = calloc(1, sizeof(struct reception));
    return *kept != NULL ? MHD_YES : MHD_NO;
  }
  if (*count > 0) return receive(server, *kept, bytes, count);
  return handle(server, connection, method, path, *kept);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **kept,
                         enum MHD_RequestTerminationCode code) {
  (void)context;
  (void)connection;
  (void)code;
  struct reception *reception = *kept;
  if (reception == NULL) return;
  free(reception->body);
  free(reception);
  *kept = NULL;
}

static bool parse(const struct http_server_options *options, struct sockaddr_storage *address) {
  struct sockaddr_in *short_address = (struct sockaddr_in *)address;
  struct sockaddr_in6 *long_address = (struct sockaddr_in6 *)address;
  if (inet_pton(AF_INET, options->address, &short_address->sin_addr) == 1) {
    short_address->sin_family = AF_INET;
    short_address->sin_port = htons(options->port);
    return true;
  }
  if (inet_pton(AF_INET6, options->address, &long_address->sin6_addr) != 1) return false;
  long_address->sin6_family = AF_INET6;
  long_address->sin6_port = htons(options->port);
  return true;
}

http_server *http_server_start(const struct http_server_options *options) {
  struct sockaddr_storage address = {0};
  if (!parse(options, &address)) {
    errno = EINVAL;
    return NULL;
  }
  http_server *server = calloc(1, sizeof *server);
  if (server == NULL) return NULL;
  server->maximumBodyBytes = options->maximumBodyBytes;
  server->handler = options->handler;
  server->context = options->context;
  // poll(), because select() does not support descriptors above 1023.
  unsigned flags =
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL;
  if (address.ss_family == AF_INET6) {
    // The wildcard address includes IPv4.
    const struct in6_addr *long_address = &((struct sockaddr_in6 *)&address)->sin6_addr;
    flags |= IN6_IS_ADDR_UNSPECIFIED(long_address) ? MHD_USE_DUAL_STACK : MHD_USE_IPv6;
  }
  struct MHD_OptionItem passed[] = {
      {MHD_OPTION_LISTEN_SOCKET, options->listeningSocket, NULL}, {MHD_OPTION_END, 0, NULL}};
  if (options->listeningSocket == 0) passed[0].option = MHD_OPTION_END;
  errno = 0;
  server->daemon = MHD_start_daemon(
      flags, options->port, NULL, NULL, on_request, server, MHD_OPTION_SOCK_ADDR,
      (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT, options->maximumConnections,
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, options->maximumConnectionsOfAddress,
      MHD_OPTION_CONNECTION_TIMEOUT, options->idleSeconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      (size_t)HEAD_BYTES, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
      MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
      MHD_OPTION_ARRAY, passed, MHD_OPTION_END);
  if (server->daemon != NULL) return server;
  int code = errno;
  free(server);
  errno = code != 0 ? code : EADDRNOTAVAIL;
  return NULL;
}

uint16_t http_server_port(http_server *server) {
  const union MHD_DaemonInfo *info =
      MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info != NULL ? info->port : 0;
}

void http_server_stop(http_server *server) {
  MHD_stop_daemon(server->daemon);
  free(server);
}

bool http_server_listening_address(int listeningSocket, char *text, size_t count, uint16_t *port) {
  struct sockaddr_storage address = {0};
  socklen_t addressBytes = sizeof address;
  int listens = 0;
  socklen_t listensBytes = sizeof listens;
  if (getsockopt(listeningSocket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listensBytes) != 0 ||
      listens == 0 ||
      getsockname(listeningSocket, (struct sockaddr *)&address, &addressBytes) != 0)
    return false;
  if (address.ss_family == AF_INET) {
    const struct sockaddr_in *short_address = (struct sockaddr_in *)&address;
    *port = ntohs(short_address->sin_port);
    return inet_ntop(AF_INET, &short_address->sin_addr, text, (socklen_t)count) != NULL;
  }
  const struct sockaddr_in6 *long_address = (struct sockaddr_in6 *)&address;
  *port = ntohs(long_address->sin6_port);
  return address.ss_family == AF_INET6 &&
         inet_ntop(AF_INET6, &long_address->sin6_addr, text, (socklen_t)count) != NULL;
}

/// Connecting a datagram socket chooses its address, but sends nothing (ip(7)). The peer is one for
/// documentation (RFC 5737).
bool http_server_outgoing_address(char *text, size_t count) {
  struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(9)};
  struct sockaddr_in own = {0};
  socklen_t ownBytes = sizeof own;
  inet_pton(AF_INET, "192.0.2.1", &peer.sin_addr);
  int number = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (number < 0) return false;
  bool isKnown = connect(number, (struct sockaddr *)&peer, sizeof peer) == 0 &&
                 getsockname(number, (struct sockaddr *)&own, &ownBytes) == 0 &&
                 inet_ntop(AF_INET, &own.sin_addr, text, (socklen_t)count) != NULL;
  close(number);
  return isKnown;
}

#else
// Without the package trait Media this file has only the declaration that ISO C requires.
typedef int http_server_is_absent;
#endif
