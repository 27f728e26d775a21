// Drives framebussrc and framebussink from a program: what gst-launch-1.0 cannot show.
//
//   plugin_harness COMMAND ROOT [N]      see the table at the end; prints figures, a line each
//
// build: cc -o plugin_harness plugin_harness.c plugin_queries.c
//   $(pkg-config --cflags --libs gstreamer-check-1.0 gstreamer-video-1.0 framebus)
#include <unistd.h>

#include "plugin_kit.h"

const char *root;
int count;

static long entries(const char *directory) {
  GDir *list = g_dir_open(directory, 0, NULL);
  long number = 0;
  while (g_dir_read_name(list) != NULL) number += 1;
  g_dir_close(list);
  return number;
}

static long mappings(void) {
  FILE *maps = fopen("/proc/self/maps", "re");
  long number = 0;
  for (int letter; (letter = getc(maps)) != EOF;) number += letter == '\n';
  fclose(maps);
  return number;
}

static long resident_kilobytes(void) {
  FILE *file = fopen("/proc/self/statm", "re");
  long pages = 0, resident = 0;
  if (fscanf(file, "%ld %ld", &pages, &resident) != 2) fail("statm");
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void print_resources(const char *when) {
  printf("%s descriptors=%ld mappings=%ld threads=%ld resident=%ld\n", when,
         entries("/proc/self/fd"), mappings(), entries("/proc/self/task"), resident_kilobytes());
  fflush(stdout);
}

// N changes of the caps, each with a frame that arrives in its size and with its content.
static void change_caps(void) {
  GstHarness *sink = sink_harness("");
  gst_harness_set_src_caps_str(sink, "video/x-raw,format=BGRx,width=16,height=16,framerate=30/1");
  push(sink, picture(16, 16, 0));
  GstHarness *source = source_harness("");
  gst_buffer_unref(pull(source));
  for (int i = 1; i <= count; i += 1) {
    if (i == count / 10 + 1) print_resources("before");
    int width = 16 + 16 * (i % 7), height = 16 + 2 * (i % 5);
    gchar *caps = picture_caps(width, height);
    gst_harness_set_src_caps_str(sink, caps);
    push(sink, picture(width, height, i));
    GstBuffer *buffer = pull(source);
    GstCaps *received = gst_pad_get_current_caps(source->sinkpad);
    GstVideoInfo info;
    if (!gst_video_info_from_caps(&info, received) || info.width != width ||
        info.height != height) {
      fail("a frame has the size of other caps");
    }
    guint8 value = (guint8)i;
    if (gst_buffer_memcmp(buffer, (gsize)width * (gsize)height * 4 - 1, &value, 1) != 0) {
      fail("a frame has the content of another");
    }
    gst_caps_unref(received);
    gst_buffer_unref(buffer);
    g_free(caps);
    // The harness keeps events for ever.
    for (GstEvent *event; (event = gst_harness_try_pull_event(source)) != NULL;) {
      gst_event_unref(event);
    }
    for (GstEvent *event; (event = gst_harness_try_pull_upstream_event(sink)) != NULL;) {
      gst_event_unref(event);
    }
  }
  print_resources("after");
  gst_harness_teardown(source);
  gst_harness_teardown(sink);
}

static GstPadProbeReturn count_frame(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad, (void)info;
  g_atomic_int_inc((gint *)data);
  return GST_PAD_PROBE_OK;
}

// N times up to PLAYING and down again, while frames flow, of each side and at any moment.
static void change_states(void) {
  GstElement *from = launch(
      "videotestsrc is-live=true ! video/x-raw,format=BGRx,width=64,height=64,framerate=500/1 "
      "! framebussink root=%s stream=a", root);
  GstElement *to = launch("framebussrc root=%s stream=a ! queue ! fakesink name=end", root);
  GstElement *last = gst_bin_get_by_name(GST_BIN(to), "end");
  GstPad *pad = gst_element_get_static_pad(last, "sink");
  gint frames = 0;
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, &frames, NULL);
  for (int i = 0; i < count; i += 1) {
    if (i == count / 10) {
      gst_element_set_state(to, GST_STATE_READY);
      gst_element_set_state(from, GST_STATE_READY);
      print_resources("before");
    }
    GstState low = i % 3 == 0 ? GST_STATE_NULL : i % 3 == 1 ? GST_STATE_READY : GST_STATE_PAUSED;
    gst_element_set_state(from, GST_STATE_PLAYING);
    gst_element_set_state(to, GST_STATE_PLAYING);
    // Every second time frames have passed; else the change comes at any moment.
    gint before = g_atomic_int_get(&frames);
    gint64 limit = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;
    while (i % 2 == 0 && g_atomic_int_get(&frames) < before + 3) {
      if (g_get_monotonic_time() > limit) fail("no frame within a minute");
      g_usleep(500);
    }
    if (gst_element_set_state(i % 4 < 2 ? to : from, low) == GST_STATE_CHANGE_FAILURE ||
        gst_element_set_state(i % 4 < 2 ? from : to, low) == GST_STATE_CHANGE_FAILURE) {
      fail("a state change failed");
    }
  }
  gst_element_set_state(to, GST_STATE_READY);
  gst_element_set_state(from, GST_STATE_READY);
  print_resources("after");
  printf("frames %d\n", g_atomic_int_get(&frames));
  gst_object_unref(pad);
  gst_object_unref(last);
  end(to);
  end(from);
}

