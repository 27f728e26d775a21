#include "CSlotSink.h"

#if __has_include(<gst/gst.h>)
#include "SlotMemory.h"

#include <errno.h>
#include <gst/video/gstvideopool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

// At most two frames wait: enough to keep decoder and publisher busy at the same time.
enum { QUEUE_FRAMES = 2, QUEUE_ITEMS = QUEUE_FRAMES + 2 };

struct fb_slot_sink {
  GMutex lock;
  GCond changed;
  struct fb_slot_memory *memory;
  GstPad *pad;
  gulong probe;
  int descriptor;
  bool isFlushing, isFormatAccepted, hasInfo;
  GstVideoInfo info;
  GstSegment segment;
  /// For times on the clock: not owned, because the pipeline stops before the sink is freed.
  GstElement *pipeline;
  struct fb_sink_item queue[QUEUE_ITEMS];
  unsigned count;
};

static struct fb_sink_layout layout_of(const GstVideoInfo *info, const GstVideoMeta *meta) {
  struct fb_sink_layout layout = {
      .format = GST_VIDEO_INFO_FORMAT(info),
      .width = GST_VIDEO_INFO_WIDTH(info),
      .height = GST_VIDEO_INFO_HEIGHT(info),
      .rateNumerator = GST_VIDEO_INFO_FPS_N(info),
      .rateDenominator = GST_VIDEO_INFO_FPS_D(info),
      .planeCount = GST_VIDEO_INFO_N_PLANES(info),
      .byteCount = GST_VIDEO_INFO_SIZE(info),
      .isInterlaced = GST_VIDEO_INFO_IS_INTERLACED(info),
  };
  switch (info->colorimetry.matrix) {
  case GST_VIDEO_COLOR_MATRIX_BT601: layout.colorMatrix = 1; break;
  case GST_VIDEO_COLOR_MATRIX_BT709: layout.colorMatrix = 2; break;
  case GST_VIDEO_COLOR_MATRIX_RGB: layout.colorMatrix = 3; break;
  default: break;
  }
  for (unsigned i = 0; i < layout.planeCount && i < 4; i++) {
    layout.offset[i] = meta ? meta->offset[i] : GST_VIDEO_INFO_PLANE_OFFSET(info, i);
    layout.stride[i] = meta ? meta->stride[i] : GST_VIDEO_INFO_PLANE_STRIDE(info, i);
  }
  return layout;
}

// Adds to the queue, waiting while it is full. Called with the lock held. False when flushing.
static bool enqueue(struct fb_slot_sink *sink, struct fb_sink_item item) {
  unsigned limit = item.kind == FB_SINK_FRAME ? QUEUE_FRAMES : QUEUE_ITEMS;
  while (!sink->isFlushing && sink->count >= limit) g_cond_wait(&sink->changed, &sink->lock);
  if (sink->isFlushing) return false;
  sink->queue[sink->count++] = item;
  uint64_t one = 1;
  while (write(sink->descriptor, &one, sizeof one) < 0 && errno == EINTR) {
  }
  return true;
}

// Announces a new format: later frames wait until the publishing thread has slots for it.
static void announce_format(struct fb_slot_sink *sink, GstCaps *caps) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return;
  g_mutex_lock(&sink->lock);
  if (!sink->hasInfo || !gst_video_info_is_equal(&info, &sink->info)) {
    sink->info = info;
    sink->hasInfo = true;
    sink->isFormatAccepted = false;
    struct fb_sink_item item = {.kind = FB_SINK_FORMAT, .layout = layout_of(&info, NULL)};
    if (enqueue(sink, item)) {
      while (!sink->isFlushing && !sink->isFormatAccepted) {
        g_cond_wait(&sink->changed, &sink->lock);
      }
    }
  }
  g_mutex_unlock(&sink->lock);
}

static void end_queue(struct fb_slot_sink *sink) {
  g_mutex_lock(&sink->lock);
  enqueue(sink, (struct fb_sink_item){.kind = FB_SINK_END});
  g_mutex_unlock(&sink->lock);
}

// Stream time excludes parts that edit lists cut off or move: 0 is the first picture shown.
static uint64_t pts_of(struct fb_slot_sink *sink, GstBuffer *buffer) {
  GstClockTime pts = GST_BUFFER_PTS(buffer);
  if (sink->pipeline == NULL) {
    return gst_segment_to_stream_time(&sink->segment, GST_FORMAT_TIME, pts);
  }
  GstClockTime base = gst_element_get_base_time(sink->pipeline);
  GstClockTime running = gst_segment_to_running_time(&sink->segment, GST_FORMAT_TIME, pts);
  bool isKnown = GST_CLOCK_TIME_IS_VALID(running) && GST_CLOCK_TIME_IS_VALID(base);
  return isKnown ? running + base : UINT64_MAX;
}

