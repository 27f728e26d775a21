// Commands of plugin_harness.c about times, lateness, waits and what elements agree on.
#include <framebus.h>
#include <gst/base/base.h>

#include "plugin_kit.h"

static GstHarness *small_sink(const char *options) {
  GstHarness *sink = sink_harness(options);
  gst_harness_set_src_caps_str(sink, "video/x-raw,format=BGRx,width=16,height=16,framerate=30/1");
  return sink;
}

// Live and not: what the source answers to a latency query.
void answer_queries(void) {
  for (int is_live = 0; is_live < 2; is_live += 1) {
    GstHarness *sink = small_sink("");
    push(sink, picture(16, 16, 1));
    GstHarness *source = source_harness(is_live ? "latency=33000000" : "is-live=false");
    gst_buffer_unref(pull(source));
    GstQuery *query = gst_query_new_latency();
    if (!gst_pad_peer_query(source->sinkpad, query)) fail("no answer to the latency query");
    gboolean live = FALSE;
    GstClockTime least = 0, most = 0;
    gst_query_parse_latency(query, &live, &least, &most);
    printf("live %d latency %" G_GUINT64_FORMAT "%s\n", live, least,
           GST_CLOCK_TIME_IS_VALID(most) ? " limited" : "");
    gst_query_unref(query);
    gst_harness_teardown(source);
    gst_harness_teardown(sink);
  }
}

// A QoS event of later elements reaches the publisher as the load of its subscriber.
void report_utilization(void) {
  framebus_error error = FRAMEBUS_ERROR_INIT;
  framebus_group *group = NULL;
  framebus_publisher *publisher = NULL;
  framebus_format format = {.size = sizeof format};
  if (framebus_group_open(NULL, root, &group, &error) != FRAMEBUS_OK ||
      framebus_format_video(FRAMEBUS_XRGB8888, 16, 16, &format, &error) != FRAMEBUS_OK ||
      framebus_publisher_open(group, "a", &format, NULL, &publisher, &error) != FRAMEBUS_OK) {
    fail(error.message);
  }
  GstHarness *source = source_harness("");
  framebus_publisher_status status = {.size = sizeof status};
  gint64 limit = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;
  while (status.highest_utilization == 0) {
    framebus_slot slot = FRAMEBUS_SLOT_INIT;
    if (framebus_publisher_loan(publisher, 0, NULL, &slot, &error) != FRAMEBUS_OK ||
        framebus_loan_publish(slot.loan, NULL, FRAMEBUS_WHOLE, NULL, &error) != FRAMEBUS_OK) {
      fail(error.message);
    }
    gst_buffer_unref(pull(source));
    gst_pad_push_event(source->sinkpad, gst_event_new_qos(GST_QOS_TYPE_OVERFLOW, 0.75, 0, 0));
    framebus_publisher_get_status(publisher, &status, NULL);
    if (g_get_monotonic_time() > limit) fail("the publisher learns nothing");
  }
  printf("utilization %.2f\n", status.highest_utilization);
  gst_harness_teardown(source);
  framebus_publisher_close(publisher, FRAMEBUS_END_ENDED, NULL);
  framebus_group_close(group);
}

static int regions(GstBuffer *buffer) {
  gpointer position = NULL;
  int number = 0;
  while (gst_buffer_iterate_meta_filtered(buffer, &position,
                                          GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) != NULL) {
    number += 1;
  }
  return number;
}

// A late buffer is dropped, upstream is told, and the next frame shows what it would have shown.
void drop_late(void) {
  GstHarness *sink = small_sink("max-lateness=10000000000 ring-depth=8");
  GstElement *element = gst_harness_find_element(sink, "framebussink");
  g_object_set(element, "sync", TRUE, NULL);
  GstClock *clock = gst_system_clock_obtain();
  GstClockTime base = gst_clock_get_time(clock) - GST_SECOND;
  gst_object_unref(clock);
  GstHarness *source = NULL;
  for (int i = 0; i < 4; i += 1) {
    GstBuffer *buffer = picture(16, 16, i);
    GST_BUFFER_PTS(buffer) = (GstClockTime)i * 10 * GST_MSECOND;
    gst_buffer_add_video_region_of_interest_meta(buffer, "damage", 1, 1, 2, 2);
    // The third one comes a minute late.
    gst_element_set_base_time(element, i == 2 ? base - 60 * GST_SECOND : base);
    push(sink, buffer);
    if (source == NULL) source = source_harness("policy=keep-latest policy-count=8 start=oldest");
    if (i == 2) continue;
    buffer = pull(source);
    guint8 value = 0;
    gst_buffer_extract(buffer, 0, &value, 1);
    printf("frame %d damage %d\n", value, regions(buffer));
    gst_buffer_unref(buffer);
  }
  int late = 0;
  for (GstEvent *event; (event = gst_harness_try_pull_upstream_event(sink)) != NULL;) {
    GstClockTimeDiff difference = 0;
    if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) {
      gst_event_parse_qos(event, NULL, NULL, &difference, NULL);
      late += difference > 30 * GST_SECOND;
    }
    gst_event_unref(event);
  }
  printf("published %" G_GUINT64_FORMAT " late %d\n", figure(element, "published"), late);
  gst_object_unref(element);
  gst_harness_teardown(source);
  gst_harness_teardown(sink);
}

