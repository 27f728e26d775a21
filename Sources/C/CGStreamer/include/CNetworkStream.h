// What captures of other machines' streams need: the pipeline's settings for a live stream, and
// why a server cannot be reached, of which GStreamer says little.
#pragma once
#if __has_include(<gst/gst.h>)
#include <gst/gst.h>
#include <stdbool.h>
#include <stdint.h>

/// Uses the monotonic clock, and decoders that keep no picture back to use several threads. Call
/// it before the pipeline runs.
void fb_network_prepare(GstElement *pipeline);
/// Links the RTP tracks of the element `source` to the elements `decoder`, for pictures, and
/// `hearing`, for sound. Call it before the pipeline runs.
void fb_network_link_tracks(GstElement *pipeline);
/// Reports a failure on the pipeline's bus, as its elements do.
void fb_network_fail(GstElement *pipeline);
/// The sender's clock at 0 of the pipeline's, in nanoseconds since 1970, from the newest RTCP
/// report. False without a report.
bool fb_network_sender_time(GstElement *pipeline, int64_t *wallAtZeroNs);
/// Trusts the certificates of a PEM file instead of the system's, in the whole process. Returns the
/// error message on failure; free it with g_free.
char *fb_network_trust(const char *path);
/// Removes from the whole process all elements of GStreamer that read addresses, but one, and the
/// plugins that have them, but for the core's: what a server sends can name other addresses, such
/// as a playlist a file. NULL removes all.
void fb_network_keep_only(const char *element);

/// Connects to a numeric address, by TCP, or by UDP with one packet that an SRT listener answers.
/// Returns 0 if it is reached, else an errno; ETIMEDOUT without an answer in time.
int fb_network_reach(const char *address, uint16_t port, bool isDatagram, int timeoutMs);
/// The errnos that have texts of their own.
enum fb_reach { FB_REACH_OTHER, FB_REACH_REFUSED, FB_REACH_NO_ROUTE, FB_REACH_NO_ANSWER };
enum fb_reach fb_network_reach_kind(int failure);
/// Why the certificate of a TLS server is not trusted, in English. NULL if it is trusted, or if the
/// server has none.
const char *fb_network_distrust(const char *host, uint16_t port, unsigned timeoutS);

/// Connects to an SRT listener as srtsrc does, and ends the connection.
/// - passphrase, streamID: NULL for none.
/// - Returns: 0 if it accepts, libsrt's reject reason if it refuses, −1 if that is unknown.
int fb_srt_ask(const char *address, uint16_t port, const char *passphrase, const char *streamID,
               int timeoutMs);
/// The reasons that have texts of their own.
enum fb_srt_reason {
  FB_SRT_OTHER,
  /// The passphrases differ.
  FB_SRT_BAD_SECRET,
  /// One side has a passphrase, the other has none.
  FB_SRT_UNSECURE,
  FB_SRT_NO_ANSWER,
  FB_SRT_UNAUTHORIZED,
  FB_SRT_FORBIDDEN,
  FB_SRT_NOT_FOUND,
  FB_SRT_BUSY,
};
enum fb_srt_reason fb_srt_reason(int code);
#endif
