// A viewer: a WebRTC connection that somebody else offers, and that is sent what is encoded once
// for all of them.
//
// Nothing here knows WHEP, or which of an offer's codecs to choose. Calls on one viewer come from
// one thread at a time, but for `webrtc_viewer_push`, which may come from any.
#pragma once
#include "CWebRTC.h"

enum { WEBRTC_VIEWER_TRACKS = 2 };

/// A track of a viewer's offer, and how it is sent.
struct webrtc_track {
  bool isSound;
  /// What makes packets of RTP of encoded units, as gst-launch(1) writes it.
  const char *packer;
  /// What the packer is fed.
  const char *unitCaps;
  /// What it makes, with the payload type by which the viewer knows the codec.
  const char *packetCaps;
};

/// The viewer lacks what it needs to go on, and waits for a key frame.
typedef void (*webrtc_key_frame_handler)(void *context);

typedef struct webrtc_viewer webrtc_viewer;

struct webrtc_viewer_options {
  const char *offer;
  /// The only address of this machine that candidates are made of, or NULL.
  const char *localAddress;
  struct webrtc_track tracks[WEBRTC_VIEWER_TRACKS];
  unsigned trackCount;
  /// Tells WEBRTC_GATHERED, WEBRTC_CONNECTED, WEBRTC_DISCONNECTED, WEBRTC_FAILED and
  /// WEBRTC_IMPOSTOR.
  webrtc_event_handler handler;
  webrtc_key_frame_handler keyFrameHandler;
  void *context;
};

/// Takes the offer and begins to gather candidates. NULL: the reason is in `message`, and whether
/// it lies in the offer.
webrtc_viewer *webrtc_viewer_create(const struct webrtc_viewer_options *options,
                                    bool *isOfferRefused, char *message, size_t capacity);
/// The answer as it now is, whole once WEBRTC_GATHERED has come. Freed by `webrtc_text_free`.
char *webrtc_viewer_answer(webrtc_viewer *viewer);
const char *webrtc_viewer_fingerprint(webrtc_viewer *viewer);
/// Adds a candidate of the viewer's: `candidate:…`.
void webrtc_viewer_add_candidate(webrtc_viewer *viewer, unsigned mediaIndex, const char *text);
/// Sends an encoded unit, which stays the caller's; never waits. False: too much waits to be sent
/// by this viewer already.
bool webrtc_viewer_push(webrtc_viewer *viewer, unsigned track, void *unit);
/// How long it has been sent units without a word of its own, such as the reports that every
/// receiver makes; 0 while it is sent nothing.
uint64_t webrtc_viewer_unanswered_ns(webrtc_viewer *viewer);
/// Stops its threads, waits for them, and frees it.
void webrtc_viewer_destroy(webrtc_viewer *viewer);

/// An encoded unit: a picture, or a packet of sound.
struct webrtc_unit {
  /// Valid during the call; for `webrtc_viewer_push`.
  void *unit;
  bool isKeyFrame;
  /// Of CLOCK_MONOTONIC.
  uint64_t timeNs;
};
typedef void (*webrtc_unit_handler)(void *context, const struct webrtc_unit *unit);

/// Gives what reaches the appsink at the end of a pipeline to a handler, on the pipeline's thread.
/// The pipeline's own time began at `originNs` of CLOCK_MONOTONIC. Before it plays.
bool webrtc_feed_watch(upload_pipeline *pipeline, uint64_t originNs, webrtc_unit_handler handler,
                       void *context);
/// Has the encoder make its next picture a key frame. Any thread may call it.
void webrtc_feed_want_key_frame(upload_pipeline *pipeline);