// Lets an element's running time begin some seconds ago. Returns its base time.
static GstClockTime start_earlier(GstHarness *harness, const char *type, guint seconds) {
  GstElement *element = gst_harness_find_element(harness, type);
  GstClock *clock = gst_system_clock_obtain();
  GstClockTime base = gst_clock_get_time(clock) - seconds * GST_SECOND;
  gst_element_set_base_time(element, base);
  gst_object_unref(clock);
  gst_object_unref(element);
  return base;
}

// Frames keep what buffers carry: times to the nanosecond, orientation, damage, crop.
static void carry_metadata(void) {
  GstHarness *sink = sink_harness("");
  GstHarness *source;
  gchar *caps = picture_caps(64, 32);
  gst_harness_set_src_caps_str(sink, caps);
  g_free(caps);
  gst_harness_push_event(sink, gst_event_new_tag(gst_tag_list_new(
                                   GST_TAG_IMAGE_ORIENTATION, "rotate-90", NULL)));
  GstClockTime sink_base = start_earlier(sink, "framebussink", 5);
  push(sink, picture(64, 32, 1));
  source = source_harness("");
  gst_buffer_unref(pull(source));
  GstClockTime source_base = start_earlier(source, "framebussrc", 3);
  GstClock *clock = gst_system_clock_obtain();
  GstBuffer *buffer = picture(64, 32, 2);
  GST_BUFFER_PTS(buffer) = gst_clock_get_time(clock) - sink_base + 12345;
  GST_BUFFER_DURATION(buffer) = 33333333;
  GstClockTime moment = GST_BUFFER_PTS(buffer) + sink_base;
  gst_buffer_add_video_region_of_interest_meta(buffer, "damage", 4, 6, 8, 10);
  gst_buffer_add_video_region_of_interest_meta(buffer, "damage", 40, 2, 3, 5);
  gst_buffer_add_video_region_of_interest_meta(buffer, "face", 1, 1, 1, 1);
  push(sink, buffer);
  buffer = pull(source);
  printf("moment %" G_GINT64_FORMAT "\n",
         (gint64)(GST_BUFFER_PTS(buffer) + source_base - moment));
  printf("duration %" G_GUINT64_FORMAT "\n", GST_BUFFER_DURATION(buffer));
  gpointer position = NULL;
  GstMeta *meta;
  while ((meta = gst_buffer_iterate_meta_filtered(
              buffer, &position, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) != NULL) {
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *)meta;
    printf("%s %u,%u %ux%u\n", g_quark_to_string(region->roi_type), region->x, region->y,
           region->w, region->h);
  }
  gst_buffer_unref(buffer);
  for (GstEvent *event; (event = gst_harness_try_pull_event(source)) != NULL;) {
    GstTagList *tags = NULL;
    gchar *orientation = NULL;
    if (GST_EVENT_TYPE(event) == GST_EVENT_TAG) {
      gst_event_parse_tag(event, &tags);
      if (gst_tag_list_get_string(tags, GST_TAG_IMAGE_ORIENTATION, &orientation)) {
        printf("orientation %s\n", orientation);
        g_free(orientation);
      }
    }
    gst_event_unref(event);
  }
  buffer = picture(64, 32, 3);
  gst_buffer_memset(buffer, (10 * 64 + 20) * 4, 77, 4);
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer);
  crop->x = 20;
  crop->y = 10;
  crop->width = 30;
  crop->height = 12;
  push(sink, buffer);
  buffer = pull(source);
  GstCaps *received = gst_pad_get_current_caps(source->sinkpad);
  GstVideoInfo info;
  GstVideoFrame frame;
  gst_video_info_from_caps(&info, received);
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) fail("cannot map the frame");
  printf("crop %dx%d %d %d\n", info.width, info.height,
         ((guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0))[0],
         ((guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0))[4]);
  gst_video_frame_unmap(&frame);
  gst_caps_unref(received);
  gst_buffer_unref(buffer);
  gst_object_unref(clock);
  gst_harness_teardown(source);
  gst_harness_teardown(sink);
}

