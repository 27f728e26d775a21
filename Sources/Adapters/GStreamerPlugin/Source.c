#include "Source.h"

// framebussrc: the frames of a stream as buffers, in the memory that their publisher wrote.

G_DEFINE_TYPE(FramebusSrc, framebus_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE(framebussrc, "framebussrc", GST_RANK_NONE, framebus_src_get_type())

// ---- States ----

static gboolean fail(FramebusSrc *self, const framebus_error *error) {
  plugin_post_error(GST_ELEMENT(self), error, self->stream);
  return FALSE;
}

static gboolean start(GstBaseSrc *source) {
  FramebusSrc *self = FRAMEBUS_SRC(source);
  framebus_error error = FRAMEBUS_ERROR_INIT;
  if (self->stream == NULL) {
    GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS,
                      ("No stream is chosen; set the property stream, such as stream=screen"),
                      (NULL));
    return FALSE;
  }
  if (plugin_open_group(self->group, self->root, &self->bus, &error) != FRAMEBUS_OK) {
    self->bus = NULL;
    return fail(self, &error);
  }
  if (framebus_stop_open(&self->stop, &error) != FRAMEBUS_OK) {
    framebus_group_close(self->bus);
    self->bus = NULL;
    self->stop = NULL;
    return fail(self, &error);
  }
  GST_OBJECT_LOCK(self);
  self->account = lease_account_new();
  GST_OBJECT_UNLOCK(self);
  self->has_format = self->has_anchor = self->has_warned = FALSE;
  self->generation = self->format_epoch = 0;
  self->chosen_policy =
      self->policy == POLICY_AUTOMATIC ? FRAMEBUS_POLICY_LATEST : (guint32)self->policy;
  self->orientation = 0;
  self->absent_since = 0;
  self->anchor_time = 0;
  self->renews_stop = FALSE;
  self->reported_utilization = 0;
  self->utilization_due = 0;
  GST_OBJECT_LOCK(self);
  self->received = self->dropped = self->copied = 0;
  self->utilization = 0;
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static gboolean stop(GstBaseSrc *source) {
  FramebusSrc *self = FRAMEBUS_SRC(source);
  // Buffers that are out keep their leases.
  if (self->subscriber != NULL) framebus_subscriber_close(self->subscriber);
  plugin_clock_clear(&self->clock);
  if (self->stop != NULL) framebus_stop_close(self->stop);
  if (self->bus != NULL) framebus_group_close(self->bus);
  GST_OBJECT_LOCK(self);
  if (self->account != NULL) lease_account_unref(self->account);
  self->account = NULL;
  GST_OBJECT_UNLOCK(self);
  self->subscriber = NULL;
  self->stop = NULL;
  self->bus = NULL;
  return TRUE;
}

static gboolean unlock(GstBaseSrc *source) {
  FramebusSrc *self = FRAMEBUS_SRC(source);
  g_mutex_lock(&self->waiting);
  self->renews_stop = FALSE;
  if (self->stop != NULL) framebus_stop_raise(self->stop);
  g_mutex_unlock(&self->waiting);
  return TRUE;
}

static gboolean unlock_stop(GstBaseSrc *source) {
  FramebusSrc *self = FRAMEBUS_SRC(source);
  g_mutex_lock(&self->waiting);
  self->renews_stop = TRUE;
  g_mutex_unlock(&self->waiting);
  return TRUE;
}

// A raised handle stays raised, so a new one replaces it; only the thread that waits does that.
static gboolean renew_stop(FramebusSrc *self, framebus_error *error) {
  g_mutex_lock(&self->waiting);
  int result = FRAMEBUS_OK;
  if (self->renews_stop) {
    framebus_stop_close(self->stop);
    self->stop = NULL;
    result = framebus_stop_open(&self->stop, error);
    self->renews_stop = FALSE;
  }
  g_mutex_unlock(&self->waiting);
  return result == FRAMEBUS_OK;
}

// ---- Receiving ----

// Frames that the automatic policy keeps of sound.
static const guint32 most_kept = 64;

static guint64 deadline(FramebusSrc *self, gint64 since) {
  if (self->publisher_timeout == GST_CLOCK_TIME_NONE) return FRAMEBUS_NEVER;
  if (since > 0) return (guint64)since + self->publisher_timeout;
  return framebus_after_ns(self->publisher_timeout);
}

static GstFlowReturn attach(FramebusSrc *self) {
  framebus_error error = FRAMEBUS_ERROR_INIT;
  framebus_subscriber_options options = FRAMEBUS_SUBSCRIBER_OPTIONS_INIT;
  gboolean is_automatic = self->policy == POLICY_AUTOMATIC;
  options.policy = self->chosen_policy;
  options.policy_count = is_automatic ? most_kept : self->policy_count;
  options.start = (guint32)self->start;
  options.leases = self->leases;
  options.verifies_checksums = self->verifies_checksums;
  guint64 until = self->publisher_timeout == 0 ? 0 : deadline(self, 0);
  int result;
  do {
    result = framebus_subscriber_open(self->bus, self->stream, &options, until, self->stop,
                                      &self->subscriber, &error);
    options.policy_count /= 2;
    // The publisher refuses a policy that keeps more than its ring does.
  } while (is_automatic && result == FRAMEBUS_ERROR_REFUSED && options.policy_count > 0);
  if (result == FRAMEBUS_OK) return GST_FLOW_OK;
  self->subscriber = NULL;
  if (result == FRAMEBUS_STOPPED) return GST_FLOW_FLUSHING;
  fail(self, &error);
  return GST_FLOW_ERROR;
}

static GstFlowReturn finish(FramebusSrc *self) {
  framebus_subscriber_status status = {.size = sizeof status};
  if (framebus_subscriber_get_status(self->subscriber, &status, NULL) == FRAMEBUS_OK &&
      status.end_reason == FRAMEBUS_END_FAILED) {
    GST_ELEMENT_ERROR(self, RESOURCE, READ,
                      ("Stream %s ended because its publisher failed; see `framebus log`",
                       self->stream),
                      (NULL));
    return GST_FLOW_ERROR;
  }
  return GST_FLOW_EOS;
}

// After a wait without a frame: whether there has been no publisher for the whole timeout.
static gboolean publisher_is_lost(FramebusSrc *self) {
  framebus_subscriber_status status = {.size = sizeof status};
  framebus_subscriber_get_status(self->subscriber, &status, NULL);
  if (status.generation != 0) {
    self->absent_since = 0;
    return FALSE;
  }
  gint64 now = (gint64)framebus_now_ns();
  if (self->absent_since == 0) self->absent_since = now;
  if ((guint64)(now - self->absent_since) < self->publisher_timeout) return FALSE;
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                    ("Stream %s has had no publisher for %" G_GUINT64_FORMAT
                     " ms; start it, or raise the property wait-for-publisher",
                     self->stream, self->publisher_timeout / GST_MSECOND),
                    (NULL));
  return TRUE;
}

