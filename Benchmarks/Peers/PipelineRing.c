// Pipelines of GStreamer's as subjects of `framebus bench gstreamer`. The program's name selects
// the elements: framebussink and framebussrc, or shmsink and shmsrc. The publisher pushes pictures
// from a pad, as an earlier element does, in memory that the sink offers; the receiver is the
// callback of appsink.
#define _GNU_SOURCE
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "RingKit.h"

static bool is_framebus;
static GstElement *pipeline;

static void fail(const char *text) {
  fprintf(stderr, "error: %s\n", text);
  exit(1);
}

static void launch(char *description) {
  GError *error = NULL;
  GstElement *elements = gst_parse_launch(description, &error);
  g_free(description);
  if (elements == NULL || error != NULL) fail(error == NULL ? "gst_parse_launch" : error->message);
  pipeline = elements;
  // One element alone is not a pipeline, and has no clock.
  if (GST_IS_PIPELINE(elements)) return;
  pipeline = gst_pipeline_new(NULL);
  gst_bin_add(GST_BIN(pipeline), elements);
}

static void play(void) {
  if (gst_element_set_state(pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    fail("cannot start the pipeline");
  }
}

// A picture of 64×64 or 1920×1080 pixels.
static gchar *caps_of(const ring_job *job) {
  size_t width = job->bytes == 64 * 64 * 4 ? 64 : 1920;
  return g_strdup_printf("video/x-raw,format=BGRx,width=%zu,height=%zu,framerate=60/1", width,
                         job->bytes / 4 / width);
}

// MARK: Publishing

static GstElement *sink;
static GstPad *pad;
static GstBufferPool *pool;
static GstAllocator *allocator;

// Introduces the pad to the sink, and takes the memory that it offers.
static void negotiate(const ring_job *job) {
  sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstPad *target = gst_element_get_static_pad(sink, "sink");
  pad = gst_pad_new("source", GST_PAD_SRC);
  gst_pad_set_active(pad, TRUE);
  if (gst_pad_link(pad, target) != GST_PAD_LINK_OK) fail("gst_pad_link");
  gchar *text = caps_of(job);
  GstCaps *caps = gst_caps_from_string(text);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(pad, gst_event_new_stream_start("bench"));
  gst_pad_push_event(pad, gst_event_new_caps(caps));
  gst_pad_push_event(pad, gst_event_new_segment(&segment));
  GstQuery *query = gst_query_new_allocation(caps, TRUE);
  if (!gst_pad_peer_query(pad, query)) fail("the sink does not answer the allocation query");
  guint size = 0, minimum = 0, maximum = 0;
  if (gst_query_get_n_allocation_pools(query) > 0) {
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &minimum, &maximum);
  }
  if (pool != NULL) {
    GstStructure *config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, size, minimum, maximum);
    gst_buffer_pool_config_add_option(config, "GstBufferPoolOptionVideoMeta");
    if (!gst_buffer_pool_set_config(pool, config)) fail("the pool refuses its configuration");
    gst_buffer_pool_set_active(pool, TRUE);
  } else {
    if (gst_query_get_n_allocation_params(query) == 0) fail("the sink offers no memory");
    gst_query_parse_nth_allocation_param(query, 0, &allocator, NULL);
  }
  gst_query_unref(query);
  gst_caps_unref(caps);
  g_free(text);
  gst_object_unref(target);
}

static GstBuffer *new_buffer(const ring_job *job, GstMapInfo *map) {
  GstBuffer *buffer = NULL;
  if (pool != NULL) {
    if (gst_buffer_pool_acquire_buffer(pool, &buffer, NULL) != GST_FLOW_OK) buffer = NULL;
  } else {
    buffer = gst_buffer_new_allocate(allocator, job->bytes, NULL);
  }
  if (buffer == NULL || !gst_buffer_map(buffer, map, GST_MAP_WRITE)) fail("no memory");
  GST_BUFFER_PTS(buffer) = ring_now_ns() - gst_element_get_base_time(pipeline);
  return buffer;
}

static void push(GstBuffer *buffer, GstMapInfo *map) {
  gst_buffer_unmap(buffer, map);
  if (gst_pad_push(pad, buffer) != GST_FLOW_OK) fail("the sink refuses a buffer");
}

