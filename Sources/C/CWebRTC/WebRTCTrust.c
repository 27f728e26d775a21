#include "CWebRTC.h"

#ifdef FRAMEBUS_MEDIA
#include "WebRTCPeer.h"

// webrtcbin 1.22 takes any certificate: what makes a connection that of the peer whose description
// came over HTTPS (RFC 8827, section 6.5) is checked here. Until then nothing is sent but the
// handshake.

void webrtc_peer_expect(webrtc_peer *peer, const GstSDPMessage *description) {
  const char *text;
  for (guint i = 0;
       (text = gst_sdp_message_get_attribute_val_n(description, "fingerprint", i)) != NULL; i++)
    g_ptr_array_add(peer->named, g_strdup(text));
  for (guint section = 0; section < gst_sdp_message_medias_len(description); section++) {
    const GstSDPMedia *media = gst_sdp_message_get_media(description, section);
    for (guint i = 0;
         (text = gst_sdp_media_get_attribute_val_n(media, "fingerprint", i)) != NULL; i++)
      g_ptr_array_add(peer->named, g_strdup(text));
  }
}

/// OpenSSL shows every certificate that the peer sent, in no order that tells which is its own:
/// each has to be named. WebRTC's peers send one.
static void on_certificate(GstElement *decoder, GParamSpec *property, gpointer context) {
  (void)property;
  webrtc_peer *peer = context;
  char *pem = NULL;
  g_object_get(decoder, "peer-pem", &pem, NULL);
  bool isNamed = false;
  for (guint i = 0; pem != NULL && i < peer->named->len && !isNamed; i++)
    isNamed = webrtc_certificate_has(pem, g_ptr_array_index(peer->named, i));
  g_free(pem);
  int unknown = WEBRTC_UNKNOWN;
  if (isNamed) {
    atomic_compare_exchange_strong(&peer->trust, &unknown, WEBRTC_TRUSTED);
  } else if (atomic_exchange(&peer->trust, WEBRTC_UNTRUSTED) != WEBRTC_UNTRUSTED) {
    webrtc_peer_report(peer, WEBRTC_IMPOSTOR, 0, "");
  }
}

void webrtc_peer_check(webrtc_peer *peer, GstElement *decoder) {
  g_signal_connect(decoder, "notify::peer-pem", G_CALLBACK(on_certificate), peer);
}

/// Whether it is SRTP or SRTCP, and not of the handshake: RFC 7983.
static bool is_secret(GstBuffer *buffer) {
  guint8 first;
  return gst_buffer_extract(buffer, 0, &first, 1) == 1 && first >> 6 == 2;
}

static gboolean remove_secret(GstBuffer **buffer, guint index, gpointer context) {
  (void)index;
  (void)context;
  if (is_secret(*buffer)) gst_clear_buffer(buffer);
  return TRUE;
}

static GstPadProbeReturn on_sent(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
  (void)pad;
  const webrtc_peer *peer = context;
  if (atomic_load(&peer->trust) == WEBRTC_TRUSTED) return GST_PAD_PROBE_OK;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    return is_secret(GST_PAD_PROBE_INFO_BUFFER(info)) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
  GstBufferList *list = gst_buffer_list_make_writable(GST_PAD_PROBE_INFO_BUFFER_LIST(info));
  GST_PAD_PROBE_INFO_DATA(info) = list;
  gst_buffer_list_foreach(list, remove_secret, NULL);
  return GST_PAD_PROBE_OK;
}

void webrtc_peer_guard(webrtc_peer *peer, GstElement *sink) {
  webrtc_add_probe(sink, "sink", on_sent, peer);
}

#else
typedef int webrtc_trust_is_absent;
#endif
