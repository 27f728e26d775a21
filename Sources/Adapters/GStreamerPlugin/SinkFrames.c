#include "Sink.h"

// Upstream tries several caps, and one message is enough.
static gboolean fail(FramebusSink *self, const framebus_error *error) {
  if (!self->has_failed) plugin_post_error(GST_ELEMENT(self), error, self->stream);
  self->has_failed = TRUE;
  return FALSE;
}

// ---- The stream ----

void sink_end(FramebusSink *self, guint32 reason) {
  GST_OBJECT_LOCK(self);
  Output *output = self->output;
  self->output = NULL;
  GST_OBJECT_UNLOCK(self);
  if (output != NULL) output_end(output, reason);
}

gboolean sink_apply_format(FramebusSink *self) {
  framebus_error error = FRAMEBUS_ERROR_INIT;
  self->lost_damage = TRUE;
  if (self->output != NULL) {
    if (output_set_format(self->output, &self->format.format, &error) == FRAMEBUS_OK) return TRUE;
    return fail(self, &error);
  }
  framebus_publisher_options options = FRAMEBUS_PUBLISHER_OPTIONS_INIT;
  options.content = (guint32)self->content;
  // Sound and encoded frames are all needed; of pictures the newest is. A lossless stream needs
  // more frames in its ring than loans.
  guint automatic = self->format.is_raw_video ? 2 : 64;
  if (self->allows_lossless) automatic = MAX(automatic, self->loans + 2);
  options.ring_depth = self->ring_depth > 0 ? self->ring_depth : automatic;
  options.maximum_loans = self->loans;
  options.allows_lossless = self->allows_lossless;
  options.checksums = self->checksums;
  Output *output = output_open(self->bus, self->stream, &self->format.format, &options, &error);
  if (output == NULL) return fail(self, &error);
  self->has_waited = FALSE;
  GST_OBJECT_LOCK(self);
  self->output = output;
  gboolean is_paused = self->is_paused;
  GST_OBJECT_UNLOCK(self);
  if (is_paused) output_pause(output, TRUE);
  return TRUE;
}

// Encoded frames and sound have no fixed size: makes room for a longer one.
static gboolean make_room(FramebusSink *self, gsize size) {
  if (size <= self->format.format.byte_count) return TRUE;
  if (size > G_MAXUINT32 || self->format.is_raw_video) {
    GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE,
                      ("A buffer has %" G_GSIZE_FORMAT " bytes, more than the %" G_GUINT64_FORMAT
                       " of its format",
                       size, self->format.format.byte_count),
                      (NULL));
    return FALSE;
  }
  guint64 unit = self->format.is_raw_audio ? (guint64)GST_AUDIO_INFO_BPF(&self->format.audio) : 1;
  self->format.format.byte_count = MIN((guint64)size * 2, G_MAXUINT32) / unit * unit;
  return sink_apply_format(self);
}

// ---- Metadata ----

// Whether late buffers were dropped since the last call.
static gboolean has_dropped(FramebusSink *self) {
  GstStructure *stats = gst_base_sink_get_stats(GST_BASE_SINK(self));
  guint64 dropped = 0;
  gst_structure_get_uint64(stats, "dropped", &dropped);
  gst_structure_free(stats);
  gboolean is_more = dropped != self->known_drops;
  self->known_drops = dropped;
  return is_more;
}