// Holds N frames at once: beyond the quota they are copies, all have their content, and one warning
// says so.
static void hold_frames(void) {
  GstHarness *sink = sink_harness("");
  gchar *caps = picture_caps(640, 360);
  gst_harness_set_src_caps_str(sink, caps);
  g_free(caps);
  push(sink, picture(640, 360, 0));
  GstHarness *source = source_harness("leases=8");
  GstElement *element = gst_harness_find_element(source, "framebussrc");
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(element, bus);
  GstBuffer **held = g_new(GstBuffer *, (gsize)count);
  held[0] = pull(source);
  int read_only = 0;
  for (int i = 1; i < count; i += 1) {
    push(sink, picture(640, 360, i));
    held[i] = pull(source);
  }
  for (int i = 0; i < count; i += 1) {
    guint8 value = (guint8)i;
    if (gst_buffer_memcmp(held[i], 640 * 360 * 4 - 1, &value, 1) != 0) fail("content is lost");
    read_only += GST_MEMORY_IS_READONLY(gst_buffer_peek_memory(held[i], 0));
  }
  int warnings = 0;
  for (GstMessage *message; (message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING)) != NULL;) {
    GError *error = NULL;
    gst_message_parse_warning(message, &error, NULL);
    printf("warning %s\n", error->message);
    g_error_free(error);
    gst_message_unref(message);
    warnings += 1;
  }
  printf("warnings %d read-only %d copied %" G_GUINT64_FORMAT " held %" G_GUINT64_FORMAT "\n",
         warnings, read_only, figure(element, "copied"), figure(element, "held"));
  // Leases outlive their element.
  gst_harness_teardown(source);
  for (int i = 0; i < count; i += 1) {
    guint8 value = (guint8)i;
    if (gst_buffer_memcmp(held[i], 0, &value, 1) != 0) fail("content ended with the element");
    gst_buffer_unref(held[i]);
  }
  printf("held after the end %" G_GUINT64_FORMAT "\n", figure(element, "held"));
  gst_object_unref(element);
  gst_object_unref(bus);
  g_free(held);
  gst_harness_teardown(sink);
}