static GstPadProbeReturn take_buffer(struct fb_slot_sink *sink, GstBuffer *buffer) {
  g_mutex_lock(&sink->lock);
  struct fb_sink_item item = {
      .kind = FB_SINK_FRAME,
      .slot = -1,
      .ptsNs = pts_of(sink, buffer),
      .durationNs = GST_BUFFER_DURATION(buffer),
      .buffer = buffer,
  };
  bool isQueued = sink->hasInfo && enqueue(sink, item);
  g_mutex_unlock(&sink->lock);
  if (!isQueued) gst_buffer_unref(buffer);
  return GST_PAD_PROBE_HANDLED;
}

// Offers a pool over the slots to the element that produces the frames.
static GstPadProbeReturn answer_allocation(struct fb_slot_sink *sink, GstQuery *query) {
  GstCaps *caps = NULL;
  gst_query_parse_allocation(query, &caps, NULL);
  GstVideoInfo info;
  if (caps == NULL || !gst_video_info_from_caps(&info, caps)) return GST_PAD_PROBE_OK;
  GstAllocator *allocator = fb_slot_memory_allocator(sink->memory);
  GstAllocationParams parameters;
  gst_allocation_params_init(&parameters);
  parameters.align = 63;
  GstBufferPool *pool = gst_video_buffer_pool_new();
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, (guint)info.size, 0, 0);
  gst_buffer_pool_config_set_allocator(config, allocator, &parameters);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (gst_buffer_pool_set_config(pool, config)) {
    gst_query_add_allocation_pool(query, pool, (guint)info.size, 0, 0);
  }
  gst_query_add_allocation_param(query, allocator, &parameters);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
  gst_object_unref(pool);
  return GST_PAD_PROBE_HANDLED;
}

static GstPadProbeReturn probe(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  (void)pad;
  struct fb_slot_sink *sink = user;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    return take_buffer(sink, GST_PAD_PROBE_INFO_BUFFER(info));
  }
  if (info->type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM) {
    GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
    if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
    return answer_allocation(sink, query);
  }
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps *caps = NULL;
    gst_event_parse_caps(event, &caps);
    announce_format(sink, caps);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    g_mutex_lock(&sink->lock);
    gst_event_copy_segment(event, &sink->segment);
    g_mutex_unlock(&sink->lock);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    end_queue(sink);
  }
  return GST_PAD_PROBE_OK;
}

static gboolean has_video(GstElement *element, GstPad *pad, gpointer isFound) {
  (void)element;
  GstCaps *caps = gst_pad_get_current_caps(pad);
  if (caps == NULL) caps = gst_pad_query_caps(pad, NULL);
  const GstStructure *first = gst_caps_is_empty(caps) ? NULL : gst_caps_get_structure(caps, 0);
  if (first != NULL && gst_structure_has_name(first, "video/x-raw")) *(bool *)isFound = true;
  gst_caps_unref(caps);
  return TRUE;
}

// All tracks of the file are known. If none is video, no frame will ever arrive.
static void end_without_video(GstElement *decoder, gpointer data) {
  bool isFound = false;
  gst_element_foreach_src_pad(decoder, has_video, &isFound);
  if (!isFound) end_queue(data);
}

static void watch_decoder(GstElement *pipeline, struct fb_slot_sink *sink) {
  GstElement *decoder = gst_bin_get_by_name(GST_BIN(pipeline), "decoder");
  if (decoder == NULL) return;
  g_signal_connect(decoder, "no-more-pads", G_CALLBACK(end_without_video), sink);
  gst_object_unref(decoder);
}

struct fb_slot_sink *fb_slot_sink_new(GstElement *pipeline, const char *sinkName) {
  GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), sinkName);
  if (element == NULL) return NULL;
  int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  if (descriptor < 0) {
    gst_object_unref(element);
    return NULL;
  }
  struct fb_slot_sink *sink = g_new0(struct fb_slot_sink, 1);
  g_mutex_init(&sink->lock);
  g_cond_init(&sink->changed);
  sink->descriptor = descriptor;
  gst_segment_init(&sink->segment, GST_FORMAT_TIME);
  sink->memory = fb_slot_memory_new();
  sink->pad = gst_element_get_static_pad(element, "sink");
  sink->probe = gst_pad_add_probe(sink->pad,
                                  GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                      GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
                                  probe, sink, NULL);
  gst_object_unref(element);
  watch_decoder(pipeline, sink);
  return sink;
}

void fb_slot_sink_free(struct fb_slot_sink *sink) {
  gst_pad_remove_probe(sink->pad, sink->probe);
  gst_object_unref(sink->pad);
  for (unsigned i = 0; i < sink->count; i++) {
    if (sink->queue[i].buffer != NULL) gst_buffer_unref(sink->queue[i].buffer);
  }
  fb_slot_memory_free(sink->memory);
  close(sink->descriptor);
  g_cond_clear(&sink->changed);
  g_mutex_clear(&sink->lock);
  g_free(sink);
}

