#define _GNU_SOURCE
#include "CWebRTC.h"

#ifdef FRAMEBUS_MEDIA
#include <gst/video/video.h>
#include <string.h>

#include "WebRTCPeer.h"

// Drops encoded pictures up to a key frame. A payloader gives packets their numbers, so a receiver
// misses none of what is dropped before it.

/// Between two requests for the key frame that ends a gap.
enum { REQUEST_US = 200 * 1000 };

/// Whether a picture passes. Sets whether a key frame is to be requested.
static bool allows(struct webrtc_sending *sending, bool isKeyFrame, bool *isRequested) {
  int64_t nowUs = g_get_monotonic_time();
  g_mutex_lock(&sending->lock);
  bool isAllowed = !sending->awaitsKeyFrame;
  if (!isAllowed && nowUs >= sending->pausedUntilUs) {
    if (isKeyFrame) {
      sending->awaitsKeyFrame = false;
      isAllowed = true;
    } else if (nowUs - sending->awaitedAtUs >= REQUEST_US) {
      sending->awaitedAtUs = nowUs;
      // The peer need not request one as well.
      sending->keyAtUs = nowUs;
      *isRequested = true;
    }
  }
  g_mutex_unlock(&sending->lock);
  return isAllowed;
}

static GstPadProbeReturn on_unit(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
  webrtc_peer *peer = context;
  GstBuffer *unit = GST_PAD_PROBE_INFO_BUFFER(info);
  bool isRequested = false;
  bool isAllowed = allows(&peer->sending, !GST_BUFFER_FLAG_IS_SET(unit, GST_BUFFER_FLAG_DELTA_UNIT),
                          &isRequested);
  if (isRequested)
    gst_pad_push_event(pad,
                       gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, TRUE, 0));
  return isAllowed ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

/// The input of the payloader before a pad, or NULL.
static GstPad *payloader_input(GstPad *pad) {
  GstPad *source = gst_pad_get_peer(pad);
  while (source != NULL) {
    GstElement *element = gst_pad_get_parent_element(source);
    gst_object_unref(source);
    if (element == NULL) return NULL;
    GstElementFactory *factory = gst_element_get_factory(element);
    const char *class = factory ? gst_element_factory_get_metadata(factory, "klass") : NULL;
    GstPad *sink = gst_element_get_static_pad(element, "sink");
    gst_object_unref(element);
    if (class != NULL && strstr(class, "Payloader") != NULL) return sink;
    if (sink == NULL) return NULL;
    source = gst_pad_get_peer(sink);
    gst_object_unref(sink);
  }
  return NULL;
}

void webrtc_peer_gate(webrtc_peer *peer, GstPad *pad) {
  GstPad *sink = payloader_input(pad);
  if (sink == NULL) return;
  gst_pad_add_probe(sink, GST_PAD_PROBE_TYPE_BUFFER, on_unit, peer, NULL);
  gst_object_unref(sink);
  peer->sending.hasGate = true;
}

void webrtc_peer_pause(webrtc_peer *peer, uint64_t untilNs, bool restarts) {
  struct webrtc_sending *sending = &peer->sending;
  g_mutex_lock(&sending->lock);
  sending->pausedUntilUs = (int64_t)(untilNs / 1000);
  if (restarts && sending->hasGate) {
    sending->awaitsKeyFrame = true;
    sending->givenUpUntilUs = g_get_monotonic_time();
  }
  g_mutex_unlock(&sending->lock);
}

#else
typedef int webrtc_gate_is_absent;
#endif
