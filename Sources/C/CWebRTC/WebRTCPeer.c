#define _GNU_SOURCE
#include "CWebRTC.h"

#ifdef FRAMEBUS_MEDIA
#include <gst/gst.h>
#include <gst/sdp/sdp.h>
#include <stdio.h>
#include <string.h>

#include "WebRTCPeer.h"

enum { REPORT_INTERVAL_NS = 500 * 1000 * 1000 };

void webrtc_peer_report(webrtc_peer *peer, webrtc_event_kind kind, unsigned mediaIndex,
                      const char *text) {
  struct webrtc_event event = {.kind = kind, .mediaIndex = mediaIndex, .text = text};
  peer->handler(peer->context, &event);
}

static void on_negotiation_needed(GstElement *element, gpointer peer) {
  (void)element;
  webrtc_peer_report(peer, WEBRTC_READY, 0, "");
}

static void on_candidate(GstElement *element, guint mediaIndex, gchar *text, gpointer peer) {
  (void)element;
  if (text != NULL && text[0] != 0) webrtc_peer_report(peer, WEBRTC_CANDIDATE, mediaIndex, text);
}

static void on_gathering(GstElement *element, GParamSpec *property, gpointer peer) {
  (void)property;
  GstWebRTCICEGatheringState state;
  g_object_get(element, "ice-gathering-state", &state, NULL);
  if (state == GST_WEBRTC_ICE_GATHERING_STATE_COMPLETE)
    webrtc_peer_report(peer, WEBRTC_GATHERED, 0, "");
}

static void on_connection(GstElement *element, GParamSpec *property, gpointer context) {
  (void)property;
  webrtc_peer *peer = context;
  GstWebRTCPeerConnectionState state;
  g_object_get(element, "connection-state", &state, NULL);
  switch (state) {
    case GST_WEBRTC_PEER_CONNECTION_STATE_CONNECTED:
      if (atomic_load(&peer->trust) != WEBRTC_TRUSTED) {
        webrtc_peer_report(peer, WEBRTC_IMPOSTOR, 0, "");
        break;
      }
      // rtpbin reports no capture time until it knows the latency of the senders, which is 0.
      gst_element_send_event(element, gst_event_new_latency(0));
      webrtc_peer_report(peer, WEBRTC_CONNECTED, 0, "");
      break;
    case GST_WEBRTC_PEER_CONNECTION_STATE_DISCONNECTED:
      webrtc_peer_report(peer, WEBRTC_DISCONNECTED, 0, "");
      break;
    case GST_WEBRTC_PEER_CONNECTION_STATE_FAILED:
    case GST_WEBRTC_PEER_CONNECTION_STATE_CLOSED:
      webrtc_peer_report(peer, WEBRTC_FAILED, 0, "");
      break;
    default: break;
  }
}

/// Whether an encrypted packet is media, not a report (RFC 5761, section 4).
static bool is_media(GstBuffer *buffer) {
  guint8 head[2];
  return gst_buffer_extract(buffer, 0, head, sizeof head) == sizeof head && head[0] >> 6 == 2 &&
         (head[1] < 192 || head[1] > 223);
}

static gboolean remove_media(GstBuffer **buffer, guint index, gpointer context) {
  (void)index;
  (void)context;
  if (is_media(*buffer)) gst_clear_buffer(buffer);
  return TRUE;
}

/// Drops unrequested media from the peer: webrtcbin would fail because it has no receiver for them.
static GstPadProbeReturn on_packet(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
  (void)pad;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    return is_media(GST_PAD_PROBE_INFO_BUFFER(info)) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
  GstBufferList *list = gst_buffer_list_make_writable(GST_PAD_PROBE_INFO_BUFFER_LIST(info));
  GST_PAD_PROBE_INFO_DATA(info) = list;
  gst_buffer_list_foreach(list, remove_media, context);
  return GST_PAD_PROBE_OK;
}

static gboolean handle_rtcp(GstBuffer **buffer, guint index, gpointer context) {
  (void)index;
  const webrtc_peer *peer = context;
  GstMapInfo map;
  if (!gst_buffer_map(*buffer, &map, GST_MAP_READ)) return TRUE;
  peer->rtcpHandler(peer->rtcpContext, map.data, map.size);
  gst_buffer_unmap(*buffer, &map);
  return TRUE;
}