// Tells the publisher how loaded downstream is, at most once a second.
static void report_utilization(FramebusSrc *self) {
  guint64 now = framebus_now_ns();
  if (now < self->utilization_due) return;
  self->utilization_due = now + GST_SECOND;
  GST_OBJECT_LOCK(self);
  gdouble utilization = self->utilization;
  GST_OBJECT_UNLOCK(self);
  if (ABS(utilization - self->reported_utilization) < 0.1) return;
  self->reported_utilization = utilization;
  framebus_subscriber_set_utilization(self->subscriber, utilization, NULL);
}

static void note_frame(FramebusSrc *self, const framebus_frame *frame) {
  self->absent_since = 0;
  if (!self->has_format || frame->generation != self->generation) {
    framebus_subscriber_status status = {.size = sizeof status};
    framebus_subscriber_get_status(self->subscriber, &status, NULL);
    self->granted_leases = status.granted_leases;
  }
  GST_OBJECT_LOCK(self);
  self->received += 1;
  self->dropped += frame->dropped_before;
  GST_OBJECT_UNLOCK(self);
}

// The policy that suits the first frame's format. Another than the present one means to attach
// again, before anything was received.
static gboolean suits(FramebusSrc *self, const framebus_frame *frame) {
  framebus_format format = {.size = sizeof format};
  if (self->policy != POLICY_AUTOMATIC || self->has_format) return TRUE;
  if (framebus_lease_format(frame->lease, &format, NULL) != FRAMEBUS_OK) return TRUE;
  guint32 policy = FRAMEBUS_POLICY_KEEP_LATEST;
  if (format.kind == FRAMEBUS_KIND_VIDEO) {
    policy = format.plane_count > 0 ? FRAMEBUS_POLICY_LATEST : FRAMEBUS_POLICY_KEY_FRAMES;
  }
  gboolean is_same = policy == self->chosen_policy;
  self->chosen_policy = policy;
  return is_same;
}

