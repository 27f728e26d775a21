#include "Source.h"

// framebussrc: the frames of a stream as buffers, in the memory that their publisher wrote.

enum {
  PROPERTY_NONE,
  PROPERTY_STREAM,
  PROPERTY_GROUP,
  PROPERTY_ROOT,
  PROPERTY_POLICY,
  PROPERTY_POLICY_COUNT,
  PROPERTY_START,
  PROPERTY_LEASES,
  PROPERTY_WAIT_FOR_PUBLISHER,
  PROPERTY_LATENCY,
  PROPERTY_IS_LIVE,
  PROPERTY_VERIFY_CHECKSUMS,
  PROPERTY_STATS,
};

static const guint default_leases = 16;
static const guint64 default_latency = 20 * GST_MSECOND;

G_DEFINE_TYPE(FramebusSrc, framebus_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE(framebussrc, "framebussrc", GST_RANK_NONE, framebus_src_get_type())

static GType policy_type(void) {
  static gsize type = 0;
  static const GEnumValue values[] = {
      {FRAMEBUS_POLICY_LATEST, "The newest frame; older ones are dropped", "latest"},
      {FRAMEBUS_POLICY_KEEP_LATEST, "In order, the newest policy-count frames", "keep-latest"},
      {FRAMEBUS_POLICY_LOSSLESS, "All frames; the publisher waits, if it allows that", "lossless"},
      {FRAMEBUS_POLICY_EVERY_NTH, "Every policy-count-th frame", "every-nth"},
      {FRAMEBUS_POLICY_KEY_FRAMES, "In order; after a gap from the next key frame on",
       "key-frames"},
      {0, NULL, NULL},
  };
  if (g_once_init_enter(&type)) {
    g_once_init_leave(&type, g_enum_register_static("FramebusSrcPolicy", values));
  }
  return type;
}

static GType start_type(void) {
  static gsize type = 0;
  static const GEnumValue values[] = {
      {FRAMEBUS_START_NEWEST, "With the newest frame", "newest"},
      {FRAMEBUS_START_NEXT, "With the first frame published afterwards", "next"},
      {FRAMEBUS_START_OLDEST, "With the oldest frame that is there", "oldest"},
      {FRAMEBUS_START_KEY_FRAME, "With the newest key frame", "key-frame"},
      {0, NULL, NULL},
  };
  if (g_once_init_enter(&type)) {
    g_once_init_leave(&type, g_enum_register_static("FramebusSrcStart", values));
  }
  return type;
}

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

static guint64 deadline(FramebusSrc *self, gint64 since) {
  if (self->publisher_timeout == GST_CLOCK_TIME_NONE) return FRAMEBUS_NEVER;
  if (since > 0) return (guint64)since + self->publisher_timeout;
  return framebus_after_ns(self->publisher_timeout);
}

static GstFlowReturn attach(FramebusSrc *self) {
  framebus_error error = FRAMEBUS_ERROR_INIT;
  framebus_subscriber_options options = FRAMEBUS_SUBSCRIBER_OPTIONS_INIT;
  options.policy = (guint32)self->policy;
  options.policy_count = self->policy_count;
  options.start = (guint32)self->start;
  options.leases = self->leases;
  options.verifies_checksums = self->verifies_checksums;
  guint64 until = self->publisher_timeout == 0 ? 0 : deadline(self, 0);
  int result = framebus_subscriber_open(self->bus, self->stream, &options, until, self->stop,
                                        &self->subscriber, &error);
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

static GstFlowReturn create(GstPushSrc *source, GstBuffer **buffer) {
  FramebusSrc *self = FRAMEBUS_SRC(source);
  framebus_error error = FRAMEBUS_ERROR_INIT;
  if (!renew_stop(self, &error)) {
    fail(self, &error);
    return GST_FLOW_ERROR;
  }
  if (self->subscriber == NULL) {
    GstFlowReturn flow = attach(self);
    if (flow != GST_FLOW_OK) return flow;
  }
  report_utilization(self);
  while (TRUE) {
    framebus_frame frame = FRAMEBUS_FRAME_INIT;
    guint64 until = deadline(self, self->absent_since);
    int result = framebus_subscriber_next(self->subscriber, until, self->stop, &frame, &error);
    switch (result) {
      case FRAMEBUS_OK:
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

// ---- Properties ----

static void replace(gchar **text, const GValue *value) {
  g_free(*text);
  *text = g_value_dup_string(value);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  FramebusSrc *self = FRAMEBUS_SRC(object);
  if (id == PROPERTY_IS_LIVE) {
    gst_base_src_set_live(GST_BASE_SRC(self), g_value_get_boolean(value));
    return;
  }
  GST_OBJECT_LOCK(self);
  switch (id) {
    case PROPERTY_STREAM: replace(&self->stream, value); break;
    case PROPERTY_GROUP: replace(&self->group, value); break;
    case PROPERTY_ROOT: replace(&self->root, value); break;
    case PROPERTY_POLICY: self->policy = g_value_get_enum(value); break;
    case PROPERTY_POLICY_COUNT: self->policy_count = g_value_get_uint(value); break;
    case PROPERTY_START: self->start = g_value_get_enum(value); break;
    case PROPERTY_LEASES: self->leases = g_value_get_uint(value); break;
    case PROPERTY_WAIT_FOR_PUBLISHER: self->publisher_timeout = g_value_get_uint64(value); break;
    case PROPERTY_LATENCY: self->latency = g_value_get_uint64(value); break;
    case PROPERTY_VERIFY_CHECKSUMS: self->verifies_checksums = g_value_get_boolean(value); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
  GST_OBJECT_UNLOCK(self);
}

static GstStructure *stats(FramebusSrc *self) {
  guint held = self->account != NULL ? lease_account_held(self->account) : 0;
  return gst_structure_new("framebussrc-stats", "received", G_TYPE_UINT64, self->received,
                           "dropped", G_TYPE_UINT64, self->dropped, "copied", G_TYPE_UINT64,
                           self->copied, "held", G_TYPE_UINT, held, NULL);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  FramebusSrc *self = FRAMEBUS_SRC(object);
  if (id == PROPERTY_IS_LIVE) {
    g_value_set_boolean(value, gst_base_src_is_live(GST_BASE_SRC(self)));
    return;
  }
  GST_OBJECT_LOCK(self);
  switch (id) {
    case PROPERTY_STREAM: g_value_set_string(value, self->stream); break;
    case PROPERTY_GROUP: g_value_set_string(value, self->group); break;
    case PROPERTY_ROOT: g_value_set_string(value, self->root); break;
    case PROPERTY_POLICY: g_value_set_enum(value, self->policy); break;
    case PROPERTY_POLICY_COUNT: g_value_set_uint(value, self->policy_count); break;
    case PROPERTY_START: g_value_set_enum(value, self->start); break;
    case PROPERTY_LEASES: g_value_set_uint(value, self->leases); break;
    case PROPERTY_WAIT_FOR_PUBLISHER: g_value_set_uint64(value, self->publisher_timeout); break;
    case PROPERTY_LATENCY: g_value_set_uint64(value, self->latency); break;
    case PROPERTY_VERIFY_CHECKSUMS: g_value_set_boolean(value, self->verifies_checksums); break;
    case PROPERTY_STATS: g_value_take_boxed(value, stats(self)); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
  GST_OBJECT_UNLOCK(self);
}

static void finalize(GObject *object) {
  FramebusSrc *self = FRAMEBUS_SRC(object);
  g_free(self->stream);
  g_free(self->group);
  g_free(self->root);
  g_mutex_clear(&self->waiting);
  G_OBJECT_CLASS(framebus_src_parent_class)->finalize(object);
}

static void add_properties(GObjectClass *class) {
  const GParamFlags ready =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | (GParamFlags)GST_PARAM_MUTABLE_READY;
  g_object_class_install_property(
      class, PROPERTY_STREAM,
      g_param_spec_string("stream", "Stream", "Name of the stream to receive, such as screen",
                          NULL, ready));
  g_object_class_install_property(
      class, PROPERTY_GROUP,
      g_param_spec_string("group", "Group", "ID of the group (default: $FRAMEBUS_GROUP, then group.local.framebus)", NULL,
                          ready));
  g_object_class_install_property(
      class, PROPERTY_ROOT,
      g_param_spec_string("root", "Root",
                          "Directory of groups (default: $FRAMEBUS_HOME, then the system's)",
                          NULL, ready));
  g_object_class_install_property(
      class, PROPERTY_POLICY,
      g_param_spec_enum("policy", "Policy", "Which frames a slow pipeline receives", policy_type(),
                        FRAMEBUS_POLICY_LATEST, ready));
  g_object_class_install_property(
      class, PROPERTY_POLICY_COUNT,
      g_param_spec_uint("policy-count", "Policy count",
                        "Frames that keep-latest keeps, or the n of every-nth, in frames", 1, 1024,
                        1, ready));
  g_object_class_install_property(
      class, PROPERTY_START,
      g_param_spec_enum("start", "Start", "Where in the stream to begin", start_type(),
                        FRAMEBUS_START_NEWEST, ready));
  g_object_class_install_property(
      class, PROPERTY_LEASES,
      g_param_spec_uint("leases", "Leases",
                        "Frames that later elements may hold without a copy, and one more; beyond "
                        "that frames are copied, in frames",
                        2, 16, default_leases, ready));
  g_object_class_install_property(
      class, PROPERTY_WAIT_FOR_PUBLISHER,
      g_param_spec_uint64("wait-for-publisher", "Wait for publisher",
                          "How long to wait for a publisher, at the start and after it is gone, "
                          "in nanoseconds (default: without limit; 0: it must be running)",
                          0, G_MAXUINT64, GST_CLOCK_TIME_NONE, ready));
  g_object_class_install_property(
      class, PROPERTY_LATENCY,
      g_param_spec_uint64("latency", "Latency",
                          "Time from a frame's PTS to its arrival, as latency queries report it, "
                          "in nanoseconds",
                          0, G_MAXINT64, default_latency, ready));
  g_object_class_install_property(
      class, PROPERTY_IS_LIVE,
      g_param_spec_boolean("is-live", "Is live",
                           "Whether PTS follow the pipeline's clock; otherwise they begin at 0",
                           TRUE, ready));
  g_object_class_install_property(
      class, PROPERTY_VERIFY_CHECKSUMS,
      g_param_spec_boolean("verify-checksums", "Verify checksums",
                           "Drop frames that do not match the checksum that they carry", FALSE,
                           ready));
  g_object_class_install_property(
      class, PROPERTY_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "Frames received, dropped and copied (not wrapped), and held at present",
                         GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_type_mark_as_plugin_api(policy_type(), 0);
  gst_type_mark_as_plugin_api(start_type(), 0);
}

static void framebus_src_class_init(FramebusSrcClass *class) {
  GObjectClass *objects = G_OBJECT_CLASS(class);
  GstElementClass *elements = GST_ELEMENT_CLASS(class);
  GstBaseSrcClass *sources = GST_BASE_SRC_CLASS(class);
  objects->set_property = set_property;
  objects->get_property = get_property;
  objects->finalize = finalize;
  add_properties(objects);
  GstCaps *caps = gst_caps_from_string(plugin_caps);
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
  self->policy = FRAMEBUS_POLICY_LATEST;
  self->policy_count = 1;
  self->start = FRAMEBUS_START_NEWEST;
  self->leases = default_leases;
  self->publisher_timeout = GST_CLOCK_TIME_NONE;
  self->latency = default_latency;
  gst_base_src_set_live(GST_BASE_SRC(self), TRUE);
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}
