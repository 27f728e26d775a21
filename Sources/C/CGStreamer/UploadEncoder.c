// The element `framebusencoder`: encodes with the first of several encoders that works. One that
// refuses to start, or fails later, is left for the next one, which begins with a key frame. What
// follows the element sees one stream: the same codec, caps and time line.
#include "CUploadPipeline.h"

#if __has_include(<gst/gst.h>)
#include <gst/gst.h>
#include <string.h>

enum { FIELDS = 8 };
/// An encoder that takes this number of pictures, for this time, and returns nothing, is broken.
/// Those with frames in parallel or a queue in hardware return the first after fewer.
enum { MOST_UNANSWERED = 30, MOST_SILENT_US = 2 * G_USEC_PER_SEC };

/// The encoders' table is in Swift; a row has these fields, separated by tabs.
struct candidate {
  const char *factory;
  /// GStreamer's name of the pixel format, if it is not I420.
  const char *format;
  /// The element after the encoder; empty if containers and payloaders take its output.
  const char *parser;
  /// The property of the bitrate, its value with {} for the number, and the number's unit.
  const char *bitrate, *value, *unit;
  /// Properties as NAME=VALUE, separated by spaces; those of the second make key frames on request
  /// only.
  const char *settings, *onRequest;
};

typedef struct {
  GstBin parent;
  GstPad *sink, *src;
  /// The rows that are left; the first is in use once there is an encoder.
  char **rows;
  guint row;
  /// Owned by the bin, which the streaming thread alone changes; others read under the object lock.
  GstElement *inner, *encoder;
  guint64 bitrate;
  gboolean keysOnRequest;
  /// Set by a message of the present encoder.
  gint hasFailed;
  char *reason;
  /// Pictures since it returned one, and when the first of them came.
  gint unanswered;
  gint64 silentSinceUs;
  /// Whether caps went downstream: those of the next encoder may not replace them.
  gboolean hasCaps, isReplaced;
} FrameBusEncoder;

typedef struct {
  GstBinClass parent;
} FrameBusEncoderClass;

G_DEFINE_TYPE(FrameBusEncoder, framebus_encoder, GST_TYPE_BIN)

enum { PROPERTY_CANDIDATES = 1, PROPERTY_BITRATE, PROPERTY_KEYS };

// MARK: One encoder

/// False: the row is malformed. The fields live as long as `fields`.
static gboolean parse(char **fields, struct candidate *candidate) {
  if (g_strv_length(fields) != FIELDS) return FALSE;
  *candidate = (struct candidate){.factory = fields[0],
                                  .format = fields[1],
                                  .parser = fields[2],
                                  .bitrate = fields[3],
                                  .value = fields[4],
                                  .unit = fields[5],
                                  .settings = fields[6],
                                  .onRequest = fields[7]};
  return TRUE;
}

/// A property that this version of the element lacks is left out.
static void set(GstElement *element, const char *name, const char *value) {
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), name) != NULL)
    gst_util_set_object_arg(G_OBJECT(element), name, value);
}

static void set_all(GstElement *element, const char *settings) {
  char **pairs = g_strsplit(settings, " ", -1);
  for (char **pair = pairs; *pair; pair++) {
    char *value = strchr(*pair, '=');
    if (value == NULL) continue;
    *value = 0;
    set(element, *pair, value + 1);
  }
  g_strfreev(pairs);
}

static void set_bitrate(GstElement *encoder, const struct candidate *candidate, guint64 bitrate) {
  guint64 unit = MAX(1, g_ascii_strtoull(candidate->unit, NULL, 10));
  char *number = g_strdup_printf("%" G_GUINT64_FORMAT, MAX(1, bitrate / unit));
  char **parts = g_strsplit(candidate->value, "{}", -1);
  char *value = g_strjoinv(number, parts);
  set(encoder, candidate->bitrate, value);
  g_free(value);
  g_strfreev(parts);
  g_free(number);
}

/// Appends a new element to the chain that ends with `last`.
static GstElement *append(GstElement *bin, GstElement *last, const char *factory) {
  GstElement *element = gst_element_factory_make(factory, NULL);
  if (element == NULL) return NULL;
  gst_bin_add(GST_BIN(bin), element);
  return last == NULL || gst_element_link(last, element) ? element : NULL;
}