// Buffers of the pool that the sink offers are published in place, unless another holds them.
static void write_in_place(void) {
  GstHarness *sink = sink_harness("ring-depth=64");
  GstElement *element = gst_harness_find_element(sink, "framebussink");
  gchar *text = picture_caps(320, 240);
  gst_harness_set_src_caps_str(sink, text);
  push(sink, picture(320, 240, 0));
  GstCaps *caps = gst_caps_from_string(text);
  GstQuery *query = gst_query_new_allocation(caps, TRUE);
  if (!gst_pad_peer_query(sink->srcpad, query)) fail("no answer to the allocation query");
  GstBufferPool *pool = NULL;
  guint size = 0;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, NULL, NULL);
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool, config)) fail("the pool refuses its own configuration");
  gst_buffer_pool_set_active(pool, TRUE);
  for (int i = 1; i <= 4; i += 1) {
    GstBuffer *buffer = NULL;
    gst_buffer_pool_acquire_buffer(pool, &buffer, NULL);
    gst_buffer_memset(buffer, 0, (guint8)i, 320 * 240 * 4);
    GST_BUFFER_PTS(buffer) = 0;
    if (i == 1) printf("memory %s\n", gst_buffer_peek_memory(buffer, 0)->allocator->mem_type);
    if (i < 3) {
      push(sink, buffer);
      continue;
    }
    // Another branch of a pipeline holds the buffer, or its memory.
    GstBuffer *other = i == 3 ? gst_buffer_ref(buffer) : gst_buffer_copy(buffer);
    push(sink, buffer);
    gst_buffer_memset(other, 0, 99, 16);
    gst_buffer_unref(other);
  }
  printf("published %" G_GUINT64_FORMAT " copied %" G_GUINT64_FORMAT "\n",
         figure(element, "published"), figure(element, "copied"));
  GstHarness *source = source_harness("start=oldest policy=keep-latest policy-count=64");
  for (int i = 0; i <= 4; i += 1) {
    GstBuffer *buffer = pull(source);
    guint8 value = (guint8)i;
    if (gst_buffer_memcmp(buffer, 320 * 240 * 4 - 1, &value, 1) != 0 ||
        gst_buffer_memcmp(buffer, 0, &value, 1) != 0) {
      fail("a frame has other bytes");
    }
    gst_buffer_unref(buffer);
  }
  // A buffer that is out when the sink ends stays writable.
  GstBuffer *late = NULL;
  gst_buffer_pool_acquire_buffer(pool, &late, NULL);
  gst_harness_teardown(source);
  gst_object_unref(element);
  gst_harness_teardown(sink);
  gst_buffer_memset(late, 0, 5, 320 * 240 * 4);
  gst_buffer_unref(late);
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
  gst_query_unref(query);
  gst_caps_unref(caps);
  g_free(text);
}

// A wait for a publisher that never comes ends with a state change, and with a flush.
static void interrupt(void) {
  for (int i = 0; i < count; i += 1) {
    GstElement *pipeline = launch("framebussrc name=source root=%s stream=nobody ! fakesink", root);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstElement *source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
    GstPad *pad = gst_element_get_static_pad(source, "src");
    if (i % 2 == 0) {
      gst_pad_send_event(pad, gst_event_new_flush_start());
      gst_pad_send_event(pad, gst_event_new_flush_stop(TRUE));
    }
    gst_object_unref(pad);
    gst_object_unref(source);
    end(pipeline);
  }
  puts("interrupted");
}

// Receives until the stream ends, and prints each frame: its number, whether it is a new beginning,
// and its first byte.
static GstPadProbeReturn print_frame(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad, (void)data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  guint8 byte = 0;
  gst_buffer_extract(buffer, 0, &byte, 1);
  printf("frame %" G_GUINT64_FORMAT "%s %d\n", GST_BUFFER_OFFSET(buffer),
         GST_BUFFER_IS_DISCONT(buffer) ? " new" : "", byte);
  fflush(stdout);
  return GST_PAD_PROBE_OK;
}

