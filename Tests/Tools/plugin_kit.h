// What plugin_harness.c and plugin_queries.c share: pipelines, harnesses, pictures.
#ifndef PLUGIN_KIT_H
#define PLUGIN_KIT_H

#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The arguments ROOT and N.
extern const char *root;
extern int count;

// Commands of plugin_queries.c.
void answer_queries(void);
void report_utilization(void);
void drop_late(void);
void begin_at_zero(void);
void flush_in_midstream(void);
void interrupt_sink(void);
void scale_to_square(void);
void wait_for_slots(void);
void lose_chroma_site(void);

static inline void fail(const char *what) {
  fprintf(stderr, "plugin_harness: %s\n", what);
  exit(1);
}

static inline GstElement *launch(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  gchar *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(text, &error);
  if (error != NULL) fail(error->message);
  g_free(text);
  return pipeline;
}

// Waits for a message of these types; fails with the text of an error that is not among them.
static inline GstMessage *await(GstElement *pipeline, GstMessageType types) {
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, 120 * GST_SECOND, types | GST_MESSAGE_ERROR);
  gst_object_unref(bus);
  if (message == NULL) fail("no message within two minutes");
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR && !(types & GST_MESSAGE_ERROR)) {
    GError *error = NULL;
    gst_message_parse_error(message, &error, NULL);
    fail(error->message);
  }
  return message;
}

static inline void end(GstElement *pipeline) {
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

static inline guint64 figure(GstElement *element, const char *name) {
  GstStructure *stats = NULL;
  guint64 value = 0;
  g_object_get(element, "stats", &stats, NULL);
  if (!gst_structure_get_uint64(stats, name, &value)) {
    guint held = 0;
    if (!gst_structure_get_uint(stats, name, &held)) fail(name);
    value = held;
  }
  gst_structure_free(stats);
  return value;
}

static inline GstHarness *sink_harness(const char *options) {
  gchar *text = g_strdup_printf("framebussink name=sink root=%s stream=a sync=false %s", root,
                                options);
  GstHarness *harness = gst_harness_new_parse(text);
  g_free(text);
  gst_harness_use_systemclock(harness);
  return harness;
}

static inline GstHarness *source_harness(const char *options) {
  gchar *text = g_strdup_printf("framebussrc name=source root=%s stream=a %s", root, options);
  GstHarness *harness = gst_harness_new_parse(text);
  g_free(text);
  gst_harness_use_systemclock(harness);
  gst_harness_play(harness);
  return harness;
}

static inline gchar *picture_caps(int width, int height) {
  return g_strdup_printf("video/x-raw,format=BGRx,width=%d,height=%d,framerate=30/1", width,
                         height);
}

static inline GstBuffer *picture(int width, int height, int value) {
  gsize size = (gsize)width * (gsize)height * 4;
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, size, NULL);
  gst_buffer_memset(buffer, 0, (guint8)value, size);
  GST_BUFFER_PTS(buffer) = 0;
  return buffer;
}

static inline void push(GstHarness *harness, GstBuffer *buffer) {
  GstFlowReturn flow = gst_harness_push(harness, buffer);
  if (flow != GST_FLOW_OK) fail(gst_flow_get_name(flow));
}

static inline GstBuffer *pull(GstHarness *harness) {
  GstBuffer *buffer = gst_harness_pull(harness);
  if (buffer == NULL) fail("no buffer within a minute");
  return buffer;
}

#endif