/// [videoconvert ! capsfilter !] encoder [! parser]
static GstElement *fill(GstElement *bin, const struct candidate *candidate, gboolean isNext,
                        GstElement **first, GstElement **last) {
  GstElement *end = NULL;
  *first = NULL;
  if (*candidate->format) {
    *first = append(bin, NULL, "videoconvert");
    end = *first ? append(bin, *first, "capsfilter") : NULL;
    if (end == NULL) return NULL;
    GstCaps *caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, candidate->format,
                                        NULL);
    g_object_set(end, "caps", caps, NULL);
    gst_caps_unref(caps);
  }
  GstElement *encoder = append(bin, end, candidate->factory);
  if (encoder == NULL) return NULL;
  if (*first == NULL) *first = encoder;
  *last = encoder;
  if (*candidate->parser) {
    *last = append(bin, encoder, candidate->parser);
    if (*last == NULL) return NULL;
    // The output's own caps have the parameter sets of the encoder before.
    if (isNext) set(*last, "config-interval", "-1");
  }
  return encoder;
}

static gboolean set_target(GstPad *ghost, GstElement *element, const char *name) {
  GstPad *pad = element ? gst_element_get_static_pad(element, name) : NULL;
  gboolean isSet = gst_ghost_pad_set_target(GST_GHOST_PAD(ghost), pad);
  gst_clear_object(&pad);
  return isSet;
}

static gboolean is_next(FrameBusEncoder *self) { return self->row > 0; }

/// Makes the encoder of the present row. False: the element is missing or cannot be linked.
static gboolean make(FrameBusEncoder *self) {
  struct candidate candidate;
  char **fields = g_strsplit(self->rows[self->row], "\t", FIELDS);
  GstElement *first = NULL, *last = NULL, *encoder = NULL;
  GstElement *inner = gst_bin_new(NULL);
  if (parse(fields, &candidate)) encoder = fill(inner, &candidate, is_next(self), &first, &last);
  if (encoder == NULL) {
    gst_object_unref(gst_object_ref_sink(inner));
    g_strfreev(fields);
    return FALSE;
  }
  set_all(encoder, candidate.settings);
  GstPad *input = gst_element_get_static_pad(first, "sink");
  GstPad *output = gst_element_get_static_pad(last, "src");
  gst_element_add_pad(inner, gst_ghost_pad_new("sink", input));
  gst_element_add_pad(inner, gst_ghost_pad_new("src", output));
  gst_object_unref(input);
  gst_object_unref(output);
  gst_bin_add(GST_BIN(self), inner);
  GST_OBJECT_LOCK(self);
  self->inner = inner;
  self->encoder = encoder;
  guint64 bitrate = self->bitrate;
  gboolean keysOnRequest = self->keysOnRequest;
  GST_OBJECT_UNLOCK(self);
  if (keysOnRequest) set_all(encoder, candidate.onRequest);
  if (bitrate > 0) set_bitrate(encoder, &candidate, bitrate);
  g_strfreev(fields);
  return set_target(self->sink, inner, "sink") && set_target(self->src, inner, "src");
}

static void discard(FrameBusEncoder *self) {
  GST_OBJECT_LOCK(self);
  GstElement *inner = self->inner;
  self->inner = self->encoder = NULL;
  g_clear_pointer(&self->reason, g_free);
  GST_OBJECT_UNLOCK(self);
  g_atomic_int_set(&self->hasFailed, FALSE);
  g_atomic_int_set(&self->unanswered, 0);
  set_target(self->sink, NULL, NULL);
  set_target(self->src, NULL, NULL);
  if (inner == NULL) return;
  gst_element_set_locked_state(inner, TRUE);
  gst_element_set_state(inner, GST_STATE_NULL);
  gst_bin_remove(GST_BIN(self), inner);
}

// MARK: The choice

static char *factory_of_row(FrameBusEncoder *self, guint row) {
  return g_strndup(self->rows[row], strcspn(self->rows[row], "\t"));
}

