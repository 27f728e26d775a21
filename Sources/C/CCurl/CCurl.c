#define _GNU_SOURCE
#include "CCurl.h"

#ifdef FRAMEBUS_MEDIA
#include "CurlDrive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// Sets an option, unless one before it failed.
#define SET(option, value) \
  if (failed == CURLE_OK) failed = curl_easy_setopt(easy, option, value)

struct curl_client {
  CURLM *multi;
};

/// A buffer that grows up to a limit.
struct gathered {
  char **bytes;
  size_t *count;
  size_t limit;
  bool isFull;
};

static size_t gather(char *bytes, size_t size, size_t count, void *context) {
  struct gathered *into = context;
  size_t more = size * count;
  if (more > into->limit - *into->count) {
    into->isFull = true;
    return 0;
  }
  char *grown = realloc(*into->bytes, *into->count + more + 1);
  if (grown == NULL) return 0;
  memcpy(grown + *into->count, bytes, more);
  *into->bytes = grown;
  *into->count += more;
  return more;
}

curl_client *curl_client_create(void) {
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return NULL;
  curl_client *client = calloc(1, sizeof *client);
  if (client == NULL) return NULL;
  client->multi = curl_multi_init();
  if (client->multi != NULL) return client;
  free(client);
  return NULL;
}

static int64_t milliseconds_until(uint64_t deadlineNs) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t nowNs = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  return deadlineNs <= nowNs ? 0 : (int64_t)((deadlineNs - nowNs) / 1000000u) + 1;
}

curl_outcome curl_outcome_of(CURLcode code, bool isFull) {
  switch (code) {
    case CURLE_OK: return CURL_ANSWERED;
    case CURLE_OPERATION_TIMEDOUT: return CURL_TIMED_OUT;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY: return CURL_UNRESOLVABLE;
    case CURLE_COULDNT_CONNECT: return CURL_UNREACHABLE;
    case CURLE_PEER_FAILED_VERIFICATION: return CURL_CERTIFICATE;
    case CURLE_SSL_CACERT_BADFILE: return CURL_CA_UNREADABLE;
    // A header line of the answer exceeds libcurl's limit of 100 KB. libcurl has no error code for
    // this before 8.6.
    case CURLE_OUT_OF_MEMORY: return CURL_HEADER_TOO_LONG;
#if LIBCURL_VERSION_NUM >= 0x080600
    case CURLE_TOO_LARGE: return CURL_HEADER_TOO_LONG;
#endif
    case CURLE_WRITE_ERROR: return isFull ? CURL_TOO_LARGE : CURL_BROKEN;
    default: return CURL_BROKEN;
  }
}

CURLcode curl_prepare(CURL *easy, struct curl_server *server, const char *protocols) {
  CURLcode failed = CURLE_OK;
  SET(CURLOPT_URL, server->url);
  SET(CURLOPT_PROTOCOLS_STR, protocols);
  SET(CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700  // 7.87.0
  // After the deadline, do not wait for the resolver's thread.
  SET(CURLOPT_QUICK_EXIT, 1L);
#endif
  SET(CURLOPT_ERRORBUFFER, server->message);
  if (server->certificates != NULL) SET(CURLOPT_CAINFO, server->certificates);
  if (server->isDirect) SET(CURLOPT_PROXY, "");
  return failed;
}

void curl_keep_words(struct curl_server *server, CURLcode code) {
  if (server->message[0] == 0)
    strncpy(server->message, curl_easy_strerror(code), sizeof server->message - 1);
}

curl_outcome curl_drive(CURLM *multi, const struct curl_server *server, CURLcode *code) {
  struct curl_waitfd stop = {.fd = server->stopDescriptor, .events = CURL_WAIT_POLLIN};
  unsigned stopCount = server->stopDescriptor >= 0 ? 1 : 0;
  for (;;) {
    int running = 0;
    if (curl_multi_perform(multi, &running) != CURLM_OK) return CURL_BROKEN;
    if (running == 0) break;
    int64_t left = milliseconds_until(server->deadlineNs);
    if (left == 0) return CURL_TIMED_OUT;
    stop.revents = 0;
    int timeout = left > 1000 ? 1000 : (int)left;
    if (curl_multi_poll(multi, &stop, stopCount, timeout, NULL) != CURLM_OK)
      return CURL_BROKEN;
    if (stop.revents != 0) return CURL_STOPPED;
  }
  int queued = 0;
  CURLMsg *message = curl_multi_info_read(multi, &queued);
  if (message == NULL || message->msg != CURLMSG_DONE) return CURL_BROKEN;
  *code = message->data.result;
  return CURL_ANSWERED;
}

static int pass_on(CURL *easy, curl_infotype kind, char *text, size_t count, void *context) {
  (void)easy;
  struct curl_exchange *exchange = context;
  if (kind == CURLINFO_TEXT || kind == CURLINFO_HEADER_IN || kind == CURLINFO_HEADER_OUT)
    exchange->listener(exchange->listenerContext, (unsigned)kind, text, count);
  return 0;
}

static bool prepare(CURL *easy, struct curl_exchange *exchange, struct curl_slist *lines,
                    struct gathered *answer, struct gathered *header) {
  CURLcode failed = curl_prepare(easy, &exchange->server, "http,https");
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  // libcurl's HTTP/2 code passes request headers, including the bearer token, to the listener as
  // its own messages; and a few small requests gain nothing from HTTP/2.
  SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  SET(CURLOPT_CUSTOMREQUEST, exchange->method);
  SET(CURLOPT_HTTPHEADER, lines);
  SET(CURLOPT_WRITEFUNCTION, gather);
  SET(CURLOPT_WRITEDATA, answer);
  SET(CURLOPT_HEADERFUNCTION, gather);
  SET(CURLOPT_HEADERDATA, header);
  if (exchange->bodyBytes > 0) {
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)exchange->bodyBytes);
    SET(CURLOPT_POSTFIELDS, exchange->body);
  }
  if (exchange->listener != NULL) {
    SET(CURLOPT_DEBUGFUNCTION, pass_on);
    SET(CURLOPT_DEBUGDATA, exchange);
    SET(CURLOPT_VERBOSE, 1L);
  }
  return failed == CURLE_OK;
}