static void receive(void) {
  GstElement *pipeline =
      launch("framebussrc name=source root=%s stream=a wait-for-publisher=%s ! fakesink", root,
             count > 0 ? "2000000000" : "18446744073709551615");
  GstElement *source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  GstPad *pad = gst_element_get_static_pad(source, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, print_frame, NULL, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *message = await(pipeline, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError *error = NULL;
    gst_message_parse_error(message, &error, NULL);
    printf("error %s\n", error->message);
    g_error_free(error);
  } else {
    printf("end received %" G_GUINT64_FORMAT "\n", figure(source, "received"));
  }
  gst_message_unref(message);
  gst_object_unref(pad);
  gst_object_unref(source);
  end(pipeline);
}

// After its end of stream and a flush, a sink publishes again.
static void publish_again(void) {
  GstHarness *sink = sink_harness("ring-depth=8");
  gchar *caps = picture_caps(16, 16);
  gst_harness_set_src_caps_str(sink, caps);
  push(sink, picture(16, 16, 1));
  GstHarness *source = source_harness("start=oldest");
  gst_buffer_unref(pull(source));
  gst_harness_push_event(sink, gst_event_new_eos());
  GstEvent *event;
  while (GST_EVENT_TYPE(event = gst_harness_pull_event(source)) != GST_EVENT_EOS) {
    gst_event_unref(event);
  }
  gst_event_unref(event);
  puts("first end");
  gst_harness_teardown(source);
  gst_harness_push_event(sink, gst_event_new_flush_start());
  gst_harness_push_event(sink, gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(sink, gst_event_new_segment(&segment));
  push(sink, picture(16, 16, 2));
  source = source_harness("start=oldest");
  GstBuffer *buffer = pull(source);
  guint8 value = 2;
  printf("second %d\n", gst_buffer_memcmp(buffer, 0, &value, 1));
  gst_buffer_unref(buffer);
  gst_harness_teardown(source);
  gst_harness_teardown(sink);
  g_free(caps);
}

static GstPadProbeReturn note_sequence(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  guint64 *ends = data;
  ends[1] = GST_BUFFER_OFFSET(GST_PAD_PROBE_INFO_BUFFER(info));
  if (ends[0] > 0) return GST_PAD_PROBE_OK;
  ends[0] = ends[1];
  // Dropped before the first.
  ends[2] = figure(GST_PAD_PARENT(pad), "dropped");
  return GST_PAD_PROBE_OK;
}

// A slow pipeline receives the newest frames, and every frame it does not receive is counted.
static void lag(void) {
  GstElement *from = launch(
      "videotestsrc is-live=true ! video/x-raw,format=BGRx,width=64,height=64,framerate=500/1 "
      "! framebussink root=%s stream=a", root);
  GstElement *to = launch(
      "framebussrc name=source root=%s stream=a ! identity sleep-time=20000 ! fakesink "
      "sync=false", root);
  GstElement *source = gst_bin_get_by_name(GST_BIN(to), "source");
  g_object_set(source, "num-buffers", count, NULL);
  gst_element_set_state(from, GST_STATE_PLAYING);
  GstPad *pad = gst_element_get_static_pad(source, "src");
  guint64 ends[3] = {0, 0, 0};
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, note_sequence, ends, NULL);
  gst_element_set_state(to, GST_STATE_PLAYING);
  gst_message_unref(await(to, GST_MESSAGE_EOS));
  guint64 received = figure(source, "received"), dropped = figure(source, "dropped");
  if (dropped == 0) fail("nothing was dropped");
  if (received != (guint64)count || received + dropped - ends[2] != ends[1] - ends[0] + 1) {
    fail("frames are not accounted for");
  }
  puts("accounted for");
  gst_object_unref(pad);
  gst_object_unref(source);
  end(to);
  end(from);
}

// What the test of leaks must find.
static void leak(void) { gst_buffer_new(); }

int main(int argument_count, char **arguments) {
  static const struct {
    const char *name;
    void (*run)(void);
  } commands[] = {
      {"change-caps", change_caps},       {"change-states", change_states},
      {"carry-metadata", carry_metadata}, {"hold-frames", hold_frames},
      {"write-in-place", write_in_place}, {"interrupt", interrupt},
      {"receive", receive},               {"publish-again", publish_again},
      {"lag", lag},                       {"leak", leak},
      {"answer-queries", answer_queries}, {"report-utilization", report_utilization},
      {"drop-late", drop_late},           {"begin-at-zero", begin_at_zero},
      {"flush", flush_in_midstream},      {"interrupt-sink", interrupt_sink},
      {"scale", scale_to_square},         {"wait-for-slots", wait_for_slots},
      {"lose-chroma-site", lose_chroma_site},
  };
  gst_init(NULL, NULL);
  if (argument_count < 3) fail("usage: plugin_harness COMMAND ROOT [N]");
  root = arguments[2];
  count = argument_count > 3 ? atoi(arguments[3]) : 0;
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i += 1) {
    if (strcmp(commands[i].name, arguments[1]) != 0) continue;
    commands[i].run();
    gst_deinit();
    return 0;
  }
  fail("unknown command");
}
