#ifdef FRAMEBUS_MEDIA
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <gst/app/gstappsink.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "LiveKit.h"
#include "LivePeer.h"

static live_picture_handler handle_picture;
static live_size_handler handle_size;

static GstFlowReturn take_sample(GstAppSink *sink, gpointer data) {
  (void)data;
  GstSample *sample = gst_app_sink_pull_sample(sink);
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    live_fail("cannot read a picture");
  handle_picture(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0), (unsigned)info.width,
                 (unsigned)info.height, (unsigned)GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0));
  gst_video_frame_unmap(&frame);
  gst_sample_unref(sample);
  return GST_FLOW_OK;
}

static GstFlowReturn take_size(GstAppSink *sink, gpointer data) {
  (void)data;
  GstSample *sample = gst_app_sink_pull_sample(sink);
  handle_size(gst_buffer_get_size(gst_sample_get_buffer(sample)));
  gst_sample_unref(sample);
  return GST_FLOW_OK;
}

static const char *const decoding =
    "rtph264depay ! avdec_h264 max-threads=1 ! video/x-raw,format=I420 "
    "! appsink name=end sync=false";
static const char *const measuring =
    "rtph264depay ! video/x-h264,stream-format=byte-stream,alignment=au "
    "! appsink name=end sync=false";

/// Decodes on one thread, because several threads would wait for each other's pictures.
static void receive(GstElement *peer, GstPad *pad, gpointer data) {
  (void)data;
  GstElement *pipeline = GST_ELEMENT(gst_element_get_parent(peer));
  GstElement *decoder = gst_parse_bin_from_description(
      handle_size ? measuring : decoding, TRUE, NULL);
  if (decoder == NULL) live_fail("cannot create the decoder; install gstreamer1.0-libav");
  GstElement *end = gst_bin_get_by_name(GST_BIN(decoder), "end");
  GstAppSinkCallbacks callbacks = {.new_sample = handle_size ? take_size : take_sample};
  gst_app_sink_set_callbacks(GST_APP_SINK(end), &callbacks, NULL, NULL);
  gst_object_unref(end);
  gst_bin_add(GST_BIN(pipeline), decoder);
  GstPad *input = gst_element_get_static_pad(decoder, "sink");
  gst_pad_link(pad, input);
  gst_object_unref(input);
  gst_element_sync_state_with_parent(decoder);
  gst_object_unref(pipeline);
}

/// Creates a peer without a session. Creating its certificate takes some time.
static GstElement *make_peer(void) {
  GstElement *pipeline = gst_pipeline_new(NULL);
  GstElement *peer = gst_element_factory_make("webrtcbin", NULL);
  if (peer == NULL) live_fail("cannot create webrtcbin; install gstreamer1.0-plugins-bad");
  g_object_set(peer, "bundle-policy", GST_WEBRTC_BUNDLE_POLICY_MAX_BUNDLE, "latency", 0, NULL);
  gst_bin_add(GST_BIN(pipeline), peer);
  live_use_loopback(peer);
  g_signal_connect(peer, "pad-added", G_CALLBACK(receive), NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  return peer;
}

/// The result is freed with g_free.
static char *answer_offer(GstElement *peer, const char *offer) {
  live_set_description(peer, "set-remote-description", GST_WEBRTC_SDP_TYPE_OFFER, offer);
  return live_describe(peer, "create-answer", "answer", GST_WEBRTC_SDP_TYPE_ANSWER);
}

static void add_candidates(GstElement *peer, char *fragment) {
  char *rest = NULL;
  for (char *line = strtok_r(fragment, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest))
    if (g_str_has_prefix(line, "a=candidate:"))
      g_signal_emit_by_name(peer, "add-ice-candidate", 0, line + 2);
}

/// Answers one request; the caller closes the connection.
static void serve(FILE *in, FILE *out, GstElement *peer) {
  char method[16], line[4096];
  size_t length = 0;
  if (fgets(line, sizeof line, in) == NULL || sscanf(line, "%15s", method) != 1) return;
  while (fgets(line, sizeof line, in) != NULL && line[0] != '\r')
    if (strncasecmp(line, "content-length:", 15) == 0) length = strtoul(line + 15, NULL, 10);
  if (length > 1 << 20) return;
  char *body = g_malloc0(length + 1);
  if (fread(body, 1, length, in) != length) live_fail("incomplete request");
  if (strcmp(method, "POST") == 0) {
    char *answer = answer_offer(peer, body);
    fprintf(out,
            "HTTP/1.1 201 Created\r\nContent-Type: application/sdp\r\nLocation: /session\r\n"
            "Connection: close\r\nContent-Length: %zu\r\n\r\n%s",
            strlen(answer), answer);
    g_free(answer);
  } else {
    if (strcmp(method, "PATCH") == 0) add_candidates(peer, body);
    fputs("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", out);
  }
  g_free(body);
}

static void __attribute__((noreturn)) listen_and_serve(void) {
  GstElement *peer = make_peer();
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 4) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &length) != 0)
    live_fail("cannot listen");
  printf("listening %u\n", ntohs(address.sin_port));
  fflush(stdout);
  while (true) {
    int number = accept(listener, NULL, NULL);
    if (number < 0) live_fail("cannot accept a connection");
    FILE *in = fdopen(number, "r"), *out = fdopen(dup(number), "w");
    if (in == NULL || out == NULL) live_fail("cannot open the connection's streams");
    serve(in, out, peer);
    fclose(out);
    fclose(in);
  }
}

void live_receive(live_picture_handler handler) {
  handle_picture = handler;
  listen_and_serve();
}

void live_receive_sizes(live_size_handler handler) {
  handle_size = handler;
  listen_and_serve();
}

void live_receive_srt(live_picture_handler handler, const char *location) {
  handle_picture = handler;
  GstElement *pipeline = live_launch(g_strdup_printf(
      "srtsrc uri=%s ! tsdemux ! h264parse ! avdec_h264 max-threads=1 ! video/x-raw,format=I420 "
      "! appsink name=end sync=false", location));
  GstElement *end = gst_bin_get_by_name(GST_BIN(pipeline), "end");
  GstAppSinkCallbacks callbacks = {.new_sample = take_sample};
  gst_app_sink_set_callbacks(GST_APP_SINK(end), &callbacks, NULL, NULL);
  gst_object_unref(end);
  if (gst_element_set_state(pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    live_fail("cannot listen");
  puts("listening");
  fflush(stdout);
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  live_fail(GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS ? "the sender ended" : "SRT failed");
}

#else
typedef int live_receiver_is_absent;
#endif