static gboolean has_next(FrameBusEncoder *self) {
  return self->rows != NULL && self->rows[self->row] != NULL && self->rows[self->row + 1] != NULL;
}

/// Leaves the present encoder, and tells the application which and why.
static void leave(FrameBusEncoder *self) {
  GST_OBJECT_LOCK(self);
  char *reason = g_strdup(self->reason ? self->reason : "it does not start");
  GST_OBJECT_UNLOCK(self);
  char *left = factory_of_row(self, self->row);
  char *next = factory_of_row(self, self->row + 1);
  discard(self);
  self->row++;
  self->isReplaced = self->hasCaps;
  gst_element_post_message(
      GST_ELEMENT(self),
      gst_message_new_element(GST_OBJECT(self),
                              gst_structure_new("framebus-encoder-left", "element", G_TYPE_STRING,
                                                left, "reason", G_TYPE_STRING, reason, "next",
                                                G_TYPE_STRING, next, NULL)));
  g_free(left);
  g_free(next);
  g_free(reason);
}

/// Brings an encoder into a state: the present one, or the next that does not refuse.
static gboolean bring_to(FrameBusEncoder *self, GstState state) {
  if (self->rows == NULL || self->rows[0] == NULL) return FALSE;
  while (TRUE) {
    if (self->inner != NULL || make(self)) {
      if (gst_element_set_state(self->inner, state) != GST_STATE_CHANGE_FAILURE &&
          !g_atomic_int_get(&self->hasFailed))
        return TRUE;
    }
    if (!has_next(self)) return FALSE;
    leave(self);
  }
}

/// Whether the encoder, and not what follows it, ended the flow.
static gboolean is_broken(FrameBusEncoder *self, GstFlowReturn flow) {
  if (g_atomic_int_get(&self->hasFailed)) return TRUE;
  if (flow != GST_FLOW_NOT_NEGOTIATED || self->encoder == NULL) return FALSE;
  GstPad *output = gst_element_get_static_pad(self->encoder, "src");
  gboolean isRefusal = output != NULL && !gst_pad_has_current_caps(output);
  gst_clear_object(&output);
  return isRefusal;
}

static void fail(FrameBusEncoder *self, const char *reason) {
  GST_OBJECT_LOCK(self);
  // The first error says most: others are its consequences.
  if (self->reason == NULL) self->reason = g_strdup(reason);
  GST_OBJECT_UNLOCK(self);
  g_atomic_int_set(&self->hasFailed, TRUE);
}

/// Whatever leaves the encoder answers all pictures before it.
static GstPadProbeReturn note_output(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad;
  (void)info;
  g_atomic_int_set(&((FrameBusEncoder *)data)->unanswered, 0);
  return GST_PAD_PROBE_OK;
}

static void note_input(FrameBusEncoder *self) {
  if (g_atomic_int_add(&self->unanswered, 1) == 0) self->silentSinceUs = g_get_monotonic_time();
}

/// After a picture. False: the last encoder does not work, and the pipeline has failed.
static gboolean check_answers(FrameBusEncoder *self) {
  if (g_atomic_int_get(&self->unanswered) < MOST_UNANSWERED ||
      g_get_monotonic_time() - self->silentSinceUs < MOST_SILENT_US)
    return TRUE;
  const char *reason = "it takes pictures and returns nothing";
  if (has_next(self)) {
    fail(self, reason);
    return TRUE;
  }
  char *name = factory_of_row(self, self->row);
  GST_ELEMENT_ERROR(self, STREAM, ENCODE, ("%s failed: %s", name, reason), (NULL));
  g_free(name);
  return FALSE;
}

/// The picture that an encoder failed with is given to the next one.
static GstFlowReturn take_picture(GstPad *pad, GstObject *parent, GstBuffer *picture) {
  FrameBusEncoder *self = (FrameBusEncoder *)parent;
  note_input(self);
  GstFlowReturn flow = gst_proxy_pad_chain_default(pad, parent, gst_buffer_ref(picture));
  if (flow == GST_FLOW_OK && !check_answers(self)) flow = GST_FLOW_ERROR;
  while (flow != GST_FLOW_FLUSHING && is_broken(self, flow) && has_next(self)) {
    leave(self);
    flow = bring_to(self, GST_STATE_PLAYING)
               ? gst_proxy_pad_chain_default(pad, parent, gst_buffer_ref(picture))
               : GST_FLOW_ERROR;
  }
  gst_buffer_unref(picture);
  return flow;
}

