#define _GNU_SOURCE
#include "CWebRTC.h"

#ifdef FRAMEBUS_MEDIA
#include "WebRTCPeer.h"

enum {
  /// What the pace did not use adds up to this time.
  BURST_US = 5 * 1000,
  LONGEST_SLEEP_US = 100 * 1000,
};

/// Waits until a packet is due. The thread is the encoder's: frames that come meanwhile wait on the
/// bus, where newer ones replace them.
static void wait_for_turn(struct webrtc_sending *sending, size_t size) {
  uint64_t paceBytes = atomic_load(&sending->paceBytes);
  if (paceBytes == 0) return;
  int64_t nowUs = g_get_monotonic_time();
  if (sending->dueUs > nowUs)
    g_usleep((gulong)MIN(sending->dueUs - nowUs, (int64_t)LONGEST_SLEEP_US));
  sending->dueUs = MAX(MIN(sending->dueUs, nowUs + LONGEST_SLEEP_US), nowUs - BURST_US) +
                   (int64_t)(size * G_USEC_PER_SEC / paceBytes);
}

/// A picture comes as a list of packets, and each has its own turn.
static GstPadProbeReturn on_picture(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
  webrtc_peer *peer = context;
  if (atomic_load(&peer->sending.paceBytes) == 0) return GST_PAD_PROBE_OK;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    wait_for_turn(&peer->sending, gst_buffer_get_size(GST_PAD_PROBE_INFO_BUFFER(info)));
    return GST_PAD_PROBE_OK;
  }
  GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
  GstFlowReturn result = GST_FLOW_OK;
  for (guint i = 0; i < gst_buffer_list_length(list) && result == GST_FLOW_OK; i++)
    result = gst_pad_chain(pad, gst_buffer_ref(gst_buffer_list_get(list, i)));
  gst_buffer_list_unref(list);
  GST_PAD_PROBE_INFO_FLOW_RETURN(info) = result;
  return GST_PAD_PROBE_HANDLED;
}

void webrtc_peer_pace(webrtc_peer *peer, GstPad *pad) {
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, on_picture,
                    peer, NULL);
}

void webrtc_peer_set_pace(webrtc_peer *peer, uint64_t bitsPerSecond) {
  atomic_store(&peer->sending.paceBytes, bitsPerSecond / 8);
}

#else
typedef int webrtc_pacing_is_absent;
#endif