static GstPadProbeReturn on_rtcp(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
  (void)pad;
  const webrtc_peer *peer = context;
  if (peer->rtcpHandler == NULL) return GST_PAD_PROBE_OK;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    handle_rtcp(&buffer, 0, context);
  } else {
    gst_buffer_list_foreach(GST_PAD_PROBE_INFO_BUFFER_LIST(info), handle_rtcp, context);
  }
  return GST_PAD_PROBE_OK;
}

/// webrtcbin 1.22 does not notice that the peer has closed the DTLS connection (close_notify).
static void on_dtls_state(GstElement *decoder, GParamSpec *property, gpointer context) {
  (void)property;
  enum { DTLS_CLOSED = 1, DTLS_CONNECTED = 4 };
  webrtc_peer *peer = context;
  int state = 0;
  g_object_get(decoder, "connection-state", &state, NULL);
  int before = atomic_exchange(&peer->dtlsState, state);
  if (state == DTLS_CLOSED && before == DTLS_CONNECTED)
    webrtc_peer_report(peer, WEBRTC_CLOSED, 0, "");
}

void webrtc_add_probe(GstElement *element, const char *name, GstPadProbeCallback probe,
                      void *context) {
  GstPad *pad = gst_element_get_static_pad(element, name);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, probe, context,
                    NULL);
  gst_object_unref(pad);
}

static void on_element(GstBin *bin, GstBin *inner, GstElement *element, gpointer context) {
  (void)bin;
  (void)inner;
  webrtc_peer *peer = context;
  GstElementFactory *factory = gst_element_get_factory(element);
  if (factory == NULL) return;
  if (strcmp(GST_OBJECT_NAME(factory), "dtlssrtpdec") == 0) {
    g_object_set(element, "pem", peer->identity.pem, NULL);
    webrtc_peer_check(peer, element);
    g_signal_connect(element, "notify::connection-state", G_CALLBACK(on_dtls_state), peer);
    webrtc_add_probe(element, "rtcp_src", on_rtcp, peer);
  }
  // Time began with the first frame, before the pipeline started. Waiting for each frame's time
  // would delay every frame by the pipeline's start-up time.
  if (strcmp(GST_OBJECT_NAME(factory), "clocksync") == 0)
    g_object_set(element, "sync", FALSE, NULL);
  // A receiver cannot synchronise tracks before it has a report on each, and the round trip is
  // measured by reports. The usual interval of five seconds is for groups of many receivers.
  if (strcmp(GST_OBJECT_NAME(factory), "rtpsession") == 0)
    g_object_set(element, "rtcp-min-interval", (guint64)REPORT_INTERVAL_NS, NULL);
  if (strcmp(GST_OBJECT_NAME(factory), "rtprtxsend") == 0)
    webrtc_peer_bound_sending(peer, element);
  if (strcmp(GST_OBJECT_NAME(factory), "nicesrc") == 0 && !peer->receives)
    webrtc_add_probe(element, "src", on_packet, NULL);
  if (strcmp(GST_OBJECT_NAME(factory), "nicesink") == 0) webrtc_peer_guard(peer, element);
}

/// Receivers synchronise pictures and sound by their capture times, not by their times of sending.
static void report_capture_time(GstElement *element) {
  GstElement *rtp = gst_bin_get_by_name(GST_BIN(element), "rtpbin");
  if (rtp == NULL) return;
  g_object_set(rtp, "rtcp-sync-send-time", FALSE, NULL);
  gst_object_unref(rtp);
}

/// libnice's agent inside webrtcbin's ICE object; NULL if webrtcbin uses another ICE library.
static GObject *nice_agent(GstElement *element) {
  GObject *ice = NULL, *agent = NULL;
  g_object_get(element, "ice-agent", &ice, NULL);
  if (ice == NULL) return NULL;
  g_object_get(ice, "agent", &agent, NULL);
  g_object_unref(ice);
  return agent;
}