static gchar *sink_of(const ring_job *job) {
  if (is_framebus) {
    // Of `depth` frames none is lost, and upstream gets no QoS events: both as with shmsink.
    guint ring = job->lossless ? 0 : job->depth;
    return g_strdup_printf(
        "framebussink name=sink stream=bench root=%s wait-for-subscriber=true lossless=%d loans=%u "
        "ring-depth=%u qos=false sync=false async=false",
        job->directory, job->lossless, job->depth, ring);
  }
  return g_strdup_printf(
      "shmsink name=sink socket-path=%s/shmsink shm-size=%zu wait-for-connection=true sync=false "
      "async=false",
      job->directory, (job->bytes + 4096) * (2 * job->depth + 2));
}

static void publish(const ring_job *job) {
  launch(sink_of(job));
  play();
  negotiate(job);
  ring_publishing *run = ring_begin_publishing(job);
  GstMapInfo map;
  while (ring_next(run)) {
    GstBuffer *buffer = new_buffer(job, &map);
    ring_write(run, map.data);
    push(buffer, &map);
  }
  // The receiver ends with the first end frame; shmsink would wait for another one.
  if (!is_framebus) g_object_set(sink, "wait-for-connection", FALSE, NULL);
  while (ring_unreleased(run)) {
    GstBuffer *buffer = new_buffer(job, &map);
    ring_write_end(map.data);
    push(buffer, &map);
  }
  ring_report_publishing(run);
}

// MARK: Receiving

static const ring_job *receiving_job;
static ring_receiving *receiving;
static sem_t ended;

// The thread of the source announces itself, and is the one that the kit gives a processor.
static GstBusSyncReply on_message(GstBus *bus, GstMessage *message, gpointer data) {
  (void)bus, (void)data;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError *error = NULL;
    gst_message_parse_error(message, &error, NULL);
    fail(error->message);
  }
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_STREAM_STATUS && receiving == NULL) {
    GstStreamStatusType type;
    gst_message_parse_stream_status(message, &type, NULL);
    if (type == GST_STREAM_STATUS_TYPE_ENTER) receiving = ring_begin_receiving(receiving_job);
  }
  gst_message_unref(message);
  return GST_BUS_DROP;
}

static GstFlowReturn take(GstAppSink *sink, gpointer data) {
  (void)data;
  GstSample *sample = gst_app_sink_pull_sample(sink);
  if (sample == NULL) fail("appsink has no sample");
  GstBuffer *buffer = gst_sample_get_buffer(sample);
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) fail("gst_buffer_map");
  bool goes_on = ring_take(receiving, map.data);
  gst_buffer_unmap(buffer, &map);
  gst_sample_unref(sample);
  if (goes_on) return GST_FLOW_OK;
  sem_post(&ended);
  return GST_FLOW_EOS;
}

static gchar *source_of(const ring_job *job) {
  const char *last = "appsink name=sink sync=false async=false";
  if (is_framebus) {
    const char *policy = job->lossless ? "lossless start=oldest" : "keep-latest";
    return g_strdup_printf("framebussrc stream=bench root=%s policy=%s policy-count=%u ! %s",
                           job->directory, policy, job->depth, last);
  }
  gchar *caps = caps_of(job);
  gchar *text = g_strdup_printf("shmsrc socket-path=%s/shmsink is-live=true ! %s ! %s",
                                job->directory, caps, last);
  g_free(caps);
  return text;
}

static void subscribe(const ring_job *job) {
  receiving_job = job;
  sem_init(&ended, 0, 0);
  launch(source_of(job));
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_bus_set_sync_handler(bus, on_message, NULL, NULL);
  GstAppSinkCallbacks callbacks = {.new_sample = take};
  GstElement *last = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  gst_app_sink_set_callbacks(GST_APP_SINK(last), &callbacks, NULL, NULL);
  play();
  while (sem_wait(&ended) != 0) continue;
  ring_report_receiving(receiving);
}

// The plugin lies where scripts/peers has built it, beside this program.
static void load_plugin(void) {
  gchar *program = g_file_read_link("/proc/self/exe", NULL);
  gchar *folder = g_path_get_dirname(program);
  gchar *path = g_build_filename(folder, "c/lib/gstreamer-1.0/libgstframebus.so", NULL);
  GError *error = NULL;
  if (gst_plugin_load_file(path, &error) == NULL) fail(error->message);
  g_free(path);
  g_free(folder);
  g_free(program);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  gst_init(NULL, NULL);
  ring_print_version(gst_version_string());
  is_framebus = strstr(arguments[0], "PipelineFramebus") != NULL;
  if (is_framebus) load_plugin();
  if (job.publishes) {
    publish(&job);
  } else {
    subscribe(&job);
  }
  fflush(stdout);
  // Exits without stopping the pipeline, whose end is not measured.
  _Exit(0);
}
