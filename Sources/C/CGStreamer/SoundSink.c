#include "CSoundSink.h"

#if __has_include(<gst/gst.h>)
#include <stdatomic.h>

struct fb_sound_sink {
  struct fb_sound_ring *ring;
  GstElement *pipeline;
  GstPad *pad;
  bool isLive;
  atomic_bool isFlushing, hasEnded;
  /// For a file: the audible part of its sound and its time. Only the pipeline's thread reads it.
  GstSegment segment;
  GstAudioInfo info;
  /// Written before the first piece that names them, which the ring orders.
  struct fb_sound_format formats[FB_SOUND_FORMATS];
  uint32_t formatCount;
};

/// More than one second of 8 channels of 32 bits.
enum { RING_BYTES = 1 << 21 };

static void note_format(struct fb_sound_sink *sink, GstCaps *caps) {
  GstAudioInfo info;
  if (!gst_audio_info_from_caps(&info, caps) || sink->formatCount == FB_SOUND_FORMATS) return;
  sink->info = info;
  guint64 mask = 0;
  if (!GST_AUDIO_INFO_IS_UNPOSITIONED(&info) &&
      !gst_audio_channel_positions_to_mask(info.position, info.channels, FALSE, &mask)) {
    mask = 0;
  }
  sink->formats[sink->formatCount++] = (struct fb_sound_format){
      .format = GST_AUDIO_INFO_FORMAT(&info),
      .rate = info.rate,
      .channels = info.channels,
      .channelMask = mask,
      .isInterleaved = info.layout == GST_AUDIO_LAYOUT_INTERLEAVED};
}

/// The time of a piece's first sample. For live sound, the running time on the pipeline's clock,
/// which is the monotonic one; a piece without a time stamp is assumed to have just ended. For a
/// file, the time since the file's beginning.
static int64_t pts_of(struct fb_sound_sink *sink, GstBuffer *buffer) {
  GstClockTime pts = GST_BUFFER_PTS(buffer);
  if (!sink->isLive)
    return (int64_t)gst_segment_to_stream_time(&sink->segment, GST_FORMAT_TIME, pts);
  GstClockTime base = gst_element_get_base_time(sink->pipeline);
  pts = gst_segment_to_running_time(&sink->segment, GST_FORMAT_TIME, pts);
  if (GST_CLOCK_TIME_IS_VALID(pts) && GST_CLOCK_TIME_IS_VALID(base)) return (int64_t)(pts + base);
  int64_t now = g_get_monotonic_time() * 1000;
  return GST_BUFFER_DURATION_IS_VALID(buffer) ? now - (int64_t)GST_BUFFER_DURATION(buffer) : now;
}

static void put(struct fb_sound_sink *sink, GstBuffer *buffer) {
  GstMapInfo map;
  if (sink->formatCount == 0 || !gst_buffer_map(buffer, &map, GST_MAP_READ)) return;
  struct fb_sound_piece piece = {.ptsNs = pts_of(sink, buffer),
                                 .byteCount = (uint32_t)map.size,
                                 .format = sink->formatCount};
  bool isPut = map.size <= RING_BYTES / 4 && fb_sound_ring_put(sink->ring, piece, map.data);
  while (!isPut && !sink->isLive && map.size <= RING_BYTES / 4 && !atomic_load(&sink->isFlushing)) {
    g_usleep(2000);
    isPut = fb_sound_ring_put(sink->ring, piece, map.data);
  }
  if (!isPut) fb_sound_ring_count_lost(sink->ring);
  gst_buffer_unmap(buffer, &map);
}

/// Puts the part that the container does not cut off, as it does an AAC encoder's priming samples.
static void put_heard(struct fb_sound_sink *sink, GstBuffer *buffer) {
  if (sink->formatCount == 0 || !GST_BUFFER_PTS_IS_VALID(buffer)) return;
  GstBuffer *heard = gst_audio_buffer_clip(gst_buffer_ref(buffer), &sink->segment,
                                           sink->info.rate, sink->info.bpf);
  if (heard == NULL) return;
  put(sink, heard);
  gst_buffer_unref(heard);
}

static GstPadProbeReturn take(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad;
  struct fb_sound_sink *sink = data;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    (sink->isLive ? put : put_heard)(sink, GST_PAD_PROBE_INFO_BUFFER(info));
    return GST_PAD_PROBE_OK;
  }
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps *caps;
    gst_event_parse_caps(event, &caps);
    note_format(sink, caps);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    gst_event_copy_segment(event, &sink->segment);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    atomic_store(&sink->hasEnded, true);
    fb_sound_ring_raise(sink->ring);
  }
  return GST_PAD_PROBE_OK;
}

struct fb_sound_sink *fb_sound_sink_new(GstElement *pipeline, const char *sinkName, bool isLive) {
  GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), sinkName);
  if (element == NULL) return NULL;
  struct fb_sound_sink *sink = g_new0(struct fb_sound_sink, 1);
  sink->ring = fb_sound_ring_new(RING_BYTES);
  if (sink->ring == NULL) {
    gst_object_unref(element);
    g_free(sink);
    return NULL;
  }
  sink->pipeline = pipeline;
  sink->isLive = isLive;
  gst_segment_init(&sink->segment, GST_FORMAT_TIME);
  sink->pad = gst_element_get_static_pad(element, "sink");
  gst_object_unref(element);
  gst_pad_add_probe(sink->pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    take, sink, NULL);
  if (isLive) {
    GstClock *clock = gst_system_clock_obtain();
    gst_pipeline_use_clock(GST_PIPELINE(pipeline), clock);
    gst_object_unref(clock);
  }
  return sink;
}

void fb_sound_sink_free(struct fb_sound_sink *sink) {
  gst_object_unref(sink->pad);
  fb_sound_ring_free(sink->ring);
  g_free(sink);
}

void fb_sound_sink_flush(struct fb_sound_sink *sink) { atomic_store(&sink->isFlushing, true); }

struct fb_sound_ring *fb_sound_sink_ring(struct fb_sound_sink *sink) { return sink->ring; }

bool fb_sound_sink_format(struct fb_sound_sink *sink, uint32_t number,
                          struct fb_sound_format *format) {
  if (number == 0 || number > FB_SOUND_FORMATS) return false;
  *format = sink->formats[number - 1];
  return true;
}

bool fb_sound_sink_has_ended(struct fb_sound_sink *sink) { return atomic_load(&sink->hasEnded); }
#else
typedef int fb_sound_sink_is_absent;
#endif
