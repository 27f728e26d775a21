#pragma once
#define GST_USE_UNSTABLE_API
#include <gst/gst.h>
#include <gst/webrtc/webrtc.h>

#include "CWebRTC.h"

struct webrtc_peer {
  /// webrtcbin.
  GstElement *element;
  /// The appsrc of sound, or NULL.
  GstElement *sound;
  struct webrtc_identity identity;
  webrtc_event_handler handler;
  void *context;
  /// Receives the peer's RTCP packets, or NULL.
  webrtc_rtcp_handler rtcpHandler;
  void *rtcpContext;
};

/// Attaches to a webrtcbin, and gives it an identity of its own. NULL: that cannot be made.
webrtc_peer *webrtc_peer_watch(GstElement *element, webrtc_event_handler handler, void *context);
/// Makes an "offer" or "answer". Free it with `webrtc_text_free`. NULL: the reason is in `message`.
char *webrtc_peer_make(webrtc_peer *peer, const char *kind, char *message, size_t capacity);
/// Sets a description with the signal "set-local-description" or "set-remote-description".
bool webrtc_peer_describe(webrtc_peer *peer, const char *signal, GstWebRTCSDPType type,
                          const char *sdp, char *message, size_t capacity);
