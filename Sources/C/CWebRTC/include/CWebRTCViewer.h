// A viewer: a WebRTC connection that the other side offers. It is sent units that are encoded once
// for all viewers.
//
// Nothing here knows WHEP, or which of an offer's codecs to choose. Calls on one viewer come from
// one thread at a time, except `webrtc_viewer_push`, which any thread may call.
#pragma once
#include "CWebRTC.h"

enum { WEBRTC_VIEWER_TRACKS = 2 };

/// A track of a viewer's offer, and how to send it.
struct webrtc_track {
  bool isSound;
  /// The payloader, which makes RTP packets of encoded units, in the syntax of gst-launch(1).
  const char *packer;
  /// The caps of the payloader's input.
  const char *unitCaps;
  /// The caps of its output, with the viewer's payload type for the codec.
  const char *packetCaps;
};

/// Called when the viewer needs a key frame to continue.
typedef void (*webrtc_key_frame_handler)(void *context);

typedef struct webrtc_viewer webrtc_viewer;

struct webrtc_viewer_options {
  const char *offer;
  /// The address of this machine that the viewer reached, the only one for candidates, or NULL for
  /// all. For a loopback one these are all addresses, because Firefox pairs no loopback address
  /// with another; what other machines send to them is dropped.
  const char *localAddress;
  struct webrtc_track tracks[WEBRTC_VIEWER_TRACKS];
  unsigned trackCount;
  /// Receives WEBRTC_GATHERED, WEBRTC_CONNECTED, WEBRTC_DISCONNECTED, WEBRTC_FAILED, WEBRTC_CLOSED
  /// and WEBRTC_IMPOSTOR.
  webrtc_event_handler handler;
  webrtc_key_frame_handler keyFrameHandler;
  void *context;
};

/// Accepts the offer and begins to gather candidates. NULL: the reason is in `message`, and
/// `isOfferRefused` says whether the offer is the cause.
webrtc_viewer *webrtc_viewer_create(const struct webrtc_viewer_options *options,
                                    bool *isOfferRefused, char *message, size_t capacity);
/// The current answer, complete after WEBRTC_GATHERED. Free it with `webrtc_text_free`.
char *webrtc_viewer_answer(webrtc_viewer *viewer);
const char *webrtc_viewer_fingerprint(webrtc_viewer *viewer);
/// Adds a candidate of the viewer: `candidate:…`.
void webrtc_viewer_add_candidate(webrtc_viewer *viewer, unsigned mediaIndex, const char *text);
/// Sends an encoded unit, which the caller still owns. Never blocks. False: this viewer's queue is
/// full.
bool webrtc_viewer_push(webrtc_viewer *viewer, unsigned track, void *unit);
/// How long units have been sent without a packet from the viewer, such as the reports that every
/// receiver sends; 0 while none are sent.
uint64_t webrtc_viewer_unanswered_ns(webrtc_viewer *viewer);
/// Stops the viewer's threads, waits for them, and frees the viewer.
void webrtc_viewer_destroy(webrtc_viewer *viewer);

/// An encoded unit: a picture, or a packet of sound.
struct webrtc_unit {
  /// Valid during the call; for `webrtc_viewer_push`.
  void *unit;
  /// The unit with its format, a `GstSample`, which `upload_sample_ref` keeps.
  void *sample;
  size_t byteCount;
  bool isKeyFrame;
  /// The unit's time by CLOCK_MONOTONIC.
  uint64_t timeNs;
};
typedef void (*webrtc_unit_handler)(void *context, const struct webrtc_unit *unit);

/// Passes units that reach the appsink at the end of a pipeline to a handler, on a thread of the
/// pipeline, whose own time began at `originNs` of CLOCK_MONOTONIC. Call this before it plays.
bool webrtc_feed_watch(upload_pipeline *pipeline, uint64_t originNs, webrtc_unit_handler handler,
                       void *context);
/// Makes the encoder's next picture a key frame. Any thread may call it.
void webrtc_feed_want_key_frame(upload_pipeline *pipeline);
