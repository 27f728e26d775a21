#define _GNU_SOURCE
#include "CWebRTCViewer.h"

#ifdef FRAMEBUS_MEDIA
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "WebRTCPeer.h"

/// At most about a second of pictures: a viewer that lags more should skip to the newest.
enum { WAITING_UNITS = 30 };

struct webrtc_viewer {
  GstElement *pipeline;
  webrtc_peer *peer;
  GstElement *sources[WEBRTC_VIEWER_TRACKS];
  unsigned trackCount;
  /// The element that receives the viewer's packets; NULL until there is one, or if the viewer may
  /// be on another machine.
  GstElement *receiver;
  bool isOnThisMachine;
  webrtc_event_handler handler;
  webrtc_key_frame_handler keyFrameHandler;
  void *context;
  /// The time of the first unit sent since the viewer's last packet; 0 if there is no such unit.
  atomic_uint_least64_t unansweredSinceNs;
};

static uint64_t now_ns(void) {
  GstClock *clock = gst_system_clock_obtain();
  uint64_t now = gst_clock_get_time(clock);
  gst_object_unref(clock);
  return now;
}

static GstBusSyncReply on_message(GstBus *bus, GstMessage *message, gpointer data) {
  (void)bus;
  webrtc_viewer *viewer = data;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    struct webrtc_event event = {.kind = WEBRTC_FAILED, .text = ""};
    viewer->handler(viewer->context, &event);
  }
  // No main loop reads the bus.
  gst_message_unref(message);
  return GST_BUS_DROP;
}

