#include "Source.h"

// Frames so small are copied: a lease of their slot would be worth more than the copy.
static const guint64 small_frame = 16 << 10;

// ---- Formats ----

static gboolean has_plain_layout(const GstVideoInfo *video) {
  GstVideoInfo plain;
  gst_video_info_set_format(&plain, GST_VIDEO_INFO_FORMAT(video), (guint)video->width,
                            (guint)video->height);
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(video); i += 1) {
    if (plain.offset[i] != video->offset[i] || plain.stride[i] != video->stride[i]) return FALSE;
  }
  return TRUE;
}

// Asks whether downstream reads strides and offsets of its own accord.
static void ask_downstream(FramebusSrc *self, GstCaps *caps) {
  GstPad *pad = GST_BASE_SRC_PAD(self);
  GstQuery *query = gst_query_new_allocation(caps, FALSE);
  self->takes_strides = gst_pad_peer_query(pad, query) &&
                        gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_unref(query);
  self->asks_downstream = FALSE;
}

static GstFlowReturn take_format(FramebusSrc *self, const framebus_frame *frame,
                                 const framebus_metadata *metadata) {
  framebus_error error = FRAMEBUS_ERROR_INIT;
  framebus_format format = {.size = sizeof format};
  if (framebus_lease_format(frame->lease, &format, &error) != FRAMEBUS_OK) {
    plugin_post_error(GST_ELEMENT(self), &error, self->stream);
    return GST_FLOW_ERROR;
  }
  GstCaps *caps = plugin_format_to_caps(&self->format, &format, &metadata->crop);
  if (caps == NULL) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("Stream %s has a format that GStreamer does not know: %.4s; see `framebus "
                       "streams`, and publish another format",
                       self->stream, (const char *)&format.fourcc),
                      ("kind %u, %u×%u, %u planes", format.kind, format.width, format.height,
                       format.plane_count));
    return GST_FLOW_NOT_NEGOTIATED;
  }
  self->is_plain = !self->format.is_raw_video || has_plain_layout(&self->format.video);
  gboolean is_accepted = gst_base_src_set_caps(GST_BASE_SRC(self), caps);
  if (is_accepted) ask_downstream(self, caps);
  gst_caps_unref(caps);
  self->has_format = is_accepted;
  self->format_epoch = frame->format_epoch;
  self->crop = metadata->crop;
  if (is_accepted) return GST_FLOW_OK;
  return GST_PAD_IS_FLUSHING(GST_BASE_SRC_PAD(self)) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
}

static void announce_orientation(FramebusSrc *self, guint32 orientation) {
  if (orientation == self->orientation) return;
  // An upright picture needs no tag, unless it follows another.
  if (orientation != 1 || self->orientation != 0) {
    GstTagList *tags = gst_tag_list_new(GST_TAG_IMAGE_ORIENTATION,
                                        plugin_orientation_tag(orientation), NULL);
    gst_pad_push_event(GST_BASE_SRC_PAD(self), gst_event_new_tag(tags));
  }
  self->orientation = orientation;
}

// ---- Times ----