/// openh264enc (1.22) drains by encoding a picture that does not exist, of which openh264 complains
/// on standard error. It holds nothing back, so the end of the stream goes past it.
static gboolean goes_past(FrameBusEncoder *self, GstEvent *event) {
  return GST_EVENT_TYPE(event) == GST_EVENT_EOS && self->encoder != NULL &&
         g_str_has_prefix(self->rows[self->row], "openh264enc\t");
}

/// Caps that an encoder refuses are not refused here: the next picture finds another encoder.
static gboolean take_event(GstPad *pad, GstObject *parent, GstEvent *event) {
  FrameBusEncoder *self = (FrameBusEncoder *)parent;
  if (goes_past(self, event))
    return gst_pad_push_event(GST_PAD(self->encoder->srcpads->data), event);
  gboolean isCaps = GST_EVENT_TYPE(event) == GST_EVENT_CAPS;
  return gst_pad_event_default(pad, parent, event) || isCaps;
}

/// A container keeps the format of its first picture.
static gboolean give_event(GstPad *pad, GstObject *parent, GstEvent *event) {
  FrameBusEncoder *self = (FrameBusEncoder *)gst_object_get_parent(parent);
  gboolean isDropped = FALSE;
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS && self != NULL) {
    isDropped = self->isReplaced;
    self->hasCaps = TRUE;
  }
  gst_clear_object(&self);
  if (!isDropped) return gst_pad_event_default(pad, parent, event);
  gst_event_unref(event);
  return TRUE;
}

// MARK: The element

static void handle_message(GstBin *bin, GstMessage *message) {
  FrameBusEncoder *self = (FrameBusEncoder *)bin;
  GstObject *source = GST_MESSAGE_SRC(message);
  GST_OBJECT_LOCK(self);
  GstElement *inner = self->inner ? gst_object_ref(self->inner) : NULL;
  GST_OBJECT_UNLOCK(self);
  gboolean isOwn = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR && inner != NULL &&
                   source != NULL && gst_object_has_as_ancestor(source, GST_OBJECT(inner));
  gst_clear_object(&inner);
  if (!isOwn || !has_next(self)) {
    GST_BIN_CLASS(framebus_encoder_parent_class)->handle_message(bin, message);
    return;
  }
  GError *error = NULL;
  gst_message_parse_error(message, &error, NULL);
  fail(self, error->message);
  g_clear_error(&error);
  gst_message_unref(message);
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition) {
  FrameBusEncoder *self = (FrameBusEncoder *)element;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY ||
      transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    if (!bring_to(self, GST_STATE_TRANSITION_NEXT(transition))) return GST_STATE_CHANGE_FAILURE;
  }
  return GST_ELEMENT_CLASS(framebus_encoder_parent_class)->change_state(element, transition);
}

/// Such as a request for a key frame.
static gboolean send_event(GstElement *element, GstEvent *event) {
  FrameBusEncoder *self = (FrameBusEncoder *)element;
  GST_OBJECT_LOCK(self);
  GstElement *encoder = self->encoder ? gst_object_ref(self->encoder) : NULL;
  GST_OBJECT_UNLOCK(self);
  if (encoder == NULL) {
    gst_event_unref(event);
    return FALSE;
  }
  gboolean isTaken = gst_element_send_event(encoder, event);
  gst_object_unref(encoder);
  return isTaken;
}

/// Applies a setting to the encoder that runs. Any thread may do that.
static void apply(FrameBusEncoder *self, guint property) {
  GST_OBJECT_LOCK(self);
  GstElement *encoder = self->encoder ? gst_object_ref(self->encoder) : NULL;
  guint64 bitrate = self->bitrate;
  char *row = encoder ? g_strdup(self->rows[self->row]) : NULL;
  GST_OBJECT_UNLOCK(self);
  if (encoder == NULL) return;
  struct candidate candidate;
  char **fields = g_strsplit(row, "\t", FIELDS);
  if (parse(fields, &candidate)) {
    if (property == PROPERTY_BITRATE) set_bitrate(encoder, &candidate, bitrate);
    if (property == PROPERTY_KEYS) set_all(encoder, candidate.onRequest);
  }
  g_strfreev(fields);
  g_free(row);
  gst_object_unref(encoder);
}