void fb_slot_sink_use_clock(struct fb_slot_sink *sink, GstElement *pipeline) {
  sink->pipeline = pipeline;
}

int fb_slot_sink_descriptor(struct fb_slot_sink *sink) { return sink->descriptor; }

struct fb_sink_item fb_slot_sink_next(struct fb_slot_sink *sink) {
  struct fb_sink_item item = {.kind = FB_SINK_NOTHING};
  g_mutex_lock(&sink->lock);
  if (sink->count > 0) {
    item = sink->queue[0];
    sink->count--;
    memmove(&sink->queue[0], &sink->queue[1], sink->count * sizeof item);
    uint64_t one;
    while (read(sink->descriptor, &one, sizeof one) < 0 && errno == EINTR) {
    }
    if (item.kind == FB_SINK_FRAME) {
      size_t skip = 0;
      item.layout = layout_of(&sink->info, gst_buffer_get_video_meta(item.buffer));
      item.slot = fb_slot_memory_claim(sink->memory, item.buffer, &skip);
      for (unsigned i = 0; i < item.layout.planeCount; i++) item.layout.offset[i] += skip;
      if (item.slot >= 0) {
        item.layout.byteCount = skip + gst_buffer_get_size(item.buffer);
      }
    }
    g_cond_broadcast(&sink->changed);
  }
  g_mutex_unlock(&sink->lock);
  return item;
}

void fb_slot_sink_accept_format(struct fb_slot_sink *sink) {
  g_mutex_lock(&sink->lock);
  sink->isFormatAccepted = true;
  g_cond_broadcast(&sink->changed);
  g_mutex_unlock(&sink->lock);
}

void fb_sink_item_release(struct fb_sink_item *item) {
  if (item->buffer == NULL) return;
  // A pool must not reuse this buffer: its memory now belongs to the publisher. Removing the
  // memory marks the buffer accordingly (GST_BUFFER_FLAG_TAG_MEMORY).
  if (item->slot >= 0) gst_buffer_remove_all_memory(item->buffer);
  gst_buffer_unref(item->buffer);
  item->buffer = NULL;
}

bool fb_sink_item_copy(const struct fb_sink_item *item, const struct fb_sink_layout *layout,
                       void *address, size_t byteCount) {
  GstVideoInfo sourceInfo, targetInfo;
  if (!gst_video_info_set_format(&sourceInfo, item->layout.format, (guint)item->layout.width,
                                 (guint)item->layout.height) ||
      !gst_video_info_set_format(&targetInfo, layout->format, (guint)layout->width,
                                 (guint)layout->height)) {
    return false;
  }
  GstBuffer *target = gst_buffer_new_wrapped_full(0, address, byteCount, 0, byteCount, NULL, NULL);
  gsize offset[GST_VIDEO_MAX_PLANES] = {0};
  gint stride[GST_VIDEO_MAX_PLANES] = {0};
  for (unsigned i = 0; i < layout->planeCount && i < 4; i++) {
    offset[i] = layout->offset[i];
    stride[i] = layout->stride[i];
  }
  gst_buffer_add_video_meta_full(target, GST_VIDEO_FRAME_FLAG_NONE, layout->format,
                                 (guint)layout->width, (guint)layout->height, layout->planeCount,
                                 offset, stride);
  GstVideoFrame source, destination;
  bool isCopied = false;
  if (gst_video_frame_map(&source, &sourceInfo, item->buffer, GST_MAP_READ)) {
    if (gst_video_frame_map(&destination, &targetInfo, target, GST_MAP_WRITE)) {
      isCopied = gst_video_frame_copy(&destination, &source);
      gst_video_frame_unmap(&destination);
    }
    gst_video_frame_unmap(&source);
  }
  gst_buffer_unref(target);
  return isCopied;
}

void fb_slot_sink_offer(struct fb_slot_sink *sink, int32_t slot, void *address,
                        size_t byteCount) {
  fb_slot_memory_offer(sink->memory, slot, address, byteCount);
}

void fb_slot_sink_withdraw(struct fb_slot_sink *sink, int32_t slot) {
  fb_slot_memory_withdraw(sink->memory, slot);
}

bool fb_slot_sink_is_vacant(struct fb_slot_sink *sink, int32_t slot) {
  return fb_slot_memory_is_vacant(sink->memory, slot);
}

void fb_slot_sink_flush(struct fb_slot_sink *sink) {
  g_mutex_lock(&sink->lock);
  sink->isFlushing = true;
  g_cond_broadcast(&sink->changed);
  g_mutex_unlock(&sink->lock);
}
#endif