// A live stream's PTS is a moment of CLOCK_MONOTONIC, and becomes the running time of that moment.
// Another source has a clock of its own: its first frame is due as it comes.
static GstClockTime running_pts(FramebusSrc *self, const framebus_frame *frame) {
  static const gint64 tolerance = 10 * GST_SECOND;
  gint64 apart = (gint64)frame->published_at_ns - frame->pts_ns;
  gboolean is_near = frame->pts_ns > 0 && ABS(apart) < tolerance;
  gint64 time = 0;
  gboolean is_live = gst_base_src_is_live(GST_BASE_SRC(self));
  if (is_live &&
      !plugin_running_time_at(&self->clock, GST_ELEMENT(self), frame->pts_ns, &time)) {
    return GST_CLOCK_TIME_NONE;
  }
  if (is_live && is_near) {
    self->has_anchor = self->is_monotonic = TRUE;
    return (GstClockTime)MAX(time, 0);
  }
  gint64 step = frame->pts_ns - self->anchor_pts;
  if (!self->has_anchor || self->is_monotonic || (frame->flags & FRAMEBUS_FLAG_DISCONTINUITY) ||
      step < 0 || step > (gint64)(24 * 3600 * GST_SECOND)) {
    gint64 now = self->anchor_time;
    if (is_live) {
      plugin_running_time_at(&self->clock, GST_ELEMENT(self), (gint64)framebus_now_ns(), &now);
    }
    self->has_anchor = TRUE;
    self->is_monotonic = FALSE;
    self->anchor_pts = frame->pts_ns;
    self->anchor_time = MAX(now, 0);
    return (GstClockTime)self->anchor_time;
  }
  GstClockTime pts = (GstClockTime)(self->anchor_time + step);
  // Without a clock, the next anchor follows the last frame.
  if (!is_live) {
    self->anchor_pts = frame->pts_ns;
    self->anchor_time = (gint64)pts;
  }
  return pts;
}

static void write_times(FramebusSrc *self, GstBuffer *buffer, const framebus_frame *frame,
                        const framebus_metadata *metadata) {
  const framebus_format *format = &self->format.format;
  GstClockTime pts = running_pts(self, frame);
  GST_BUFFER_PTS(buffer) = pts;
  gboolean is_raw = self->format.is_raw_video || self->format.is_raw_audio;
  GST_BUFFER_DTS(buffer) = is_raw ? GST_CLOCK_TIME_NONE : pts;
  if (metadata->duration_ns > 0) {
    GST_BUFFER_DURATION(buffer) = metadata->duration_ns;
  } else if (self->format.is_raw_audio) {
    guint64 samples = frame->byte_count / (guint64)GST_AUDIO_INFO_BPF(&self->format.audio);
    GST_BUFFER_DURATION(buffer) =
        gst_util_uint64_scale_int(samples, GST_SECOND, GST_AUDIO_INFO_RATE(&self->format.audio));
  } else if (format->rate_numerator > 0) {
    GST_BUFFER_DURATION(buffer) =
        gst_util_uint64_scale(GST_SECOND, format->rate_denominator, format->rate_numerator);
  }
  GST_BUFFER_OFFSET(buffer) = frame->sequence;
  GST_BUFFER_OFFSET_END(buffer) = frame->sequence + 1;
}

static void write_flags(FramebusSrc *self, GstBuffer *buffer, const framebus_frame *frame,
                        gboolean is_first) {
  gboolean is_raw = self->format.is_raw_video || self->format.is_raw_audio;
  gboolean is_key = is_raw || (frame->flags & FRAMEBUS_FLAG_KEY_FRAME);
  gboolean has_gap = frame->dropped_before > 0 || (frame->flags & FRAMEBUS_FLAG_DISCONTINUITY);
  if (!is_key) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  if (is_first || has_gap) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  if (frame->flags & FRAMEBUS_FLAG_SILENCE) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
  if (frame->flags & FRAMEBUS_FLAG_DROPPABLE) {
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DROPPABLE);
  }
}

// ---- Bytes ----

// Copies a picture into memory of the layout that elements expect without a GstVideoMeta.
static GstBuffer *repacked(FramebusSrc *self, GstBuffer *buffer) {
  GstVideoInfo plain;
  GstVideoFrame from, into;
  gst_video_info_set_format(&plain, GST_VIDEO_INFO_FORMAT(&self->format.video),
                            (guint)self->format.video.width, (guint)self->format.video.height);
  GstBuffer *copy = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&plain), NULL);
  if (gst_video_frame_map(&from, &self->format.video, buffer, GST_MAP_READ)) {
    if (gst_video_frame_map(&into, &plain, copy, GST_MAP_WRITE)) {
      gst_video_frame_copy(&into, &from);
      gst_video_frame_unmap(&into);
    }
    gst_video_frame_unmap(&from);
  }
  gst_buffer_unref(buffer);
  return copy;
}

