#include "Sink.h"

#include <string.h>

// framebussink: publishes buffers as the frames of a stream. Upstream writes pictures in place.

enum {
  PROPERTY_NONE,
  PROPERTY_STREAM,
  PROPERTY_GROUP,
  PROPERTY_ROOT,
  PROPERTY_CONTENT,
  PROPERTY_SOUND,
  PROPERTY_RING_DEPTH,
  PROPERTY_LOANS,
  PROPERTY_LOSSLESS,
  PROPERTY_CHECKSUMS,
  PROPERTY_WAIT_FOR_SUBSCRIBER,
  PROPERTY_STATS,
};

static const guint default_loans = 16;

G_DEFINE_TYPE(FramebusSink, framebus_sink, GST_TYPE_BASE_SINK)
GST_ELEMENT_REGISTER_DEFINE(framebussink, "framebussink", GST_RANK_NONE,
                            framebus_sink_get_type())

static GType content_type(void) {
  static gsize type = 0;
  static const GEnumValue values[] = {
      {FRAMEBUS_CONTENT_OTHER, "Neither a screen nor a window", "other"},
      {FRAMEBUS_CONTENT_SCREEN, "A screen; its subscribers make the group “captured”", "screen"},
      {FRAMEBUS_CONTENT_WINDOW, "A window", "window"},
      {0, NULL, NULL},
  };
  if (g_once_init_enter(&type)) {
    g_once_init_leave(&type, g_enum_register_static("FramebusSinkContent", values));
  }
  return type;
}

static GType sound_type(void) {
  static gsize type = 0;
  static const GEnumValue values[] = {
      {FRAMEBUS_KIND_APP_AUDIO, "Sound of applications", "app"},
      {FRAMEBUS_KIND_MIC_AUDIO, "Sound of a microphone", "mic"},
      {0, NULL, NULL},
  };
  if (g_once_init_enter(&type)) {
    g_once_init_leave(&type, g_enum_register_static("FramebusSinkSound", values));
  }
  return type;
}

// ---- States ----

static gboolean start(GstBaseSink *sink) {
  FramebusSink *self = FRAMEBUS_SINK(sink);
  framebus_error error = FRAMEBUS_ERROR_INIT;
  if (self->stream == NULL) {
    GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS,
                      ("The stream has no name; set the property stream, such as stream=screen"),
                      (NULL));
    return FALSE;
  }
  self->stop = NULL;
  self->bus = NULL;
  if (plugin_open_group(self->group, self->root, &self->bus, &error) != FRAMEBUS_OK ||
      framebus_stop_open(&self->stop, &error) != FRAMEBUS_OK) {
    if (self->bus != NULL) framebus_group_close(self->bus);
    self->bus = NULL;
    plugin_post_error(GST_ELEMENT(self), &error, self->stream);
    return FALSE;
  }
  self->has_format = self->is_live = self->has_failed = self->is_paused = FALSE;
  self->has_warned = FALSE;
  self->orientation = 1;
  self->renews_stop = FALSE;
  GST_OBJECT_LOCK(self);
  self->published = self->copied = 0;
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static gboolean stop(GstBaseSink *sink) {
  FramebusSink *self = FRAMEBUS_SINK(sink);
  sink_end(self, FRAMEBUS_END_STOPPED);
  plugin_clock_clear(&self->clock);
  if (self->stop != NULL) framebus_stop_close(self->stop);
  if (self->bus != NULL) framebus_group_close(self->bus);
  self->stop = NULL;
  self->bus = NULL;
  return TRUE;
}

// The stream, for a thread other than that of the frames.
static Output *ref_output(FramebusSink *self) {
  GST_OBJECT_LOCK(self);
  Output *output = self->output != NULL ? output_ref(self->output) : NULL;
  GST_OBJECT_UNLOCK(self);
  return output;
}

static gboolean unlock(GstBaseSink *sink) {
  FramebusSink *self = FRAMEBUS_SINK(sink);
  g_mutex_lock(&self->waiting);
  self->renews_stop = FALSE;
  if (self->stop != NULL) framebus_stop_raise(self->stop);
  g_mutex_unlock(&self->waiting);
  // The thread of the frames may wait in the pool, too.
  Output *output = ref_output(self);
  if (output == NULL) return TRUE;
  output_interrupt(output);
  output_unref(output);
  return TRUE;
}

static gboolean unlock_stop(GstBaseSink *sink) {
  FramebusSink *self = FRAMEBUS_SINK(sink);
  g_mutex_lock(&self->waiting);
  self->renews_stop = TRUE;
  g_mutex_unlock(&self->waiting);
  return TRUE;
}