static framebus_metadata metadata_of(FramebusSink *self, GstBuffer *buffer) {
  framebus_metadata metadata = {.size = sizeof metadata};
  framebus_metadata_now(&metadata, NULL);
  guint64 now = metadata.captured_at_ns;
  GstClockTime running =
      gst_segment_to_running_time(&GST_BASE_SINK(self)->segment, GST_FORMAT_TIME,
                                  GST_BUFFER_PTS_IS_VALID(buffer) ? GST_BUFFER_PTS(buffer)
                                                                  : GST_BUFFER_DTS(buffer));
  gint64 monotonic = 0;
  if (running != GST_CLOCK_TIME_NONE &&
      plugin_monotonic_at(&self->clock, GST_ELEMENT(self), (gint64)running, &monotonic)) {
    metadata.pts_ns = monotonic;
  } else if (running != GST_CLOCK_TIME_NONE) {
    metadata.pts_ns = (gint64)running;
  }
  // What was read rather than captured has no time of capture.
  gboolean is_captured = self->is_live && metadata.pts_ns > 0;
  metadata.captured_at_ns = is_captured ? MIN((guint64)metadata.pts_ns, now) : 0;
  if (GST_BUFFER_DURATION_IS_VALID(buffer)) metadata.duration_ns = GST_BUFFER_DURATION(buffer);
  metadata.orientation = self->format.is_raw_audio ? 1 : self->orientation;
  if (!GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT)) {
    metadata.flags |= FRAMEBUS_FLAG_KEY_FRAME;
  }
  if (GST_BUFFER_IS_DISCONT(buffer)) metadata.flags |= FRAMEBUS_FLAG_DISCONTINUITY;
  if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DROPPABLE)) {
    metadata.flags |= FRAMEBUS_FLAG_DROPPABLE;
  }
  if (self->format.is_raw_audio && GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP)) {
    metadata.flags |= FRAMEBUS_FLAG_SILENCE;
  }
  if (self->format.is_raw_video) plugin_metadata_read_metas(&metadata, buffer);
  gboolean is_partial = metadata.damage_count <= FRAMEBUS_MAXIMUM_DAMAGE;
  if (self->lost_damage || (is_partial && has_dropped(self))) {
    metadata.damage_count = FRAMEBUS_DAMAGE_FULL;
  }
  return metadata;
}

// ---- Bytes ----

// Whether the buffer's rows lie as the stream's format says.
static gboolean has_stream_layout(FramebusSink *self, GstBuffer *buffer) {
  const GstVideoInfo *video = &self->format.video;
  const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
  if (meta == NULL) return TRUE;
  if (meta->format != GST_VIDEO_INFO_FORMAT(video) || meta->width != (guint)video->width ||
      meta->height != (guint)video->height || meta->n_planes != GST_VIDEO_INFO_N_PLANES(video)) {
    return FALSE;
  }
  for (guint i = 0; i < meta->n_planes; i += 1) {
    if (meta->offset[i] != video->offset[i] || meta->stride[i] != video->stride[i]) return FALSE;
  }
  return TRUE;
}

static gboolean copy_picture(FramebusSink *self, GstBuffer *buffer, GstMemory *slot) {
  GstVideoFrame from, into;
  GstVideoInfo *video = &self->format.video;
  GstBuffer *target = gst_buffer_new();
  gst_buffer_append_memory(target, gst_memory_ref(slot));
  gboolean is_copied = FALSE;
  if (gst_video_frame_map(&from, video, buffer, GST_MAP_READ)) {
    if (gst_video_frame_map(&into, video, target, GST_MAP_WRITE)) {
      is_copied = gst_video_frame_copy(&into, &from);
      gst_video_frame_unmap(&into);
    }
    gst_video_frame_unmap(&from);
  }
  gst_buffer_unref(target);
  return is_copied;
}

static gboolean copy_bytes(GstBuffer *buffer, GstMemory *slot) {
  GstMapInfo map;
  if (!gst_memory_map(slot, &map, GST_MAP_WRITE)) return FALSE;
  gsize size = gst_buffer_get_size(buffer);
  gboolean is_copied = gst_buffer_extract(buffer, 0, map.data, MIN(map.size, size)) == size;
  gst_memory_unmap(slot, &map);
  return is_copied;
}

