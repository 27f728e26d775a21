// Functions shared by exchanges and tunnels. Private to this module.
#pragma once
#include "CCurl.h"

#include <curl/curl.h>

/// Configures a transfer to connect to this server only. CURLE_OK on success.
CURLcode curl_prepare(CURL *easy, struct curl_server *server, const char *protocols);
/// Drives the only transfer of `multi` until it ends with `code`; then returns CURL_ANSWERED.
curl_outcome curl_drive(CURLM *multi, const struct curl_server *server, CURLcode *code);
/// Translates the result of a transfer.
curl_outcome curl_outcome_of(CURLcode code, bool isFull);
/// Stores libcurl's message for a result, unless there is one already.
void curl_keep_words(struct curl_server *server, CURLcode code);