static void set_paused(FramebusSink *self, gboolean is_paused) {
  GST_OBJECT_LOCK(self);
  self->is_paused = is_paused;
  Output *output = self->output != NULL ? output_ref(self->output) : NULL;
  GST_OBJECT_UNLOCK(self);
  if (output == NULL) return;
  output_pause(output, is_paused);
  output_unref(output);
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange change) {
  FramebusSink *self = FRAMEBUS_SINK(element);
  if (change == GST_STATE_CHANGE_PAUSED_TO_PLAYING && self->is_paused) set_paused(self, FALSE);
  GstStateChangeReturn result =
      GST_ELEMENT_CLASS(framebus_sink_parent_class)->change_state(element, change);
  // The parent has waited for the streaming thread, which publishes nothing from here on.
  if (change == GST_STATE_CHANGE_PLAYING_TO_PAUSED) set_paused(self, TRUE);
  return result;
}

// ---- Formats ----

static gboolean upstream_is_live(FramebusSink *self) {
  gboolean is_live = FALSE;
  GstQuery *query = gst_query_new_latency();
  if (gst_pad_peer_query(GST_BASE_SINK_PAD(self), query)) {
    gst_query_parse_latency(query, &is_live, NULL, NULL);
  }
  gst_query_unref(query);
  return is_live;
}

// A stream does not say where its chroma samples lie, so subscribers assume the usual place. What
// the caps say is not in a GstVideoInfo, unless they have a colorimetry too.
static void warn_of_chroma_site(FramebusSink *self, const PluginFormat *format, GstCaps *caps) {
  const gchar *named = gst_structure_get_string(gst_caps_get_structure(caps, 0), "chroma-site");
  GstVideoInfo usual;
  if (!format->is_raw_video || named == NULL || self->has_warned) return;
  gst_video_info_set_format(&usual, GST_VIDEO_INFO_FORMAT(&format->video),
                            format->format.width, format->format.height);
  GstVideoChromaSite site = GST_VIDEO_INFO_CHROMA_SITE(&usual);
  gboolean is_coarser = GST_VIDEO_INFO_N_COMPONENTS(&usual) > 1 &&
                        GST_VIDEO_FORMAT_INFO_W_SUB(usual.finfo, 1) > 0;
  if (!is_coarser || gst_video_chroma_site_from_string(named) == site) return;
  self->has_warned = TRUE;
  gchar *assumed = gst_video_chroma_site_to_string(site);
  GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                      ("Stream %s does not carry chroma-site=%s, and its subscribers assume %s; "
                       "put videoconvert ! video/x-raw,chroma-site=%s before framebussink",
                       self->stream, named, assumed, assumed),
                      (NULL));
  g_free(assumed);
}

static gboolean set_caps(GstBaseSink *sink, GstCaps *caps) {
  FramebusSink *self = FRAMEBUS_SINK(sink);
  const char *problem = NULL;
  PluginFormat format;
  if (!plugin_format_from_caps(&format, caps, (guint32)self->sound, &problem)) {
    if (!self->has_failed) {
      GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                        ("Cannot publish stream %s: %s", self->stream, problem),
                        ("caps %" GST_PTR_FORMAT, caps));
    }
    self->has_failed = TRUE;
    return FALSE;
  }
  // A stream keeps its kind; pictures after sound are another one.
  gboolean has_other_kind = self->has_format && format.format.kind != self->format.format.kind;
  if (has_other_kind) sink_end(self, FRAMEBUS_END_ENDED);
  gboolean is_same = self->has_format && self->output != NULL &&
                     memcmp(&format.format, &self->format.format, sizeof format.format) == 0;
  self->format = format;
  self->has_format = TRUE;
  self->is_live = upstream_is_live(self);
  warn_of_chroma_site(self, &format, caps);
  return is_same || sink_apply_format(self);
}

// In the order of the sink's own list: upstream's may begin with a format that few can use. Pixels
// are square if upstream can make them so, as videoscale does; else set_caps says what is wrong.
static GstCaps *get_caps(GstBaseSink *sink, GstCaps *filter) {
  GstCaps *own = gst_pad_get_pad_template_caps(GST_BASE_SINK_PAD(sink));
  if (filter == NULL) return own;
  GstCaps *square = gst_caps_copy(own);
  for (guint i = 0; i < gst_caps_get_size(square); i += 1) {
    GstStructure *structure = gst_caps_get_structure(square, i);
    if (!gst_structure_has_name(structure, "video/x-raw")) continue;
    gst_structure_set(structure, "pixel-aspect-ratio", GST_TYPE_FRACTION, 1, 1, NULL);
  }
  GstCaps *caps = gst_caps_intersect_full(square, filter, GST_CAPS_INTERSECT_FIRST);
  if (gst_caps_is_empty(caps)) {
    gst_caps_unref(caps);
    caps = gst_caps_intersect_full(own, filter, GST_CAPS_INTERSECT_FIRST);
  }
  gst_caps_unref(square);
  gst_caps_unref(own);
  return caps;
}

