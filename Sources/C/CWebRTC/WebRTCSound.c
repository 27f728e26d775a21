#define _GNU_SOURCE
#include "CWebRTC.h"

#ifdef FRAMEBUS_MEDIA
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <string.h>

#include "WebRTCPeer.h"

// Chunks wait here only while the encoder is delayed. If the queue is full, the oldest is dropped.
#define SOURCE \
  "appsrc name=sound format=time max-buffers=20 max-bytes=0 max-time=0 leaky-type=downstream"
// Packets of 20 ms, because not every receiver accepts shorter ones.
#define ENCODER                                                                    \
  " caps=audio/x-raw,format=F32LE,rate=48000,channels=2,layout=interleaved "       \
  "! audioconvert ! opusenc audio-type=restricted-lowdelay frame-size=20 bitrate=96000"
#define PACKER \
  " ! rtpopuspay ! capsfilter caps=application/x-rtp,media=audio,encoding-name=OPUS,payload=111"

bool webrtc_peer_add_sound(webrtc_peer *peer, bool isEncoded, char *message, size_t capacity) {
  GError *error = NULL;
  GstElement *sound = gst_parse_bin_from_description(
      isEncoded ? SOURCE PACKER : SOURCE ENCODER PACKER, TRUE, &error);
  if (sound == NULL) {
    g_strlcpy(message, error != NULL ? error->message : "no sound", capacity);
    g_clear_error(&error);
    return false;
  }
  GstObject *pipeline = gst_object_get_parent(GST_OBJECT(peer->element));
  peer->sound = gst_bin_get_by_name(GST_BIN(sound), "sound");
  bool isLinked = gst_bin_add(GST_BIN(pipeline), sound) && gst_element_link(sound, peer->element);
  if (!isLinked) g_strlcpy(message, "webrtcbin does not accept sound", capacity);
  gst_object_unref(pipeline);
  return isLinked;
}

void webrtc_peer_push_sound(webrtc_peer *peer, const float *samples, size_t count,
                            uint64_t ptsNs, uint64_t durationNs) {
  GstBuffer *buffer = gst_buffer_new_memdup(samples, count * sizeof *samples);
  GST_BUFFER_PTS(buffer) = ptsNs;
  GST_BUFFER_DURATION(buffer) = durationNs;
  gst_app_src_push_buffer(GST_APP_SRC(peer->sound), buffer);
}

bool webrtc_peer_push_encoded(webrtc_peer *peer, void *sample, uint64_t ptsNs) {
  return upload_push_sample(peer->sound, sample, ptsNs);
}

#else
typedef int webrtc_sound_is_absent;
#endif
