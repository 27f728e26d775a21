// A pipeline of GStreamer's as a subject of `framebus bench capture`: reads the numbers that are
// drawn into its pictures, and reports as NumberKit does.
//
//   ElementReader ELEMENTS    such as `pipewiresrc path=45 ! video/x-raw`

#include <NumberKit.h>
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *what) {
  fprintf(stderr, "error: ElementReader: %s\n", what);
  exit(1);
}

static void read_picture(number_counts *counts, GstSample *sample) {
  GstVideoInfo info;
  GstVideoFrame frame;
  GstCaps *caps = gst_sample_get_caps(sample);
  if (caps == NULL || !gst_video_info_from_caps(&info, caps)) fail("no video");
  if (GST_VIDEO_INFO_WIDTH(&info) < NUMBER_WIDTH || GST_VIDEO_INFO_COMP_PSTRIDE(&info, 0) != 4) {
    fail("the pictures carry no number");
  }
  if (!gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ)) {
    fail("a picture cannot be mapped");
  }
  number_note(
    counts, GST_VIDEO_FRAME_PLANE_DATA(&frame, 0),
    (size_t)GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0), 0);
  gst_video_frame_unmap(&frame);
}

int main(int count, char **arguments) {
  if (count != 2) fail("usage: ElementReader ELEMENTS");
  gst_init(NULL, NULL);
  GError *error = NULL;
  gchar *description = g_strdup_printf("%s ! appsink name=sink sync=false", arguments[1]);
  GstElement *pipeline = gst_parse_launch(description, &error);
  if (pipeline == NULL || error != NULL) fail(error != NULL ? error->message : "no pipeline");
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  if (gst_element_set_state(pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    fail("cannot start the pipeline");
  }
  number_counts *counts = number_begin();
  GstSample *sample;
  while ((sample = gst_app_sink_pull_sample(GST_APP_SINK(sink))) != NULL) {
    read_picture(counts, sample);
    gst_sample_unref(sample);
  }
  fail("the pipeline has ended");
}
