// Checks what a NATS server sends before libnats parses it. libnats 3.4 trusts the server, and so
// does 3.14: a message size of 2147483647 makes its parser read outside of its buffer. In 3.4, a
// server that is silent after its first line makes it fill memory for ever.
//
// This is only a check: a stream that fails it is cut. Guard.c has the rules, GuardedCalls.c puts
// them between libnats and the network.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  /// Of a control line, as in libnats and nats-server.
  FB_NATS_LINE_BYTES = 4096,
  /// Of the line INFO, which lists a cluster's servers.
  FB_NATS_INFO_BYTES = 32768,
  /// Of a message: the largest suite of settings, in the form that JetStream's API gives it.
  FB_NATS_PAYLOAD_BYTES = 2097152,
  /// How many lines INFO a server may send on one connection.
  FB_NATS_INFO_LINES = 64,
};

/// The state of one connection's check. Zero at its beginning.
struct fb_nats_guard {
  /// Why the stream was cut; NULL while it is sound.
  const char *fault;
  /// Bytes of a message that follow, with the line break at its end.
  size_t payload_left;
  size_t line_count;
  int info_count;
  /// Whether the server has answered the first PING, which ends the connection's setup.
  bool is_set_up;
  char line[FB_NATS_LINE_BYTES];
};

/// Checks the next bytes of the stream.
/// - Returns: false if the stream must be cut; `fault` then says why.
bool fb_nats_guard_check(struct fb_nats_guard *guard, const char *bytes, size_t count);