// Loans a slot, waiting for lossless subscribers, or, with `slot` NULL, for the first subscriber.
// A pause of the pipeline interrupts the wait.
static GstFlowReturn await(FramebusSink *self, GstMemory **slot) {
  framebus_error error = FRAMEBUS_ERROR_INIT;
  while (TRUE) {
    g_mutex_lock(&self->waiting);
    int result = FRAMEBUS_OK;
    if (self->renews_stop) {
      framebus_stop_close(self->stop);
      self->stop = NULL;
      result = framebus_stop_open(&self->stop, &error);
      self->renews_stop = FALSE;
    }
    g_mutex_unlock(&self->waiting);
    if (result == FRAMEBUS_OK && slot == NULL) {
      result = output_wait(self->output, self->stop);
    } else if (result == FRAMEBUS_OK) {
      result = output_loan(self->output, FRAMEBUS_NEVER, self->stop, slot, &error);
    }
    if (result == FRAMEBUS_OK) return GST_FLOW_OK;
    if (result != FRAMEBUS_STOPPED) {
      fail(self, &error);
      return GST_FLOW_ERROR;
    }
    GstFlowReturn flow = gst_base_sink_wait_preroll(GST_BASE_SINK(self));
    if (flow != GST_FLOW_OK) return flow;
  }
}

static GstFlowReturn publish_slot(FramebusSink *self, GstBuffer *buffer, GstMemory *slot,
                                  gboolean is_copy) {
  framebus_error error = FRAMEBUS_ERROR_INIT;
  framebus_metadata metadata = metadata_of(self, buffer);
  guint64 size = self->format.is_raw_video ? FRAMEBUS_WHOLE : gst_buffer_get_size(buffer);
  if (output_publish(self->output, slot, &metadata, size, &error) != FRAMEBUS_OK) {
    fail(self, &error);
    return GST_FLOW_ERROR;
  }
  self->lost_damage = FALSE;
  GST_OBJECT_LOCK(self);
  self->published += 1;
  self->copied += is_copy;
  GST_OBJECT_UNLOCK(self);
  return GST_FLOW_OK;
}

GstFlowReturn sink_publish(FramebusSink *self, GstBuffer *buffer) {
  gsize size = gst_buffer_get_size(buffer);
  if (!self->has_format) return GST_FLOW_NOT_NEGOTIATED;
  // An empty buffer has no frame; an event of upstream's may need one.
  if (size == 0) return GST_FLOW_OK;
  // After an end of stream and a flush, more frames are a stream of their own.
  if (self->output == NULL && !sink_apply_format(self)) return GST_FLOW_ERROR;
  if (!make_room(self, self->format.is_raw_video ? 0 : size)) return GST_FLOW_ERROR;
  GstFlowReturn flow = GST_FLOW_OK;
  if (self->waits_for_subscriber && !self->has_waited) flow = await(self, NULL);
  if (flow != GST_FLOW_OK) return flow;
  self->has_waited = TRUE;
  // The last sample would show what the slot has later.
  gboolean may_be_in_place = self->format.is_raw_video &&
                             !gst_base_sink_is_last_sample_enabled(GST_BASE_SINK(self)) &&
                             has_stream_layout(self, buffer);
  GstMemory *slot = may_be_in_place ? output_own_slot(self->output, buffer) : NULL;
  if (slot != NULL) return publish_slot(self, buffer, slot, FALSE);
  flow = await(self, &slot);
  if (flow != GST_FLOW_OK) {
    self->lost_damage = TRUE;
    return flow;
  }
  gboolean is_copied =
      self->format.is_raw_video ? copy_picture(self, buffer, slot) : copy_bytes(buffer, slot);
  if (is_copied) {
    flow = publish_slot(self, buffer, slot, TRUE);
  } else {
    flow = GST_FLOW_ERROR;
    GST_ELEMENT_ERROR(self, STREAM, FAILED, ("A buffer of upstream's cannot be read"), (NULL));
  }
  gst_memory_unref(slot);
  return flow;
}
