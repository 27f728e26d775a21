#include "Source.h"

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

static GType policy_type(void) {
  static gsize type = 0;
  static const GEnumValue values[] = {
      {POLICY_AUTOMATIC, "latest for raw pictures, keep-latest for sound, key-frames if encoded",
       "auto"},
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

void source_add_properties(GObjectClass *class) {
  class->set_property = set_property;
  class->get_property = get_property;
  const GParamFlags ready =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | (GParamFlags)GST_PARAM_MUTABLE_READY;
  g_object_class_install_property(
      class, PROPERTY_STREAM,
      g_param_spec_string("stream", "Stream", "Name of the stream to receive, such as screen",
                          NULL, ready));
  g_object_class_install_property(
      class, PROPERTY_GROUP,
      g_param_spec_string("group", "Group",
                          "ID of the group (default: $FRAMEBUS_GROUP, then group.local.framebus)",
                          NULL, ready));
  g_object_class_install_property(
      class, PROPERTY_ROOT,
      g_param_spec_string("root", "Root",
                          "Directory of groups (default: $FRAMEBUS_HOME, then the system's)",
                          NULL, ready));
  g_object_class_install_property(
      class, PROPERTY_POLICY,
      g_param_spec_enum("policy", "Policy", "Which frames a slow pipeline receives", policy_type(),
                        POLICY_AUTOMATIC, ready));
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

void source_set_defaults(FramebusSrc *self) {
  self->policy = POLICY_AUTOMATIC;
  self->policy_count = 1;
  self->start = FRAMEBUS_START_NEWEST;
  self->leases = default_leases;
  self->publisher_timeout = GST_CLOCK_TIME_NONE;
  self->latency = default_latency;
}