static void count_copy(FramebusSrc *self) {
  GST_OBJECT_LOCK(self);
  self->copied += 1;
  GST_OBJECT_UNLOCK(self);
}

static void warn_of_copies(FramebusSrc *self, guint held) {
  if (self->has_warned) return;
  self->has_warned = TRUE;
  GST_ELEMENT_WARNING(
      self, RESOURCE, NO_SPACE_LEFT,
      ("Frames of stream %s are copied while later elements hold %u of %u leases; shorten their "
       "queues, or set the property leases (at most 16)",
       self->stream, held, self->granted_leases),
      (NULL));
}

// The frame's bytes as a buffer. One lease stays free, to receive the next frame with.
static GstBuffer *wrap_bytes(FramebusSrc *self, const framebus_frame *frame) {
  guint held = lease_account_held(self->account);
  gboolean is_small = !self->format.is_raw_video && frame->byte_count <= small_frame;
  gboolean is_near_quota = held + 1 >= self->granted_leases;
  GstBuffer *buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, lease_memory_new(self->account, frame));
  GstVideoInfo *video = &self->format.video;
  if (self->format.is_raw_video) {
    gst_buffer_add_video_meta_full(
        buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(video), (guint)video->width,
        (guint)video->height, GST_VIDEO_INFO_N_PLANES(video), video->offset, video->stride);
  }
  if (!self->is_plain && !self->takes_strides) {
    count_copy(self);
    return repacked(self, buffer);
  }
  if (is_small || is_near_quota) {
    if (!is_small) warn_of_copies(self, held);
    count_copy(self);
    GstBuffer *copy = gst_buffer_copy_deep(buffer);
    gst_buffer_unref(buffer);
    return copy;
  }
  return buffer;
}

GstFlowReturn source_frame_to_buffer(FramebusSrc *self, framebus_frame *frame,
                                     GstBuffer **buffer) {
  framebus_error error = FRAMEBUS_ERROR_INIT;
  framebus_metadata metadata = {.size = sizeof metadata};
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean is_new = !self->has_format || frame->generation != self->generation;
  if (framebus_lease_metadata(frame->lease, &metadata, &error) != FRAMEBUS_OK) {
    plugin_post_error(GST_ELEMENT(self), &error, self->stream);
    flow = GST_FLOW_ERROR;
  } else if (is_new || frame->format_epoch != self->format_epoch ||
             metadata.crop.x != self->crop.x || metadata.crop.y != self->crop.y ||
             metadata.crop.width != self->crop.width ||
             metadata.crop.height != self->crop.height) {
    flow = take_format(self, frame, &metadata);
  } else if (self->asks_downstream) {
    GstCaps *caps = gst_pad_get_current_caps(GST_BASE_SRC_PAD(self));
    if (caps != NULL) {
      ask_downstream(self, caps);
      gst_caps_unref(caps);
    }
  }
  if (flow != GST_FLOW_OK) {
    framebus_lease_release(frame->lease);
    return flow;
  }
  if (is_new) self->has_anchor = FALSE;
  self->generation = frame->generation;
  announce_orientation(self, metadata.orientation);
  *buffer = wrap_bytes(self, frame);
  if (self->format.is_raw_video) plugin_metadata_add_damage(*buffer, &metadata, &metadata.crop);
  if (self->format.is_raw_audio && self->format.format.is_planar) {
    gst_buffer_add_audio_meta(*buffer, &self->format.audio,
                              frame->byte_count / (gsize)GST_AUDIO_INFO_BPF(&self->format.audio),
                              NULL);
  }
  write_times(self, *buffer, frame, &metadata);
  write_flags(self, *buffer, frame, is_new);
  return GST_FLOW_OK;
}
