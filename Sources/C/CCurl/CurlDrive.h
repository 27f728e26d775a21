// What exchanges and tunnels have in common. Private to this module.
#pragma once
#include "CCurl.h"

#include <curl/curl.h>

/// Has a transfer go to that server, and to no other; CURLE_OK if it will.
CURLcode curl_prepare(CURL *easy, struct curl_server *server, const char *protocols);
/// Drives the one transfer of `multi`, which goes to that server, until it ends with `code`: then
/// CURL_ANSWERED.
curl_outcome curl_drive(CURLM *multi, const struct curl_server *server, CURLcode *code);
/// What a transfer's end means.
curl_outcome curl_outcome_of(CURLcode code, bool isFull);
/// Keeps libcurl's words about an end, unless there are some already.
void curl_keep_words(struct curl_server *server, CURLcode code);