static GstFlowReturn create(GstPushSrc *source, GstBuffer **buffer) {
  FramebusSrc *self = FRAMEBUS_SRC(source);
  framebus_error error = FRAMEBUS_ERROR_INIT;
  if (!renew_stop(self, &error)) {
    fail(self, &error);
    return GST_FLOW_ERROR;
  }
  while (TRUE) {
    if (self->subscriber == NULL) {
      GstFlowReturn flow = attach(self);
      if (flow != GST_FLOW_OK) return flow;
    }
    report_utilization(self);
    framebus_frame frame = FRAMEBUS_FRAME_INIT;
    guint64 until = deadline(self, self->absent_since);
    int result = framebus_subscriber_next(self->subscriber, until, self->stop, &frame, &error);
    switch (result) {
      case FRAMEBUS_OK:
        if (!suits(self, &frame)) {
          framebus_lease_release(frame.lease);
          framebus_subscriber_close(self->subscriber);
          self->subscriber = NULL;
          break;
        }
        note_frame(self, &frame);
        return source_frame_to_buffer(self, &frame, buffer);
      case FRAMEBUS_TIMED_OUT:
        if (publisher_is_lost(self)) return GST_FLOW_ERROR;
        break;
      case FRAMEBUS_STOPPED: return GST_FLOW_FLUSHING;
      case FRAMEBUS_FINISHED: return finish(self);
      default: fail(self, &error); return GST_FLOW_ERROR;
    }
  }
}

// ---- Queries, events ----

// The stream decides the format: caps follow with its first frame.
static gboolean negotiate(GstBaseSrc *source) {
  FRAMEBUS_SRC(source)->asks_downstream = TRUE;
  return TRUE;
}

static gboolean is_seekable(GstBaseSrc *source) {
  (void)source;
  return FALSE;
}

static gboolean query(GstBaseSrc *source, GstQuery *query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) {
    return GST_BASE_SRC_CLASS(framebus_src_parent_class)->query(source, query);
  }
  GST_OBJECT_LOCK(source);
  guint64 latency = FRAMEBUS_SRC(source)->latency;
  GST_OBJECT_UNLOCK(source);
  gst_query_set_latency(query, gst_base_src_is_live(source), latency, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static gboolean event(GstBaseSrc *source, GstEvent *event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) {
    gdouble proportion = 0;
    gst_event_parse_qos(event, NULL, &proportion, NULL, NULL);
    GST_OBJECT_LOCK(source);
    FRAMEBUS_SRC(source)->utilization = CLAMP(proportion, 0, 1);
    GST_OBJECT_UNLOCK(source);
  }
  return GST_BASE_SRC_CLASS(framebus_src_parent_class)->event(source, event);
}

static void finalize(GObject *object) {
  FramebusSrc *self = FRAMEBUS_SRC(object);
  g_free(self->stream);
  g_free(self->group);
  g_free(self->root);
  g_mutex_clear(&self->waiting);
  G_OBJECT_CLASS(framebus_src_parent_class)->finalize(object);
}

static void framebus_src_class_init(FramebusSrcClass *class) {
  GObjectClass *objects = G_OBJECT_CLASS(class);
  GstElementClass *elements = GST_ELEMENT_CLASS(class);
  GstBaseSrcClass *sources = GST_BASE_SRC_CLASS(class);
  objects->finalize = finalize;
  source_add_properties(objects);
  GstCaps *caps = gst_caps_from_string(plugin_source_caps);
  gst_element_class_add_pad_template(
      elements, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
  gst_element_class_set_static_metadata(
      elements, "FrameBus source", "Source/Video/Audio",
      "Receives the frames of a FrameBus stream in the memory that its publisher wrote",
      "FrameBus");
  sources->start = start;
  sources->stop = stop;
  sources->unlock = unlock;
  sources->unlock_stop = unlock_stop;
  sources->negotiate = negotiate;
  sources->is_seekable = is_seekable;
  sources->query = query;
  sources->event = event;
  GST_PUSH_SRC_CLASS(class)->create = create;
}

static void framebus_src_init(FramebusSrc *self) {
  g_mutex_init(&self->waiting);
  source_set_defaults(self);
  gst_base_src_set_live(GST_BASE_SRC(self), TRUE);
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}