// Without a clock, the PTS of a recording begin at 0 and keep their distances.
void begin_at_zero(void) {
  GstHarness *sink = small_sink("ring-depth=8");
  GstHarness *source = NULL;
  for (int i = 0; i < 3; i += 1) {
    GstBuffer *buffer = picture(16, 16, i);
    GST_BUFFER_PTS(buffer) = 3600 * GST_SECOND + (GstClockTime)i * 40 * GST_MSECOND;
    push(sink, buffer);
    if (source == NULL) {
      source = source_harness("is-live=false policy=keep-latest policy-count=8 start=oldest");
    }
    buffer = pull(source);
    printf("pts %" G_GUINT64_FORMAT "\n", GST_BUFFER_PTS(buffer));
    gst_buffer_unref(buffer);
  }
  gst_harness_teardown(source);
  gst_harness_teardown(sink);
}

// Frames go on after a flush of the source.
void flush_in_midstream(void) {
  GstHarness *sink = small_sink("");
  GstHarness *source = NULL;
  for (int i = 0; i < count; i += 1) {
    push(sink, picture(16, 16, i));
    if (source == NULL) source = source_harness("");
    GstBuffer *buffer = pull(source);
    guint8 value = (guint8)i;
    if (gst_buffer_memcmp(buffer, 0, &value, 1) != 0) fail("a frame of before the flush");
    gst_buffer_unref(buffer);
    GstElement *element = gst_harness_find_element(source, "framebussrc");
    gst_element_send_event(element, gst_event_new_flush_start());
    gst_element_send_event(element, gst_event_new_flush_stop(TRUE));
    gst_object_unref(element);
  }
  puts("went on");
  gst_harness_teardown(source);
  gst_harness_teardown(sink);
}

// A sink that waits for its first subscriber ends with a state change.
void interrupt_sink(void) {
  for (int i = 0; i < count; i += 1) {
    GstElement *pipeline = launch(
        "videotestsrc ! framebussink root=%s stream=nobody wait-for-subscriber=true", root);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    if (i % 2 == 0) gst_element_send_event(pipeline, gst_event_new_flush_start());
    if (i % 2 == 0) gst_element_send_event(pipeline, gst_event_new_flush_stop(TRUE));
    if (i % 3 == 0) gst_element_set_state(pipeline, GST_STATE_PAUSED);
    end(pipeline);
  }
  puts("interrupted");
}

// Streams have square pixels: videoscale makes them, without being told.
void scale_to_square(void) {
  GstElement *pipeline = launch(
      "videotestsrc num-buffers=1 ! video/x-raw,width=160,height=120,pixel-aspect-ratio=2/1 "
      "! videoscale ! framebussink name=sink root=%s stream=a", root);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  gst_message_unref(await(pipeline, GST_MESSAGE_ASYNC_DONE));
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstPad *pad = gst_element_get_static_pad(sink, "sink");
  GstCaps *caps = gst_pad_get_current_caps(pad);
  GstVideoInfo info;
  if (caps == NULL || !gst_video_info_from_caps(&info, caps)) fail("no caps");
  // The display's shape stays 8:3.
  printf("square %d shape %.2f\n", GST_VIDEO_INFO_PAR_N(&info) == GST_VIDEO_INFO_PAR_D(&info),
         (double)info.width / info.height);
  gst_caps_unref(caps);
  gst_object_unref(pad);
  gst_object_unref(sink);
  end(pipeline);
}

// Of a picture whose chroma samples lie elsewhere than usual the sink warns, once; the source does
// not say where they lie.
void lose_chroma_site(void) {
  GstHarness *sink = sink_harness(""), *source = NULL;
  GstElement *element = gst_harness_find_element(sink, "framebussink");
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(element, bus);
  for (int i = 0; i < 3; i += 1) {
    gchar *caps = g_strdup_printf("video/x-raw,format=I420,width=64,height=64,framerate=30/%d%s",
                                  i + 1, i == 0 ? ",chroma-site=jpeg" : ",chroma-site=mpeg2");
    gst_harness_set_src_caps_str(sink, caps);
    g_free(caps);
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, 64 * 64 * 3 / 2, NULL);
    gst_buffer_memset(buffer, 0, 0, 64 * 64 * 3 / 2);
    GST_BUFFER_PTS(buffer) = 0;
    push(sink, buffer);
    if (source == NULL) source = source_harness("");
    gst_buffer_unref(pull(source));
    GstCaps *received = gst_pad_get_current_caps(source->sinkpad);
    printf("named %d\n",
           gst_structure_has_field(gst_caps_get_structure(received, 0), "chroma-site"));
    gst_caps_unref(received);
    for (GstMessage *message;
         (message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING)) != NULL;) {
      GError *error = NULL;
      gst_message_parse_warning(message, &error, NULL);
      printf("warning %s\n", error->message);
      g_error_free(error);
      gst_message_unref(message);
    }
  }
  gst_object_unref(bus);
  gst_object_unref(element);
  gst_harness_teardown(source);
  gst_harness_teardown(sink);
}