/// Disables UPnP: libnice would ask routers for a port mapping and wait for answers, which delays
/// the end of candidates. A sender needs no port mapping.
static void disable_port_mapping(GstElement *element) {
  GObject *agent = nice_agent(element);
  if (agent != NULL) g_object_set(agent, "upnp", FALSE, NULL);
  g_clear_object(&agent);
}

/// Discards libnice's warning that a relay was not released, which would appear on the program's
/// standard error. webrtcbin leaves no time for the release; the relay's allocation times out.
static void ignore(const gchar *domain, GLogLevelFlags level, const gchar *text, gpointer data) {
  (void)domain;
  (void)level;
  (void)text;
  (void)data;
}

webrtc_peer *webrtc_peer_watch(GstElement *element, webrtc_event_handler handler, void *context) {
  webrtc_peer *peer = g_new0(webrtc_peer, 1);
  if (!webrtc_identity_make(&peer->identity)) {
    g_free(peer);
    return NULL;
  }
  g_log_set_handler("libnice", G_LOG_LEVEL_WARNING, ignore, NULL);
  disable_port_mapping(element);
  report_capture_time(element);
  peer->element = gst_object_ref(element);
  peer->named = g_ptr_array_new_with_free_func(g_free);
  peer->handler = handler;
  peer->context = context;
  g_signal_connect(element, "on-negotiation-needed", G_CALLBACK(on_negotiation_needed), peer);
  g_signal_connect(element, "on-ice-candidate", G_CALLBACK(on_candidate), peer);
  g_signal_connect(element, "notify::ice-gathering-state", G_CALLBACK(on_gathering), peer);
  g_signal_connect(element, "notify::connection-state", G_CALLBACK(on_connection), peer);
  g_signal_connect(element, "deep-element-added", G_CALLBACK(on_element), peer);
  return peer;
}

webrtc_peer *webrtc_peer_create(upload_pipeline *pipeline, webrtc_event_handler handler,
                                void *context) {
  GstElement *element = upload_pipeline_last_element(pipeline);
  if (g_signal_lookup("create-offer", G_OBJECT_TYPE(element)) == 0) return NULL;
  return webrtc_peer_watch(element, handler, context);
}

void webrtc_peer_watch_rtcp(webrtc_peer *peer, webrtc_rtcp_handler handler,
                            webrtc_sent_handler sentHandler, void *context) {
  peer->rtcpContext = context;
  peer->sentHandler = sentHandler;
  peer->rtcpHandler = handler;
}

const char *webrtc_peer_fingerprint(webrtc_peer *peer) { return peer->identity.fingerprint; }

bool webrtc_peer_set_stun_server(webrtc_peer *peer, const char *address, unsigned port) {
  GObject *agent = nice_agent(peer->element);
  if (agent == NULL) return false;
  g_object_set(agent, "stun-server", address, "stun-server-port", port, NULL);
  g_object_unref(agent);
  return true;
}

bool webrtc_peer_add_turn_server(webrtc_peer *peer, const char *address) {
  gboolean isAdded = FALSE;
  g_signal_emit_by_name(peer->element, "add-turn-server", address, &isAdded);
  return isAdded;
}

static gboolean direct(GstElement *element, GstPad *pad, gpointer peer) {
  (void)element;
  GObject *transceiver = NULL;
  g_object_get(pad, "transceiver", &transceiver, NULL);
  // The caps that may come, because those that have come are held back until there is an answer.
  GstCaps *caps = gst_pad_peer_query_caps(pad, NULL);
  const char *media = gst_caps_is_any(caps) || gst_caps_is_empty(caps)
                          ? NULL
                          : gst_structure_get_string(gst_caps_get_structure(caps, 0), "media");
  // Retransmission is for video only: Chromium does not accept NACK for sound.
  bool isVideo = g_strcmp0(media, "video") == 0;
  if (isVideo) {
    webrtc_peer_pace(peer, pad);
    webrtc_peer_gate(peer, pad);
  }
  if (transceiver != NULL)
    g_object_set(transceiver, "direction", GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_SENDONLY,
                 "do-nack", isVideo, NULL);
  gst_clear_caps(&caps);
  g_clear_object(&transceiver);
  return TRUE;
}

