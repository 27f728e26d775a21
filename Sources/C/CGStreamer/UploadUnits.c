#include "CUploadPipeline.h"

#if __has_include(<gst/gst.h>)
#include <errno.h>
#include <gst/gst.h>
#include <gst/video/video.h>

/// What enters the last element. The lock of its pad keeps the two tracks apart.
struct tap {
  GstElement *sink;
  struct upload_unit_receiver receiver;
  /// Whether every key frame begins a segment. Otherwise an event announces those that do.
  gboolean isCut;
  gboolean isAnnounced;
  gboolean isFailed;
};

static void fail(struct tap *tap, int code) {
  tap->isFailed = TRUE;
  if (code == ENOSPC) {
    GST_ELEMENT_ERROR(tap->sink, RESOURCE, NO_SPACE_LEFT, ("%s", g_strerror(code)), (NULL));
  } else {
    GST_ELEMENT_ERROR(tap->sink, RESOURCE, WRITE, ("%s", g_strerror(code)), (NULL));
  }
}

/// The track and the size of the picture, from the format that the funnel sent last.
static void describe(const GstCaps *caps, struct upload_unit *unit) {
  GstStructure *format = gst_caps_get_structure(caps, 0);
  int width = 0, height = 0, numerator = 0, denominator = 1;
  unit->isSound = !g_str_has_prefix(gst_structure_get_name(format), "video/");
  gst_structure_get_int(format, "width", &width);
  gst_structure_get_int(format, "height", &height);
  unit->width = (uint32_t)MAX(0, width);
  unit->height = (uint32_t)MAX(0, height);
  if (gst_structure_get_fraction(format, "framerate", &numerator, &denominator) && denominator > 0)
    unit->picturesPerSecond = (double)numerator / denominator;
}

/// What a decoder needs beside the units: of Opus, the first of the headers of a file (RFC 7845,
/// section 5.1).
static GstBuffer *decoder_setup(const GstCaps *caps) {
  const GstStructure *format = gst_caps_get_structure(caps, 0);
  const GValue *data = gst_structure_get_value(format, "codec_data");
  if (data == NULL) {
    data = gst_structure_get_value(format, "streamheader");
    if (data == NULL || !GST_VALUE_HOLDS_ARRAY(data) || gst_value_array_get_size(data) == 0)
      return NULL;
    data = gst_value_array_get_value(data, 0);
  }
  return GST_VALUE_HOLDS_BUFFER(data) ? gst_value_get_buffer(data) : NULL;
}

/// Calls the handler with the unit and what its decoder needs.
static int hand_over(struct tap *tap, const GstCaps *caps, struct upload_unit *unit) {
  describe(caps, unit);
  GstBuffer *format = decoder_setup(caps);
  GstMapInfo map;
  gboolean isMapped = format != NULL && gst_buffer_map(format, &map, GST_MAP_READ);
  if (isMapped) {
    unit->format = map.data;
    unit->formatByteCount = map.size;
  }
  if (unit->isKey && !unit->isSound) {
    unit->beginsSegment = tap->isCut || tap->isAnnounced;
    tap->isAnnounced = FALSE;
  }
  int code = tap->receiver.handler(tap->receiver.context, unit);
  if (isMapped) gst_buffer_unmap(format, &map);
  return code;
}

/// The time stamps on the one timeline of both tracks: encoders shift theirs, and say so by the
/// segment. False: the unit has no time.
static gboolean set_times(GstPad *pad, GstBuffer *buffer, struct upload_unit *unit) {
  GstEvent *event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
  if (event == NULL) return FALSE;
  const GstSegment *segment = NULL;
  gst_event_parse_segment(event, &segment);
  guint64 ptsNs = gst_segment_to_running_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  guint64 dtsNs = gst_segment_to_running_time(segment, GST_FORMAT_TIME, GST_BUFFER_DTS(buffer));
  gst_event_unref(event);
  unit->ptsNs = ptsNs;
  // A picture that is decoded before the first one is shown has no running time.
  unit->dtsNs = GST_CLOCK_TIME_IS_VALID(dtsNs) ? dtsNs : ptsNs;
  unit->durationNs = GST_BUFFER_DURATION_IS_VALID(buffer) ? GST_BUFFER_DURATION(buffer) : 0;
  return GST_CLOCK_TIME_IS_VALID(ptsNs);
}

static GstPadProbeReturn take_unit(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  struct tap *tap = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  GstMapInfo map;
  struct upload_unit unit = {
      .isKey = !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT)};
  if (tap->isFailed || !set_times(pad, buffer, &unit)) return GST_PAD_PROBE_OK;
  GstCaps *caps = gst_pad_get_current_caps(pad);
  if (caps == NULL) return GST_PAD_PROBE_OK;
  if (gst_buffer_map(buffer, &map, GST_MAP_READ)) {
    unit.bytes = map.data;
    unit.byteCount = map.size;
    int code = hand_over(tap, caps, &unit);
    gst_buffer_unmap(buffer, &map);
    if (code != 0) fail(tap, code);
  }
  gst_caps_unref(caps);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn take_event(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad;
  struct tap *tap = data;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  // A parser passes it on right before the key frame.
  if (gst_video_event_is_force_key_unit(event)) tap->isAnnounced = TRUE;
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS && !tap->isFailed) {
    int code = tap->receiver.handler(tap->receiver.context, NULL);
    if (code != 0) fail(tap, code);
  }
  return GST_PAD_PROBE_OK;
}

static void free_tap(gpointer data) {
  struct tap *tap = data;
  tap->receiver.release(tap->receiver.context);
  g_free(tap);
}

bool upload_pipeline_tap(upload_pipeline *pipeline, const char *encoder, uint64_t intervalNs,
                         const struct upload_unit_receiver *receiver) {
  GstElement *sink = upload_pipeline_last_element(pipeline);
  GstPad *input = gst_element_get_static_pad(sink, "sink");
  if (input == NULL) return false;
  struct tap *tap = g_new0(struct tap, 1);
  *tap = (struct tap){.sink = sink, .receiver = *receiver, .isCut = encoder != NULL};
  // At the input, whose stream lock is held: both threads of a funnel come here.
  gst_pad_add_probe(input, GST_PAD_PROBE_TYPE_BUFFER, take_unit, tap, free_tap);
  gst_pad_add_probe(input, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, take_event, tap, NULL);
  gst_object_unref(input);
  if (encoder) upload_pipeline_request_keys(pipeline, encoder, intervalNs);
  return true;
}

#else
// Without the package trait Media this file has only the declaration that ISO C requires.
typedef int upload_units_are_absent;
#endif