static GstPadProbeReturn on_upstream_event(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad;
  webrtc_viewer *viewer = data;
  if (gst_video_event_is_force_key_unit(GST_PAD_PROBE_INFO_EVENT(info)))
    viewer->keyFrameHandler(viewer->context);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn on_heard(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad;
  (void)info;
  webrtc_viewer *viewer = data;
  // Relaxed: only the time itself is read, and it guards no other data.
  atomic_store_explicit(&viewer->unansweredSinceNs, 0, memory_order_relaxed);
  return GST_PAD_PROBE_OK;
}

/// Finds the element that receives the viewer's packets, such as its reports.
static void on_element(GstBin *bin, GstBin *inner, GstElement *element, gpointer context) {
  (void)bin;
  (void)inner;
  webrtc_viewer *viewer = context;
  GstElementFactory *factory = gst_element_get_factory(element);
  if (factory == NULL || strcmp(GST_OBJECT_NAME(factory), "nicesrc") != 0) return;
  if (viewer->isOnThisMachine && viewer->receiver == NULL)
    viewer->receiver = gst_object_ref(element);
  GstPad *pad = gst_element_get_static_pad(element, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, on_heard,
                    viewer, NULL);
  gst_object_unref(pad);
}

/// Reports an event. The answer waits for the end of gathering, so nobody knows the sockets' ports
/// and passwords before they are closed to other machines.
static void on_event(void *context, const struct webrtc_event *event) {
  webrtc_viewer *viewer = context;
  struct webrtc_event failure = {.kind = WEBRTC_FAILED, .text = ""};
  bool isOpen = event->kind == WEBRTC_GATHERED && viewer->isOnThisMachine &&
                !webrtc_close_to_others(viewer->receiver);
  viewer->handler(viewer->context, isOpen ? &failure : event);
}

/// Makes libnice notice a peer that no longer answers. A killed peer sends no DTLS alert, and
/// without media there are no reports that could stop.
void webrtc_watch_for_silence(GstElement *element) {
  GObject *agent = NULL, *nice = NULL;
  g_object_get(element, "ice-agent", &agent, NULL);
  if (agent == NULL) return;
  g_object_get(agent, "agent", &nice, NULL);
  if (nice != NULL) g_object_set(nice, "keepalive-conncheck", TRUE, NULL);
  g_clear_object(&nice);
  g_object_unref(agent);
}

static GstElement *make_pipeline(webrtc_viewer *viewer) {
  GstElement *element = gst_element_factory_make("webrtcbin", NULL);
  if (element == NULL) return NULL;
  gst_util_set_object_arg(G_OBJECT(element), "bundle-policy", "max-bundle");
  g_object_set(element, "latency", 0, NULL);
  viewer->pipeline = gst_pipeline_new(NULL);
  gst_bin_add(GST_BIN(viewer->pipeline), element);
  // All pipelines share one time base, CLOCK_MONOTONIC, so that units keep their timestamps.
  GstClock *clock = gst_system_clock_obtain();
  gst_pipeline_use_clock(GST_PIPELINE(viewer->pipeline), clock);
  gst_object_unref(clock);
  gst_element_set_start_time(viewer->pipeline, GST_CLOCK_TIME_NONE);
  gst_element_set_base_time(viewer->pipeline, 0);
  GstBus *bus = gst_element_get_bus(viewer->pipeline);
  gst_bus_set_sync_handler(bus, on_message, viewer, NULL);
  gst_object_unref(bus);
  return element;
}

/// Links a branch to webrtcbin as a send-only track with a payload type. webrtcbin pairs the track
/// with the section of the offer that has this type.
static bool join(webrtc_viewer *viewer, GstElement *branch, const struct webrtc_track *track) {
  GstPad *pad = gst_element_request_pad_simple(viewer->peer->element, "sink_%u");
  if (pad == NULL) return false;
  GstPad *end = gst_element_get_static_pad(branch, "src");
  bool isLinked = gst_pad_link(end, pad) == GST_PAD_LINK_OK;
  gst_object_unref(end);
  GObject *transceiver = NULL;
  g_object_get(pad, "transceiver", &transceiver, NULL);
  gst_object_unref(pad);
  if (transceiver == NULL) return false;
  GstCaps *caps = gst_caps_from_string(track->packetCaps);
  // Retransmission is for video only: Chromium does not accept NACK for sound.
  g_object_set(transceiver, "direction", GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_SENDONLY,
               "codec-preferences", caps, "do-nack", !track->isSound, NULL);
  gst_caps_unref(caps);
  g_object_unref(transceiver);
  return isLinked;
}

static bool add_track(webrtc_viewer *viewer, const struct webrtc_track *track, char *message,
                      size_t capacity) {
  GError *error = NULL;
  char *text = g_strdup_printf(
      "appsrc name=source format=time is-live=true max-buffers=0 max-bytes=0 max-time=0 caps=%s "
      "! %s ! capsfilter caps=%s",
      track->unitCaps, track->packer, track->packetCaps);
  GstElement *branch = gst_parse_bin_from_description(text, TRUE, &error);
  g_free(text);
  if (branch == NULL) {
    snprintf(message, capacity, "%s", error != NULL ? error->message : "no payloader");
    g_clear_error(&error);
    return false;
  }
  GstElement *source = gst_bin_get_by_name(GST_BIN(branch), "source");
  GstPad *end = gst_element_get_static_pad(source, "src");
  gst_pad_add_probe(end, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, on_upstream_event, viewer, NULL);
  gst_object_unref(end);
  viewer->sources[viewer->trackCount++] = source;
  bool isJoined = gst_bin_add(GST_BIN(viewer->pipeline), branch) &&
                  join(viewer, branch, track) && gst_element_sync_state_with_parent(branch);
  if (!isJoined) snprintf(message, capacity, "webrtcbin does not accept %s", track->packetCaps);
  return isJoined;
}

static bool answer(webrtc_viewer *viewer, const struct webrtc_viewer_options *options,
                   char *message, size_t capacity) {
  if (!webrtc_peer_describe(viewer->peer, "set-remote-description", GST_WEBRTC_SDP_TYPE_OFFER,
                            options->offer, message, capacity))
    return false;
  for (unsigned i = 0; i < options->trackCount; i++)
    if (!add_track(viewer, &options->tracks[i], message, capacity)) return false;
  char *text = webrtc_peer_make(viewer->peer, "answer", message, capacity);
  if (text == NULL) return false;
  bool isSet = webrtc_peer_describe(viewer->peer, "set-local-description",
                                    GST_WEBRTC_SDP_TYPE_ANSWER, text, message, capacity);
  g_free(text);
  return isSet;
}

webrtc_viewer *webrtc_viewer_create(const struct webrtc_viewer_options *options,
                                    bool *isOfferRefused, char *message, size_t capacity) {
  *isOfferRefused = false;
  webrtc_viewer *viewer = g_new0(webrtc_viewer, 1);
  viewer->handler = options->handler;
  viewer->keyFrameHandler = options->keyFrameHandler;
  viewer->context = options->context;
  GstElement *element = make_pipeline(viewer);
  if (element != NULL)
    viewer->peer = webrtc_peer_watch(element, on_event, viewer);
  if (viewer->peer == NULL) {
    snprintf(message, capacity, "webrtcbin is missing, or has no identity");
    webrtc_viewer_destroy(viewer);
    return NULL;
  }
  webrtc_watch_for_silence(element);
  g_signal_connect(element, "deep-element-added", G_CALLBACK(on_element), viewer);
  viewer->isOnThisMachine =
      webrtc_is_loopback(options->localAddress) && webrtc_can_close_to_others();
  if (viewer->isOnThisMachine)
    webrtc_peer_add_all_addresses(viewer->peer);
  else if (options->localAddress != NULL)
    webrtc_peer_add_local_address(viewer->peer, options->localAddress);
  gst_element_set_state(viewer->pipeline, GST_STATE_PLAYING);
  if (answer(viewer, options, message, capacity)) return viewer;
  // The elements exist, so a failure is the offer's fault.
  *isOfferRefused = true;
  webrtc_viewer_destroy(viewer);
  return NULL;
}

char *webrtc_viewer_answer(webrtc_viewer *viewer) {
  GstWebRTCSessionDescription *local = NULL;
  g_object_get(viewer->peer->element, "local-description", &local, NULL);
  if (local == NULL) return NULL;
  char *text = gst_sdp_message_as_text(local->sdp);
  gst_webrtc_session_description_free(local);
  return text;
}

const char *webrtc_viewer_fingerprint(webrtc_viewer *viewer) {
  return webrtc_peer_fingerprint(viewer->peer);
}

void webrtc_viewer_add_candidate(webrtc_viewer *viewer, unsigned mediaIndex, const char *text) {
  g_signal_emit_by_name(viewer->peer->element, "add-ice-candidate", (guint)mediaIndex, text);
}

bool webrtc_viewer_push(webrtc_viewer *viewer, unsigned track, void *unit) {
  if (track >= viewer->trackCount) return false;
  GstAppSrc *source = GST_APP_SRC(viewer->sources[track]);
  if (gst_app_src_get_current_level_buffers(source) >= WAITING_UNITS) return false;
  uint_least64_t none = 0;
  atomic_compare_exchange_strong_explicit(&viewer->unansweredSinceNs, &none, now_ns(),
                                          memory_order_relaxed, memory_order_relaxed);
  return gst_app_src_push_buffer(source, gst_buffer_ref(unit)) == GST_FLOW_OK;
}

uint64_t webrtc_viewer_unanswered_ns(webrtc_viewer *viewer) {
  uint64_t since = atomic_load_explicit(&viewer->unansweredSinceNs, memory_order_relaxed);
  return since == 0 ? 0 : now_ns() - since;
}

void webrtc_viewer_destroy(webrtc_viewer *viewer) {
  if (viewer->pipeline != NULL) {
    gst_element_set_state(viewer->pipeline, GST_STATE_NULL);
    GstBus *bus = gst_element_get_bus(viewer->pipeline);
    gst_bus_set_sync_handler(bus, NULL, NULL, NULL);
    gst_object_unref(bus);
  }
  if (viewer->peer != NULL) webrtc_peer_destroy(viewer->peer);
  for (unsigned i = 0; i < viewer->trackCount; i++) gst_object_unref(viewer->sources[i]);
  g_clear_object(&viewer->receiver);
  g_clear_object(&viewer->pipeline);
  g_free(viewer);
}

#else
typedef int webrtc_viewer_is_absent;
#endif
