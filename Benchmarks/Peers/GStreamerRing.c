// GStreamer as a subject of `framebus bench ring`: `appsrc ! shmsink` and `shmsrc ! appsink`. The
// publisher fills buffers of shmsink's own allocator, as an upstream element would, so that nothing
// is copied while its memory has room.

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>

#include "RingKit.h"

static GstElement *launch(char *description) {
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(description, &error);
  g_free(description);
  if (pipeline == NULL || error != NULL) {
    fprintf(stderr, "error: %s\n", error == NULL ? "cannot create the pipeline" : error->message);
    exit(1);
  }
  return pipeline;
}

static void play(GstElement *pipeline) {
  if (gst_element_set_state(pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    ring_fail("cannot start the pipeline");
  }
}

// MARK: Publishing

static GstAllocator *allocator_of(GstElement *source) {
  GstPad *pad = gst_element_get_static_pad(source, "src");
  GstQuery *query = gst_query_new_allocation(NULL, FALSE);
  GstAllocator *allocator = NULL;
  if (gst_pad_peer_query(pad, query) && gst_query_get_n_allocation_params(query) > 0) {
    gst_query_parse_nth_allocation_param(query, 0, &allocator, NULL);
  }
  gst_query_unref(query);
  gst_object_unref(pad);
  if (allocator == NULL) ring_fail("shmsink offers no allocator");
  return allocator;
}

static void push(GstElement *source, GstBuffer *buffer, GstMapInfo *map) {
  gst_buffer_unmap(buffer, map);
  if (gst_app_src_push_buffer(GST_APP_SRC(source), buffer) != GST_FLOW_OK) ring_fail("appsrc");
}

static GstBuffer *new_buffer(const ring_job *job, GstAllocator *allocator, GstMapInfo *map) {
  GstBuffer *buffer = gst_buffer_new_allocate(allocator, job->bytes, NULL);
  if (buffer == NULL || !gst_buffer_map(buffer, map, GST_MAP_WRITE)) {
    ring_fail("cannot allocate a buffer");
  }
  return buffer;
}

static void publish(const ring_job *job) {
  GstElement *pipeline = launch(g_strdup_printf(
      "appsrc name=source block=true max-buffers=%u max-bytes=0 format=time "
      "! shmsink name=sink socket-path=%s/shmsink shm-size=%zu sync=false async=false "
      "wait-for-connection=true",
      job->depth, job->directory, (job->bytes + 4096) * (2 * job->depth + 2)));
  GstElement *source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  play(pipeline);
  GstAllocator *allocator = allocator_of(source);
  ring_publishing *run = ring_begin_publishing(job);
  GstMapInfo map;
  while (ring_next(run)) {
    GstBuffer *buffer = new_buffer(job, allocator, &map);
    ring_write(run, map.data);
    push(source, buffer, &map);
  }
  while (ring_unreleased(run)) {
    GstBuffer *buffer = new_buffer(job, allocator, &map);
    ring_write_end(map.data);
    push(source, buffer, &map);
  }
  ring_report_publishing(run);
}

// MARK: Receiving

static void subscribe(const ring_job *job) {
  GstElement *pipeline = launch(g_strdup_printf(
      "shmsrc socket-path=%s/shmsink is-live=true "
      "! appsink name=sink sync=false async=false max-buffers=%u",
      job->directory, job->depth));
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  play(pipeline);
  ring_receiving *run = ring_begin_receiving(job);
  bool goes_on = true;
  while (goes_on) {
    GstSample *sample = gst_app_sink_pull_sample(GST_APP_SINK(sink));
    if (sample == NULL) ring_fail("appsink");
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    GstMapInfo map;
    if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) ring_fail("gst_buffer_map");
    goes_on = ring_take(run, map.data);
    gst_buffer_unmap(buffer, &map);
    gst_sample_unref(sample);
  }
  ring_report_receiving(run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  gst_init(NULL, NULL);
  ring_print_version(gst_version_string());
  if (job.publishes) {
    publish(&job);
  } else {
    subscribe(&job);
  }
  fflush(stdout);
  // Exits without stopping the pipeline, whose end is not measured.
  _Exit(0);
}
