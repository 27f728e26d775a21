// What the live subjects of `framebus bench upload` share: GStreamer's webrtcbin on both sides, and
// as much HTTP as WHIP takes over loopback. Plain GStreamer, without anything of the product.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Writes an error to standard error and ends the process.
void live_fail(const char *what) __attribute__((noreturn));
uint64_t live_now_ns(void);

// MARK: Sending

/// What is sent, and by which element the pictures become I420.
struct live_format {
  unsigned width, height, framesPerSecond, kilobitsPerSecond;
  const char *converter;
};
typedef struct live_sender live_sender;

/// A pipeline from BGRx to WebRTC, whose peer is found by WHIP on that port of this machine.
live_sender *live_sender_create(const struct live_format *format);
/// Memory for the next picture; NULL while all of it is in use.
void *live_sender_begin(live_sender *sender);
/// Sends what was drawn there.
void live_sender_send(live_sender *sender, uint64_t ptsNs);
/// Connects, once a first picture was sent.
void live_sender_connect(live_sender *sender, unsigned port);

// MARK: Receiving

/// Called with the luma of each decoded picture, on a thread of GStreamer's.
typedef void (*live_picture_handler)(const uint8_t *luma, unsigned width, unsigned height,
                                     unsigned stride);
/// Serves WHIP on a port of its own choice, which it writes to standard output as `listening PORT`.
/// Does not return.
void live_receive(live_picture_handler handler) __attribute__((noreturn));