static gboolean propose_allocation(GstBaseSink *sink, GstQuery *query) {
  FramebusSink *self = FRAMEBUS_SINK(sink);
  GstCaps *caps = NULL;
  gboolean needs_pool = FALSE;
  GstVideoInfo video;
  gst_query_parse_allocation(query, &caps, &needs_pool);
  if (caps == NULL || !gst_video_info_from_caps(&video, caps)) return FALSE;
  Output *output = ref_output(self);
  if (needs_pool && output != NULL) {
    GstBufferPool *pool = slot_pool_new(output, &video);
    gst_query_add_allocation_pool(query, pool, (guint)GST_VIDEO_INFO_SIZE(&video), 0, 0);
    gst_object_unref(pool);
  }
  if (output != NULL) output_unref(output);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, NULL);
  gst_query_add_allocation_meta(query, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, NULL);
  return TRUE;
}

// ---- Buffers, events ----

static GstFlowReturn render(GstBaseSink *sink, GstBuffer *buffer) {
  return sink_publish(FRAMEBUS_SINK(sink), buffer);
}

static void take_tags(FramebusSink *self, GstEvent *event) {
  GstTagList *tags = NULL;
  gchar *orientation = NULL;
  gst_event_parse_tag(event, &tags);
  if (!gst_tag_list_get_string(tags, GST_TAG_IMAGE_ORIENTATION, &orientation)) return;
  self->orientation = plugin_orientation_from_tag(orientation);
  g_free(orientation);
}

static gboolean event(GstBaseSink *sink, GstEvent *event) {
  FramebusSink *self = FRAMEBUS_SINK(sink);
  if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START) self->orientation = 1;
  if (GST_EVENT_TYPE(event) == GST_EVENT_TAG) take_tags(self, event);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) self->lost_damage = TRUE;
  return GST_BASE_SINK_CLASS(framebus_sink_parent_class)->event(sink, event);
}

// Ends the stream when the end is due, before the message that says so.
static GstFlowReturn wait_event(GstBaseSink *sink, GstEvent *event) {
  GstFlowReturn flow = GST_BASE_SINK_CLASS(framebus_sink_parent_class)->wait_event(sink, event);
  if (flow == GST_FLOW_OK && GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    sink_end(FRAMEBUS_SINK(sink), FRAMEBUS_END_ENDED);
  }
  return flow;
}

// ---- Properties ----

