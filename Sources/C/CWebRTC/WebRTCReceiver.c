#include "CWebRTC.h"

#ifdef FRAMEBUS_MEDIA
#include <gst/gst.h>

#include "WebRTCPeer.h"

// Codecs that every WebRTC peer has (RFC 7742, section 5; RFC 7874, section 3).
static const char pictures[] =
    "application/x-rtp,media=video,payload=96,encoding-name=H264,clock-rate=90000,"
    "packetization-mode=(string)1,level-asymmetry-allowed=(string)1,"
    "profile-level-id=(string)42e01f;"
    "application/x-rtp,media=video,payload=97,encoding-name=VP8,clock-rate=90000";
static const char sound[] =
    "application/x-rtp,media=audio,payload=111,encoding-name=OPUS,clock-rate=48000,"
    "encoding-params=(string)2";

static void ask(GstElement *element, const char *codecs, bool isVideo) {
  GstCaps *caps = gst_caps_from_string(codecs);
  GstWebRTCRTPTransceiver *transceiver = NULL;
  g_signal_emit_by_name(element, "add-transceiver", GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_RECVONLY,
                        caps, &transceiver);
  gst_caps_unref(caps);
  if (transceiver == NULL) return;
  g_object_set(transceiver, "do-nack", isVideo, NULL);
  gst_object_unref(transceiver);
}

// The pad's caps may not be known yet, and gst-launch's syntax would link the first pad to any
// element.
static void link_track(GstElement *element, GstPad *pad, gpointer data) {
  (void)data;
  if (GST_PAD_DIRECTION(pad) != GST_PAD_SRC) return;
  GstWebRTCRTPTransceiver *transceiver = NULL;
  GstWebRTCKind kind = GST_WEBRTC_KIND_UNKNOWN;
  g_object_get(pad, "transceiver", &transceiver, NULL);
  if (transceiver != NULL) g_object_get(transceiver, "kind", &kind, NULL);
  g_clear_object(&transceiver);
  GstObject *pipeline = gst_object_get_parent(GST_OBJECT(element));
  GstElement *decoder =
      pipeline == NULL ? NULL
                       : gst_bin_get_by_name(GST_BIN(pipeline),
                                             kind == GST_WEBRTC_KIND_VIDEO ? "decoder" : "hearing");
  GstPad *input = decoder != NULL ? gst_element_get_static_pad(decoder, "sink") : NULL;
  // A track of another kind, or a second one, has no place.
  if (input != NULL && !gst_pad_is_linked(input)) gst_pad_link(pad, input);
  if (input != NULL) gst_object_unref(input);
  if (decoder != NULL) gst_object_unref(decoder);
  if (pipeline != NULL) gst_object_unref(pipeline);
}

webrtc_peer *webrtc_peer_receive(void *pipeline, const char *name, bool hearsSound,
                                 webrtc_event_handler handler, void *context) {
  GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  if (element == NULL) return NULL;
  webrtc_peer *peer = webrtc_peer_watch(element, handler, context);
  if (peer != NULL) {
    peer->receives = true;
    webrtc_watch_for_silence(element);
    g_signal_connect(element, "pad-added", G_CALLBACK(link_track), peer);
    ask(element, pictures, true);
    if (hearsSound) ask(element, sound, false);
  }
  gst_object_unref(element);
  return peer;
}

#else
typedef int webrtc_receiver_is_absent;
#endif