typedef struct {
  GstHarness *sink;
  GstBufferPool *pool;
  gint acquired; // buffers
  gint ordinary; // of these, not slots
} Upstream;

static gpointer fill_slots(gpointer data) {
  Upstream *upstream = data;
  for (int i = 0; i < count; i += 1) {
    GstBuffer *buffer = NULL;
    if (gst_buffer_pool_acquire_buffer(upstream->pool, &buffer, NULL) != GST_FLOW_OK) {
      fail("no buffer");
    }
    const GstAllocator *allocator = gst_buffer_peek_memory(buffer, 0)->allocator;
    if (strcmp(allocator->mem_type, "FramebusSlot") != 0) {
      g_atomic_int_inc(&upstream->ordinary);
      gst_buffer_unref(buffer);
    } else {
      gst_buffer_memset(buffer, 0, (guint8)i, 16);
      GST_BUFFER_PTS(buffer) = 0;
      push(upstream->sink, buffer);
    }
    g_atomic_int_inc(&upstream->acquired);
  }
  return NULL;
}

// The sink's pool waits for a lossless subscriber, instead of handing out memory to be copied; an
// interruption of the sink ends the wait.
void wait_for_slots(void) {
  framebus_error error = FRAMEBUS_ERROR_INIT;
  framebus_group *group = NULL;
  framebus_subscriber *subscriber = NULL;
  framebus_subscriber_options options = FRAMEBUS_SUBSCRIBER_OPTIONS_INIT;
  options.policy = FRAMEBUS_POLICY_LOSSLESS;
  options.start = FRAMEBUS_START_OLDEST;
  options.lossless_limit_ns = 300 * GST_SECOND;
  Upstream upstream = {.sink = small_sink("lossless=true loans=2 ring-depth=4")};
  push(upstream.sink, picture(16, 16, 0));
  if (framebus_group_open(NULL, root, &group, &error) != FRAMEBUS_OK ||
      framebus_subscriber_open(group, "a", &options, 0, NULL, &subscriber, &error) !=
          FRAMEBUS_OK) {
    fail(error.message);
  }
  GstCaps *caps = gst_pad_get_current_caps(upstream.sink->srcpad);
  GstQuery *query = gst_query_new_allocation(caps, TRUE);
  guint size = 0;
  if (!gst_pad_peer_query(upstream.sink->srcpad, query)) fail("no answer");
  gst_query_parse_nth_allocation_pool(query, 0, &upstream.pool, &size, NULL, NULL);
  GstStructure *config = gst_buffer_pool_get_config(upstream.pool);
  gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
  gst_buffer_pool_set_config(upstream.pool, config);
  gst_buffer_pool_set_active(upstream.pool, TRUE);
  GThread *thread = g_thread_new("upstream", fill_slots, &upstream);
  // All but the last frame are received; until then the pool had nothing but slots.
  for (int i = 0; i < count - 8; i += 1) {
    framebus_frame frame = FRAMEBUS_FRAME_INIT;
    int result = framebus_subscriber_next(subscriber, framebus_after_ns(60 * GST_SECOND), NULL,
                                          &frame, &error);
    if (result != FRAMEBUS_OK) fail(error.message);
    if (i > 0 && *(const guint8 *)frame.bytes != (guint8)(i - 1)) fail("another frame");
    framebus_lease_release(frame.lease);
  }
  printf("ordinary %d\n", g_atomic_int_get(&upstream.ordinary));
  GstElement *element = gst_harness_find_element(upstream.sink, "framebussink");
  GstBaseSink *base = GST_BASE_SINK(element);
  while (g_atomic_int_get(&upstream.acquired) < count) {
    GST_BASE_SINK_GET_CLASS(base)->unlock(base);
    GST_BASE_SINK_GET_CLASS(base)->unlock_stop(base);
    g_usleep(1000);
  }
  g_thread_join(thread);
  printf("interrupted %d\n", g_atomic_int_get(&upstream.ordinary) > 0);
  framebus_subscriber_close(subscriber);
  framebus_group_close(group);
  gst_object_unref(element);
  gst_object_unref(upstream.pool);
  gst_query_unref(query);
  gst_caps_unref(caps);
  gst_harness_teardown(upstream.sink);
}