static void note(const GstStructure *reply, char *message, size_t capacity) {
  GError *error = NULL;
  if (reply != NULL) gst_structure_get(reply, "error", G_TYPE_ERROR, &error, NULL);
  snprintf(message, capacity, "%s", error ? error->message : "webrtcbin gives no reason");
  g_clear_error(&error);
}

char *webrtc_peer_make(webrtc_peer *peer, const char *kind, char *message, size_t capacity) {
  char signal[16];
  snprintf(signal, sizeof signal, "create-%s", kind);
  GstPromise *promise = gst_promise_new();
  g_signal_emit_by_name(peer->element, signal, NULL, promise);
  char *text = NULL;
  GstPromiseResult result = gst_promise_wait(promise);
  const GstStructure *reply = gst_promise_get_reply(promise);
  GstWebRTCSessionDescription *made = NULL;
  if (result == GST_PROMISE_RESULT_REPLIED && reply != NULL)
    gst_structure_get(reply, kind, GST_TYPE_WEBRTC_SESSION_DESCRIPTION, &made, NULL);
  if (made != NULL) {
    text = gst_sdp_message_as_text(made->sdp);
    gst_webrtc_session_description_free(made);
  } else {
    note(reply, message, capacity);
  }
  gst_promise_unref(promise);
  return text;
}

char *webrtc_peer_make_offer(webrtc_peer *peer, char *message, size_t capacity) {
  gst_element_foreach_sink_pad(peer->element, direct, peer);
  return webrtc_peer_make(peer, "offer", message, capacity);
}

void webrtc_text_free(char *text) { g_free(text); }

bool webrtc_peer_describe(webrtc_peer *peer, const char *signal, GstWebRTCSDPType type,
                          const char *sdp, char *message, size_t capacity) {
  GstSDPMessage *parsed = NULL;
  gst_sdp_message_new(&parsed);
  if (gst_sdp_message_parse_buffer((const guint8 *)sdp, (guint)strlen(sdp), parsed) !=
      GST_SDP_OK) {
    gst_sdp_message_free(parsed);
    snprintf(message, capacity, "it is not a session description");
    return false;
  }
  if (strcmp(signal, "set-remote-description") == 0) webrtc_peer_expect(peer, parsed);
  // Takes ownership of the message.
  GstWebRTCSessionDescription *description = gst_webrtc_session_description_new(type, parsed);
  GstPromise *promise = gst_promise_new();
  g_signal_emit_by_name(peer->element, signal, description, promise);
  GstPromiseResult result = gst_promise_wait(promise);
  const GstStructure *reply = gst_promise_get_reply(promise);
  bool hasFailed = result != GST_PROMISE_RESULT_REPLIED ||
                   (reply != NULL && gst_structure_has_field(reply, "error"));
  if (hasFailed) note(reply, message, capacity);
  gst_promise_unref(promise);
  gst_webrtc_session_description_free(description);
  return !hasFailed;
}

bool webrtc_peer_set_offer(webrtc_peer *peer, const char *sdp, char *message, size_t capacity) {
  return webrtc_peer_describe(peer, "set-local-description", GST_WEBRTC_SDP_TYPE_OFFER, sdp,
                              message, capacity);
}

bool webrtc_peer_set_answer(webrtc_peer *peer, const char *sdp, char *message, size_t capacity) {
  return webrtc_peer_describe(peer, "set-remote-description", GST_WEBRTC_SDP_TYPE_ANSWER, sdp,
                              message, capacity);
}

void webrtc_peer_destroy(webrtc_peer *peer) {
  g_signal_handlers_disconnect_by_data(peer->element, peer);
  gst_object_unref(peer->element);
  g_clear_object(&peer->sound);
  g_ptr_array_unref(peer->named);
  gst_clear_event(&peer->sending.keyRequest);
  explicit_bzero(&peer->identity, sizeof peer->identity);
  g_free(peer);
}

#else
// Without the package trait Media this file has only the declaration that ISO C requires.
typedef int webrtc_peer_is_absent;
#endif
