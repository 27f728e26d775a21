#ifdef FRAMEBUS_MEDIA
#define _GNU_SOURCE
#include "LiveKit.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "LivePeer.h"

void live_fail(const char *what) {
  fprintf(stderr, "error: %s\n", what);
  exit(1);
}

uint64_t live_now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

GstElement *live_launch(char *description) {
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(description, &error);
  g_free(description);
  if (pipeline == NULL || error != NULL)
    live_fail(error ? error->message : "cannot create the pipeline");
  return pipeline;
}

void live_use_loopback(GstElement *peer) {
  GObject *agent = NULL, *nice = NULL;
  gboolean isAdded = FALSE;
  g_object_get(peer, "ice-agent", &agent, NULL);
  g_signal_emit_by_name(agent, "add-local-ip-address", "127.0.0.1", &isAdded);
  // Prevents a query for a router port, whose reply would take seconds.
  g_object_get(agent, "agent", &nice, NULL);
  g_object_set(nice, "upnp", FALSE, NULL);
  g_object_unref(nice);
  g_object_unref(agent);
  if (!isAdded) live_fail("cannot use the address 127.0.0.1");
}

void live_wait_for(GstElement *peer, const char *property, int value) {
  for (int found = -1; found != value; g_usleep(1000)) g_object_get(peer, property, &found, NULL);
}

void live_set_description(GstElement *peer, const char *signal, GstWebRTCSDPType type,
                          const char *text) {
  GstSDPMessage *message = NULL;
  if (gst_sdp_message_new_from_text(text, &message) != GST_SDP_OK)
    live_fail("malformed session description");
  GstWebRTCSessionDescription *description = gst_webrtc_session_description_new(type, message);
  GstPromise *promise = gst_promise_new();
  g_signal_emit_by_name(peer, signal, description, promise);
  if (gst_promise_wait(promise) != GST_PROMISE_RESULT_REPLIED) live_fail(signal);
  gst_promise_unref(promise);
  gst_webrtc_session_description_free(description);
}

char *live_describe(GstElement *peer, const char *signal, const char *field,
                    GstWebRTCSDPType type) {
  GstPromise *promise = gst_promise_new();
  g_signal_emit_by_name(peer, signal, NULL, promise);
  if (gst_promise_wait(promise) != GST_PROMISE_RESULT_REPLIED) live_fail(signal);
  GstWebRTCSessionDescription *made = NULL, *complete = NULL;
  gst_structure_get(gst_promise_get_reply(promise), field, GST_TYPE_WEBRTC_SESSION_DESCRIPTION,
                    &made, NULL);
  gst_promise_unref(promise);
  if (made == NULL) live_fail(signal);
  char *text = gst_sdp_message_as_text(made->sdp);
  gst_webrtc_session_description_free(made);
  live_set_description(peer, "set-local-description", type, text);
  g_free(text);
  // It then contains all candidates, so that none have to be sent later.
  live_wait_for(peer, "ice-gathering-state", GST_WEBRTC_ICE_GATHERING_STATE_COMPLETE);
  g_object_get(peer, "local-description", &complete, NULL);
  text = gst_sdp_message_as_text(complete->sdp);
  gst_webrtc_session_description_free(complete);
  return text;
}

#else
typedef int live_kit_is_absent;
#endif