static void replace(gchar **text, const GValue *value) {
  g_free(*text);
  *text = g_value_dup_string(value);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  FramebusSink *self = FRAMEBUS_SINK(object);
  GST_OBJECT_LOCK(self);
  switch (id) {
    case PROPERTY_STREAM: replace(&self->stream, value); break;
    case PROPERTY_GROUP: replace(&self->group, value); break;
    case PROPERTY_ROOT: replace(&self->root, value); break;
    case PROPERTY_CONTENT: self->content = g_value_get_enum(value); break;
    case PROPERTY_SOUND: self->sound = g_value_get_enum(value); break;
    case PROPERTY_RING_DEPTH: self->ring_depth = g_value_get_uint(value); break;
    case PROPERTY_LOANS: self->loans = g_value_get_uint(value); break;
    case PROPERTY_LOSSLESS: self->allows_lossless = g_value_get_boolean(value); break;
    case PROPERTY_CHECKSUMS: self->checksums = g_value_get_boolean(value); break;
    case PROPERTY_WAIT_FOR_SUBSCRIBER:
      self->waits_for_subscriber = g_value_get_boolean(value);
      break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
  GST_OBJECT_UNLOCK(self);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  FramebusSink *self = FRAMEBUS_SINK(object);
  GST_OBJECT_LOCK(self);
  switch (id) {
    case PROPERTY_STREAM: g_value_set_string(value, self->stream); break;
    case PROPERTY_GROUP: g_value_set_string(value, self->group); break;
    case PROPERTY_ROOT: g_value_set_string(value, self->root); break;
    case PROPERTY_CONTENT: g_value_set_enum(value, self->content); break;
    case PROPERTY_SOUND: g_value_set_enum(value, self->sound); break;
    case PROPERTY_RING_DEPTH: g_value_set_uint(value, self->ring_depth); break;
    case PROPERTY_LOANS: g_value_set_uint(value, self->loans); break;
    case PROPERTY_LOSSLESS: g_value_set_boolean(value, self->allows_lossless); break;
    case PROPERTY_CHECKSUMS: g_value_set_boolean(value, self->checksums); break;
    case PROPERTY_WAIT_FOR_SUBSCRIBER:
      g_value_set_boolean(value, self->waits_for_subscriber);
      break;
    case PROPERTY_STATS:
      g_value_take_boxed(value, gst_structure_new("framebussink-stats", "published", G_TYPE_UINT64,
                                                  self->published, "copied", G_TYPE_UINT64,
                                                  self->copied, NULL));
      break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
  GST_OBJECT_UNLOCK(self);
}

static void finalize(GObject *object) {
  FramebusSink *self = FRAMEBUS_SINK(object);
  g_free(self->stream);
  g_free(self->group);
  g_free(self->root);
  g_mutex_clear(&self->waiting);
  G_OBJECT_CLASS(framebus_sink_parent_class)->finalize(object);
}

static void add_properties(GObjectClass *class) {
  const GParamFlags ready =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | (GParamFlags)GST_PARAM_MUTABLE_READY;
  g_object_class_install_property(
      class, PROPERTY_STREAM,
      g_param_spec_string("stream", "Stream",
                          "Name of the stream to publish: 1 to 48 of a-z, 0-9, '.', '-' and '_'",
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
      class, PROPERTY_CONTENT,
      g_param_spec_enum("content", "Content", "What the pictures show", content_type(),
                        FRAMEBUS_CONTENT_OTHER, ready));
  g_object_class_install_property(
      class, PROPERTY_SOUND,
      g_param_spec_enum("sound", "Sound", "Whose sound a stream with sound has", sound_type(),
                        FRAMEBUS_KIND_APP_AUDIO, ready));
  g_object_class_install_property(
      class, PROPERTY_RING_DEPTH,
      g_param_spec_uint("ring-depth", "Ring depth",
                        "Newest frames that subscribers can receive, in frames (0: 2 of raw "
                        "pictures, else 64; more than loans if lossless)",
                        0, 1024, 0, ready));
  g_object_class_install_property(
      class, PROPERTY_LOANS,
      g_param_spec_uint("loans", "Loans",
                        "Buffers that earlier elements can fill in place at once; more are copied, "
                        "in frames",
                        1, 64, default_loans, ready));
  g_object_class_install_property(
      class, PROPERTY_LOSSLESS,
      g_param_spec_boolean("lossless", "Lossless",
                           "Wait for subscribers that request all frames; not for live sources",
                           FALSE, ready));
  g_object_class_install_property(
      class, PROPERTY_CHECKSUMS,
      g_param_spec_boolean("checksums", "Checksums", "Add the CRC-32C of its bytes to each frame",
                           FALSE, ready));
  g_object_class_install_property(
      class, PROPERTY_WAIT_FOR_SUBSCRIBER,
      g_param_spec_boolean("wait-for-subscriber", "Wait for subscriber",
                           "Publish the first frame when there is a subscriber to receive it",
                           FALSE, ready));
  g_object_class_install_property(
      class, PROPERTY_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "Frames published, and of these copied (not written in place)",
                         GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_type_mark_as_plugin_api(content_type(), 0);
  gst_type_mark_as_plugin_api(sound_type(), 0);
}

static void framebus_sink_class_init(FramebusSinkClass *class) {
  GObjectClass *objects = G_OBJECT_CLASS(class);
  GstElementClass *elements = GST_ELEMENT_CLASS(class);
  GstBaseSinkClass *sinks = GST_BASE_SINK_CLASS(class);
  objects->set_property = set_property;
  objects->get_property = get_property;
  objects->finalize = finalize;
  add_properties(objects);
  GstCaps *caps = gst_caps_from_string(plugin_sink_caps);
  gst_element_class_add_pad_template(
      elements, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
  gst_element_class_set_static_metadata(
      elements, "FrameBus sink", "Sink/Video/Audio",
      "Publishes buffers as the frames of a FrameBus stream, which upstream writes in place",
      "FrameBus");
  elements->change_state = change_state;
  sinks->start = start;
  sinks->stop = stop;
  sinks->unlock = unlock;
  sinks->unlock_stop = unlock_stop;
  sinks->get_caps = get_caps;
  sinks->set_caps = set_caps;
  sinks->propose_allocation = propose_allocation;
  sinks->render = render;
  sinks->event = event;
  sinks->wait_event = wait_event;
}

static void framebus_sink_init(FramebusSink *self) {
  g_mutex_init(&self->waiting);
  self->content = FRAMEBUS_CONTENT_OTHER;
  self->sound = FRAMEBUS_KIND_APP_AUDIO;
  self->loans = default_loans;
  self->orientation = 1;
  // Caps without a pixel-aspect-ratio are not a subset of what get_caps returns.
  GST_PAD_SET_ACCEPT_TEMPLATE(GST_BASE_SINK_PAD(self));
  gst_base_sink_set_qos_enabled(GST_BASE_SINK(self), TRUE);
  gst_base_sink_set_last_sample_enabled(GST_BASE_SINK(self), FALSE);
}