static void set_property(GObject *object, guint property, const GValue *value, GParamSpec *spec) {
  (void)spec;
  FrameBusEncoder *self = (FrameBusEncoder *)object;
  GST_OBJECT_LOCK(self);
  if (property == PROPERTY_BITRATE) self->bitrate = g_value_get_uint64(value);
  if (property == PROPERTY_KEYS) self->keysOnRequest = g_value_get_boolean(value);
  if (property == PROPERTY_CANDIDATES && self->rows == NULL)
    self->rows = g_strsplit(g_value_get_string(value), "\n", -1);
  GST_OBJECT_UNLOCK(self);
  if (property != PROPERTY_CANDIDATES) apply(self, property);
}

static void finalize(GObject *object) {
  FrameBusEncoder *self = (FrameBusEncoder *)object;
  g_strfreev(self->rows);
  g_free(self->reason);
  G_OBJECT_CLASS(framebus_encoder_parent_class)->finalize(object);
}

static void framebus_encoder_init(FrameBusEncoder *self) {
  GstElementClass *class = GST_ELEMENT_GET_CLASS(self);
  self->sink = gst_ghost_pad_new_no_target_from_template(
      "sink", gst_element_class_get_pad_template(class, "sink"));
  self->src = gst_ghost_pad_new_no_target_from_template(
      "src", gst_element_class_get_pad_template(class, "src"));
  gst_pad_set_chain_function(self->sink, take_picture);
  gst_pad_set_event_function(self->sink, take_event);
  GstProxyPad *internal = gst_proxy_pad_get_internal(GST_PROXY_PAD(self->src));
  gst_pad_set_event_function(GST_PAD(internal), give_event);
  gst_pad_add_probe(self->src, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
                    note_output, self, NULL);
  gst_object_unref(internal);
  gst_element_add_pad(GST_ELEMENT(self), self->sink);
  gst_element_add_pad(GST_ELEMENT(self), self->src);
}

static void framebus_encoder_class_init(FrameBusEncoderClass *class) {
  GObjectClass *object = G_OBJECT_CLASS(class);
  GstElementClass *element = GST_ELEMENT_CLASS(class);
  object->set_property = set_property;
  object->finalize = finalize;
  GParamFlags flags = G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS;
  g_object_class_install_property(
      object, PROPERTY_CANDIDATES,
      g_param_spec_string("candidates", "Candidates", "One row for each encoder", NULL, flags));
  g_object_class_install_property(
      object, PROPERTY_BITRATE,
      g_param_spec_uint64("bitrate", "Bitrate", "Bits per second", 0, G_MAXUINT64, 0, flags));
  g_object_class_install_property(
      object, PROPERTY_KEYS,
      g_param_spec_boolean("keys-on-request", "Keys", "Key frames on request only", FALSE, flags));
  GstCaps *raw = gst_caps_from_string("video/x-raw");
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, raw));
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_CAPS_ANY));
  gst_caps_unref(raw);
  gst_element_class_set_static_metadata(element, "Encoder with others to fall back to",
                                        "Codec/Encoder/Video",
                                        "Encodes with the first encoder that works", "FrameBus");
  element->change_state = change_state;
  element->send_event = send_event;
  GST_BIN_CLASS(class)->handle_message = handle_message;
}

bool upload_register_encoder(void) {
  return gst_element_register(NULL, "framebusencoder", GST_RANK_NONE, framebus_encoder_get_type());
}

bool upload_is_started(void) { return gst_is_initialized(); }

bool upload_names_element(const char *factory) {
  GstElementFactory *found = gst_element_factory_find(factory);
  if (found == NULL) return false;
  gst_object_unref(found);
  return true;
}

#else
typedef int upload_encoder_is_absent;
#endif
