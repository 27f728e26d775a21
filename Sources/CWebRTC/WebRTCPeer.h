#pragma once
#include "CWebRTC.h"

struct webrtc_peer {
  /// webrtcbin.
  struct _GstElement *element;
  /// The appsrc of sound, or NULL.
  struct _GstElement *sound;
  struct webrtc_identity identity;
  webrtc_event_handler handler;
  void *context;
};
