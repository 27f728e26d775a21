#include "CUploadPipeline.h"

#if __has_include(<gst/gst.h>)
#include <errno.h>
#include <gst/gst.h>
#include <gst/video/video.h>

/// What follows the muxer, on its streaming thread.
struct cutter {
  GstElement *sink;
  upload_unit_handler handler;
  void *context;
  void (*release)(void *context);
  /// 0 if the encoder's key frames say where a segment begins.
  guint64 intervalNs;
  guint64 beginsAtNs;
  gboolean isKey;
  gboolean isFailed;
};

/// What precedes the encoder, on its streaming thread.
struct requester {
  guint64 intervalNs;
  guint64 dueNs;
  /// Whether the intervals begin at multiples of their length, whatever pauses there are.
  gboolean isGrid;
};

/// A key frame at the first picture of each interval, so that a pause does not shift the next cuts.
static GstPadProbeReturn request_key_frame(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  struct requester *requester = data;
  guint64 ptsNs = GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info));
  if (ptsNs < requester->dueNs) return GST_PAD_PROBE_OK;
  requester->dueNs = requester->isGrid ? (ptsNs / requester->intervalNs + 1) * requester->intervalNs
                                       : ptsNs + requester->intervalNs;
  gst_element_send_event(GST_PAD_PARENT(pad), gst_video_event_new_upstream_force_key_unit(
                                                  GST_CLOCK_TIME_NONE, TRUE, 0));
  return GST_PAD_PROBE_OK;
}

static void hand_over(struct cutter *cutter, const struct upload_unit *unit) {
  if (cutter->isFailed) return;
  int code = cutter->handler(cutter->context, unit);
  if (code == 0) return;
  cutter->isFailed = TRUE;
  if (code == ENOSPC) {
    GST_ELEMENT_ERROR(cutter->sink, RESOURCE, NO_SPACE_LEFT, ("%s", g_strerror(code)), (NULL));
  } else {
    GST_ELEMENT_ERROR(cutter->sink, RESOURCE, WRITE, ("%s", g_strerror(code)), (NULL));
  }
}

static gboolean append(GstBuffer **buffer, guint index, gpointer data) {
  (void)index;
  GstMapInfo map;
  if (!gst_buffer_map(*buffer, &map, GST_MAP_READ)) return TRUE;
  g_byte_array_append(data, map.data, (guint)map.size);
  gst_buffer_unmap(*buffer, &map);
  return TRUE;
}

/// A program association table: a packet of identifier 0 (ISO/IEC 13818-1, 2.4.3.2).
static gboolean begins_with_table(const GByteArray *bytes) {
  return bytes->len >= 188 && bytes->data[0] == 0x47 && (bytes->data[1] & 0x1f) == 0 &&
         bytes->data[2] == 0;
}

static void take_bytes(struct cutter *cutter, GstPadProbeInfo *info) {
  GByteArray *bytes = g_byte_array_new();
  GstBuffer *first = NULL;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
    if (gst_buffer_list_length(list) > 0) first = gst_buffer_list_get(list, 0);
    gst_buffer_list_foreach(list, append, bytes);
  } else {
    first = GST_PAD_PROBE_INFO_BUFFER(info);
    append(&first, 0, bytes);
  }
  if (first != NULL && bytes->len > 0) {
    guint64 ptsNs = GST_BUFFER_PTS_IS_VALID(first) ? GST_BUFFER_PTS(first) : 0;
    gboolean begins = cutter->isKey;
    if (cutter->intervalNs > 0)
      begins = ptsNs >= cutter->beginsAtNs && begins_with_table(bytes);
    if (begins) cutter->beginsAtNs = ptsNs + cutter->intervalNs;
    cutter->isKey = FALSE;
    struct upload_unit unit = {
        .bytes = bytes->data, .byteCount = bytes->len, .ptsNs = ptsNs, .beginsSegment = begins};
    hand_over(cutter, &unit);
  }
  g_byte_array_unref(bytes);
}

static GstPadProbeReturn pass_on(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad;
  struct cutter *cutter = data;
  if ((info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) == 0) {
    take_bytes(cutter, info);
    return GST_PAD_PROBE_OK;
  }
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  // The muxer passes the encoder's event on right before the tables that precede the key frame.
  if (gst_video_event_is_force_key_unit(event)) cutter->isKey = TRUE;
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) hand_over(cutter, NULL);
  return GST_PAD_PROBE_OK;
}

static void free_cutter(gpointer data) {
  struct cutter *cutter = data;
  cutter->release(cutter->context);
  g_free(cutter);
}

static void add_requests(GstElement *bin, const char *encoder, uint64_t intervalNs,
                         gboolean isGrid) {
  GstIterator *elements = gst_bin_iterate_all_by_element_factory_name(GST_BIN(bin), encoder);
  GValue next = G_VALUE_INIT;
  // All renditions have their key frames at the same pictures.
  while (gst_iterator_next(elements, &next) == GST_ITERATOR_OK) {
    struct requester *requester = g_new0(struct requester, 1);
    requester->intervalNs = intervalNs;
    requester->isGrid = isGrid;
    GstPad *pad = gst_element_get_static_pad(g_value_get_object(&next), "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, request_key_frame, requester, g_free);
    gst_object_unref(pad);
    g_value_unset(&next);
  }
  gst_iterator_free(elements);
}

static void request_keys(upload_pipeline *pipeline, const char *encoder, uint64_t intervalNs,
                         gboolean isGrid) {
  GstObject *bin = gst_element_get_parent(upload_pipeline_last_element(pipeline));
  add_requests(GST_ELEMENT(bin), encoder, intervalNs, isGrid);
  gst_object_unref(bin);
}

void upload_pipeline_request_keys(upload_pipeline *pipeline, const char *encoder,
                                  uint64_t intervalNs) {
  request_keys(pipeline, encoder, intervalNs, FALSE);
}

bool upload_pipeline_cut(upload_pipeline *pipeline, const char *encoder, uint64_t intervalNs,
                         const struct upload_unit_receiver *receiver) {
  GstElement *sink = upload_pipeline_last_element(pipeline);
  GstPad *input = gst_element_get_static_pad(sink, "sink");
  GstPad *end = input ? gst_pad_get_peer(input) : NULL;
  gst_clear_object(&input);
  if (end == NULL) return false;
  struct cutter *cutter = g_new0(struct cutter, 1);
  *cutter = (struct cutter){.sink = sink,
                            .handler = receiver->handler,
                            .context = receiver->context,
                            .release = receiver->release,
                            .intervalNs = encoder ? 0 : intervalNs};
  gst_pad_add_probe(end,
                    GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST |
                        GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    pass_on, cutter, free_cutter);
  gst_object_unref(end);
  if (encoder) upload_pipeline_request_keys(pipeline, encoder, intervalNs);
  return true;
}

void upload_pipeline_key_frame_every(upload_pipeline *pipeline, const char *encoder,
                                     uint64_t intervalNs) {
  request_keys(pipeline, encoder, intervalNs, TRUE);
}

#else
// Without the package trait Media this file has only the declaration that ISO C requires.
typedef int upload_segments_are_absent;
#endif
