#define _GNU_SOURCE
#include "CWebRTCViewer.h"

#ifdef FRAMEBUS_MEDIA
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/video.h>

struct feed {
  uint64_t originNs;
  webrtc_unit_handler handler;
  void *context;
};

static GstFlowReturn on_unit(GstAppSink *sink, gpointer context) {
  struct feed *feed = context;
  GstSample *sample = gst_app_sink_pull_sample(sink);
  if (sample == NULL) return GST_FLOW_EOS;
  GstBuffer *buffer = gst_sample_get_buffer(sample);
  // An encoder may shift its timestamps, and its segment by the same amount.
  GstClockTime time = gst_segment_to_running_time(gst_sample_get_segment(sample), GST_FORMAT_TIME,
                                                  GST_BUFFER_PTS(buffer));
  if (GST_CLOCK_TIME_IS_VALID(time)) {
    // The copy shares the memory; only its metadata are new.
    GstBuffer *copy = gst_buffer_copy(buffer);
    GST_BUFFER_PTS(copy) = feed->originNs + time;
    GST_BUFFER_DTS(copy) = GST_CLOCK_TIME_NONE;
    struct webrtc_unit unit = {
        .unit = copy,
        .sample = sample,
        .byteCount = gst_buffer_get_size(copy),
        .isKeyFrame = !GST_BUFFER_FLAG_IS_SET(copy, GST_BUFFER_FLAG_DELTA_UNIT),
        .timeNs = GST_BUFFER_PTS(copy)};
    feed->handler(feed->context, &unit);
    gst_buffer_unref(copy);
  }
  gst_sample_unref(sample);
  return GST_FLOW_OK;
}

bool webrtc_feed_watch(upload_pipeline *pipeline, uint64_t originNs, webrtc_unit_handler handler,
                       void *context) {
  GstElement *sink = upload_pipeline_last_element(pipeline);
  if (!GST_IS_APP_SINK(sink)) return false;
  struct feed *feed = g_new0(struct feed, 1);
  *feed = (struct feed){.originNs = originNs, .handler = handler, .context = context};
  GstAppSinkCallbacks callbacks = {.new_sample = on_unit};
  g_object_set(sink, "sync", FALSE, "async", FALSE, NULL);
  gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, feed, g_free);
  return true;
}

void webrtc_feed_want_key_frame(upload_pipeline *pipeline) {
  gst_element_send_event(
      upload_pipeline_last_element(pipeline),
      gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, TRUE, 0));
}

#else
typedef int webrtc_feed_is_absent;
#endif