static bool append_line(struct curl_slist **lines, const char *line) {
  struct curl_slist *longer = curl_slist_append(*lines, line);
  if (longer == NULL) return false;
  *lines = longer;
  return true;
}

/// Makes the header lines of a request. False if out of memory.
static bool make_lines(struct curl_slist **lines, const struct curl_exchange *exchange) {
  char *line = NULL;
  for (const char *start = exchange->headers, *end; (end = strchr(start, '\n')) != NULL;
       start = end + 1) {
    line = strndup(start, (size_t)(end - start));
    bool isAppended = line != NULL && append_line(lines, line);
    free(line);
    if (!isAppended) return false;
  }
  // Otherwise libcurl waits a second for a status 100, which few servers send.
  if (!append_line(lines, "Expect:")) return false;
  if (exchange->bearer == NULL) return true;
  int length = asprintf(&line, "Authorization: Bearer %.*s", (int)exchange->bearerBytes,
                        exchange->bearer);
  if (length < 0) return false;
  bool isAppended = append_line(lines, line);
  explicit_bzero(line, (size_t)length);
  free(line);
  return isAppended;
}

/// Wipes and frees lines, which may hold a secret.
static void wipe(struct curl_slist *lines) {
  for (struct curl_slist *line = lines; line != NULL; line = line->next)
    explicit_bzero(line->data, strlen(line->data));
  curl_slist_free_all(lines);
}

curl_outcome curl_client_run(curl_client *client, struct curl_exchange *exchange) {
  struct gathered answer = {.bytes = &exchange->answer,
                            .count = &exchange->answerBytes,
                            .limit = exchange->maximumBodyBytes};
  struct gathered header = {.bytes = &exchange->header,
                            .count = &exchange->headerBytes,
                            .limit = exchange->maximumHeaderBytes};
  CURL *easy = curl_easy_init();
  if (easy == NULL) return CURL_BROKEN;
  struct curl_slist *lines = NULL;
  curl_outcome outcome = CURL_BROKEN;
  CURLcode code = CURLE_FAILED_INIT;
  if (make_lines(&lines, exchange) && prepare(easy, exchange, lines, &answer, &header) &&
      curl_multi_add_handle(client->multi, easy) == CURLM_OK) {
    outcome = curl_drive(client->multi, &exchange->server, &code);
    if (outcome == CURL_ANSWERED) outcome = curl_outcome_of(code, answer.isFull || header.isFull);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &exchange->status);
    curl_multi_remove_handle(client->multi, easy);
  }
  if (outcome == CURL_BROKEN) curl_keep_words(&exchange->server, code);
  curl_easy_cleanup(easy);
  wipe(lines);
  return outcome;
}

void curl_exchange_clear(struct curl_exchange *exchange) {
  free(exchange->answer);
  free(exchange->header);
  exchange->answer = exchange->header = NULL;
}

void curl_client_destroy(curl_client *client) {
  curl_multi_cleanup(client->multi);
  free(client);
}

#else
// Without the package trait Media this file has only the declaration that ISO C requires.
typedef int curl_client_is_absent;
#endif
