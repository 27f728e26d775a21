#ifdef FRAMEBUS_MEDIA
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <gst/app/gstappsrc.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "LiveKit.h"
#include "LivePeer.h"

struct live_sender {
  GstElement *source, *peer;
  GstBufferPool *pool;
  GstBuffer *buffer;
  GstMapInfo map;
  GstClockTime frameNs;
};

// Like the product's pipeline, without the elements that scale pictures.
#define ENCODING                                                                               \
  "appsrc name=source format=time max-buffers=2 max-bytes=0 "                                  \
  "caps=video/x-raw,format=BGRx,width=%u,height=%u,framerate=%u/1 "                            \
  "! %s ! video/x-raw,format=I420 ! queue max-size-buffers=2 max-size-bytes=0 max-size-time=0 " \
  "! x264enc tune=zerolatency speed-preset=ultrafast bitrate=%u key-int-max=%u "
#define BY_WEBRTC                                                                              \
  "! video/x-h264,profile=constrained-baseline "                                               \
  "! rtph264pay config-interval=-1 aggregate-mode=zero-latency "                               \
  "! application/x-rtp,media=video,encoding-name=H264,payload=96 "                             \
  "! webrtcbin name=peer bundle-policy=max-bundle latency=0"
#define BY_SRT                                                                                 \
  "! h264parse config-interval=-1 ! mpegtsmux alignment=7 "                                    \
  "! srtsink name=peer sync=false uri=%s"

static GstBufferPool *make_pool(GstElement *source, unsigned byteCount) {
  GstCaps *caps = gst_app_src_get_caps(GST_APP_SRC(source));
  GstBufferPool *pool = gst_buffer_pool_new();
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, byteCount, 2, 3);
  gst_caps_unref(caps);
  if (!gst_buffer_pool_set_config(pool, config) || !gst_buffer_pool_set_active(pool, TRUE))
    live_fail("cannot allocate the buffer pool");
  return pool;
}

live_sender *live_sender_create(const struct live_format *format) {
  bool isSRT = format->location != NULL;
  char *output = isSRT ? g_strdup_printf(BY_SRT, format->location) : g_strdup(BY_WEBRTC);
  char *encoding = g_strdup_printf(
      ENCODING, format->width, format->height, format->framesPerSecond, format->converter,
      format->kilobitsPerSecond, format->framesPerSecond * (isSRT ? 2 : 4));
  GstElement *pipeline = live_launch(g_strconcat(encoding, output, NULL));
  g_free(encoding);
  g_free(output);
  live_sender *sender = g_new0(live_sender, 1);
  sender->source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  sender->peer = gst_bin_get_by_name(GST_BIN(pipeline), "peer");
  sender->pool = make_pool(sender->source, format->width * format->height * 4);
  sender->frameNs = GST_SECOND / format->framesPerSecond;
  if (!isSRT) live_use_loopback(sender->peer);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  return sender;
}

void *live_sender_begin(live_sender *sender) {
  GstBufferPoolAcquireParams now = {.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT};
  if (gst_buffer_pool_acquire_buffer(sender->pool, &sender->buffer, &now) != GST_FLOW_OK)
    return NULL;
  if (!gst_buffer_map(sender->buffer, &sender->map, GST_MAP_WRITE))
    live_fail("cannot map a buffer");
  return sender->map.data;
}

void live_sender_send(live_sender *sender, uint64_t ptsNs) {
  gst_buffer_unmap(sender->buffer, &sender->map);
  GST_BUFFER_PTS(sender->buffer) = ptsNs;
  GST_BUFFER_DURATION(sender->buffer) = sender->frameNs;
  if (gst_app_src_push_buffer(GST_APP_SRC(sender->source), sender->buffer) != GST_FLOW_OK)
    live_fail("the pipeline refused a picture");
}

/// Sends a POST request and returns the body of the response. Free it with g_free.
static char *post(unsigned port, const char *offer) {
  int number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(number, (struct sockaddr *)&address, sizeof address) != 0)
    live_fail("cannot connect to the endpoint");
  FILE *stream = fdopen(number, "r+");
  if (stream == NULL) live_fail("cannot open the connection's stream");
  fprintf(stream,
          "POST /whip HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sdp\r\n"
          "Content-Length: %zu\r\n\r\n%s",
          strlen(offer), offer);
  fflush(stream);
  GString *answer = g_string_new(NULL);
  for (int next; (next = fgetc(stream)) != EOF;) g_string_append_c(answer, (char)next);
  fclose(stream);
  char *body = strstr(answer->str, "\r\n\r\n");
  if (body == NULL || strstr(answer->str, " 201 ") == NULL)
    live_fail("the endpoint refused the offer");
  body = g_strdup(body + 4);
  g_string_free(answer, TRUE);
  return body;
}

void live_sender_connect(live_sender *sender, unsigned port) {
  // The transceiver is created with the format of the first packet.
  for (GArray *found = NULL; found == NULL || found->len == 0; g_usleep(1000)) {
    if (found != NULL) g_array_unref(found);
    g_signal_emit_by_name(sender->peer, "get-transceivers", &found);
  }
  GObject *transceiver = NULL;
  g_signal_emit_by_name(sender->peer, "get-transceiver", 0, &transceiver);
  g_object_set(transceiver, "direction", GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_SENDONLY, "do-nack",
               TRUE, NULL);
  g_object_unref(transceiver);
  GstPad *pad = gst_element_get_static_pad(sender->peer, "sink_0");
  for (GstCaps *caps = NULL; caps == NULL; g_usleep(1000)) caps = gst_pad_get_current_caps(pad);
  char *offer = live_describe(sender->peer, "create-offer", "offer", GST_WEBRTC_SDP_TYPE_OFFER);
  char *answer = post(port, offer);
  live_set_description(sender->peer, "set-remote-description", GST_WEBRTC_SDP_TYPE_ANSWER, answer);
  g_free(offer);
  g_free(answer);
  live_wait_for(sender->peer, "connection-state", GST_WEBRTC_PEER_CONNECTION_STATE_CONNECTED);
}

#else
typedef int live_sender_is_absent;
#endif
