// The common part of the live subjects of `framebus bench upload`, `bitrate` and `link`:
// GStreamer's webrtcbin on both sides and the HTTP that WHIP needs over loopback, or SRT. Plain
// GStreamer, without FrameBus.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Prints an error to standard error and ends the process.
void live_fail(const char *what) __attribute__((noreturn));
uint64_t live_now_ns(void);

// MARK: Sending

/// The format to send, the element that converts pictures to I420, and the address of an SRT peer;
/// NULL for WebRTC.
struct live_format {
  unsigned width, height, framesPerSecond, kilobitsPerSecond;
  const char *converter;
  const char *location;
};
typedef struct live_sender live_sender;

/// Creates a pipeline from BGRx to WebRTC or SRT.
live_sender *live_sender_create(const struct live_format *format);
/// Returns memory for the next picture; NULL while all buffers are in use.
void *live_sender_begin(live_sender *sender);
/// Sends the picture in the memory from live_sender_begin.
void live_sender_send(live_sender *sender, uint64_t ptsNs);
/// Connects by WHIP to this port of this machine, after a first picture was sent.
void live_sender_connect(live_sender *sender, unsigned port);

// MARK: Receiving

/// Called with the luma of each decoded picture, on a GStreamer thread.
typedef void (*live_picture_handler)(const uint8_t *luma, unsigned width, unsigned height,
                                     unsigned stride);
/// Serves WHIP on a free port, which it prints as `listening PORT`. Does not return.
void live_receive(live_picture_handler handler) __attribute__((noreturn));
/// Listens at an address such as `srt://127.0.0.1:9000?mode=listener`, and then prints `listening`.
/// Does not return.
void live_receive_srt(live_picture_handler handler, const char *location)
    __attribute__((noreturn));
/// Called with the size of each encoded picture, once all of its packets have arrived.
typedef void (*live_size_handler)(size_t byteCount);
/// The same, without decoding.
void live_receive_sizes(live_size_handler handler) __attribute__((noreturn));
