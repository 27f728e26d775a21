#define _GNU_SOURCE
#include "CCurl.h"

#ifdef FRAMEBUS_MEDIA
#include "CurlDrive.h"

#include <stdlib.h>

struct curl_tunnel {
  CURLM *multi;
  CURL *easy;
};

static bool prepare(CURL *easy, struct curl_server *server) {
  return curl_prepare(easy, server, "https") == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L) == CURLE_OK;
}

curl_tunnel *curl_tunnel_create(void) {
  curl_tunnel *tunnel = calloc(1, sizeof *tunnel);
  if (tunnel == NULL) return NULL;
  tunnel->multi = curl_multi_init();
  tunnel->easy = curl_easy_init();
  if (tunnel->multi != NULL && tunnel->easy != NULL) return tunnel;
  curl_tunnel_destroy(tunnel);
  return NULL;
}

curl_outcome curl_tunnel_connect(curl_tunnel *tunnel, struct curl_server *server) {
  curl_outcome outcome = CURL_BROKEN;
  CURLcode code = CURLE_FAILED_INIT;
  if (prepare(tunnel->easy, server) &&
      curl_multi_add_handle(tunnel->multi, tunnel->easy) == CURLM_OK) {
    outcome = curl_drive(tunnel->multi, server, &code);
    if (outcome == CURL_ANSWERED) outcome = curl_outcome_of(code, false);
  }
  if (outcome == CURL_BROKEN) curl_keep_words(server, code);
  // The message is the caller's, and later errors are not for it.
  curl_easy_setopt(tunnel->easy, CURLOPT_ERRORBUFFER, NULL);
  return outcome;
}

int curl_tunnel_socket(curl_tunnel *tunnel) {
  curl_socket_t server = CURL_SOCKET_BAD;
  CURLcode code = curl_easy_getinfo(tunnel->easy, CURLINFO_ACTIVESOCKET, &server);
  return code == CURLE_OK ? server : -1;
}

/// Translates libcurl's result of a read or write.
static ptrdiff_t moved(CURLcode code, size_t count) {
  if (code == CURLE_OK) return (ptrdiff_t)count;
  return code == CURLE_AGAIN ? CURL_TUNNEL_WAIT : CURL_TUNNEL_CLOSED;
}

ptrdiff_t curl_tunnel_send(curl_tunnel *tunnel, const void *bytes, size_t count) {
  size_t sent = 0;
  return moved(curl_easy_send(tunnel->easy, bytes, count, &sent), sent);
}

ptrdiff_t curl_tunnel_receive(curl_tunnel *tunnel, void *bytes, size_t count) {
  size_t received = 0;
  ptrdiff_t result = moved(curl_easy_recv(tunnel->easy, bytes, count, &received), received);
  return result == 0 ? CURL_TUNNEL_CLOSED : result;
}

void curl_tunnel_destroy(curl_tunnel *tunnel) {
  if (tunnel->multi != NULL && tunnel->easy != NULL)
    curl_multi_remove_handle(tunnel->multi, tunnel->easy);
  curl_easy_cleanup(tunnel->easy);
  curl_multi_cleanup(tunnel->multi);
  free(tunnel);
}

#else
typedef int curl_tunnel_is_absent;
#endif
