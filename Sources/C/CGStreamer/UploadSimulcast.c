// The element `framebussimulcast`: encodes pictures in three sizes, each with its own encoder, and
// sends them as RTP with the name of the layer in each packet (RFC 8853, RFC 8852). What follows
// sends one media section.
#include "CUploadPipeline.h"

#if __has_include(<gst/gst.h>)
#include <gst/gst.h>
#include <gst/rtp/gstrtphdrext.h>
#include <string.h>

enum { LAYERS = 3, MID_EXTENSION = 1, RID_EXTENSION = 2 };

/// The names of the layers, the largest first. Each has half the width and height of the last one.
static const char *const names[LAYERS] = {"h", "m", "l"};

typedef struct {
  GstBin parent;
  char *candidates, *packing;
  guint width, height;
  guint64 bitrate;
  GstPad *sink, *src;
  GstElement *encoders[LAYERS];
} FrameBusSimulcast;

typedef struct {
  GstBinClass parent;
} FrameBusSimulcastClass;

G_DEFINE_TYPE(FrameBusSimulcast, framebus_simulcast, GST_TYPE_BIN)

enum { CANDIDATES = 1, PACKING, WIDTH, HEIGHT, BITRATE };

/// Even, as 4:2:0 video needs it, and not smaller than encoders take.
static guint side(guint full, int layer) { return MAX(16, (full >> layer) & ~1u); }

/// In proportion to the pixels: 16, 4 and 1 parts of 21.
static guint64 share(guint64 bitrate, int layer) {
  return bitrate * (guint64)(1 << (2 * (LAYERS - 1 - layer))) / 21;
}

static gboolean add_extension(GstElement *packer, const char *factory, guint number,
                              const char *property, const char *value) {
  GstElement *extension = gst_element_factory_make(factory, NULL);
  if (extension == NULL) return FALSE;
  g_object_set(extension, property, value, NULL);
  gst_rtp_header_extension_set_id(GST_RTP_HEADER_EXTENSION(extension), number);
  g_signal_emit_by_name(packer, "add-extension", extension);
  gst_object_unref(gst_object_ref_sink(extension));
  return TRUE;
}

/// One layer, from the tee to the funnel.
static gboolean add_layer(FrameBusSimulcast *self, GstElement *tee, GstElement *funnel,
                          int layer) {
  char *text = g_strdup_printf(
      "queue max-size-buffers=2 max-size-bytes=0 max-size-time=0 ! videoscale ! "
      "video/x-raw,width=%u,height=%u,pixel-aspect-ratio=1/1 ! framebusencoder name=encoder ! %s",
      side(self->width, layer), side(self->height, layer), self->packing);
  GstElement *bin = gst_parse_bin_from_description(text, TRUE, NULL);
  g_free(text);
  if (bin == NULL) return FALSE;
  gst_bin_add(GST_BIN(self), bin);
  GstElement *encoder = gst_bin_get_by_name(GST_BIN(bin), "encoder");
  GstElement *packer = gst_bin_get_by_name(GST_BIN(bin), "packer");
  g_object_set(encoder, "candidates", self->candidates, "bitrate", share(self->bitrate, layer),
               NULL);
  // webrtcbin names the first section of pictures so.
  const char *name = names[layer];
  gboolean isDone = add_extension(packer, "rtphdrextmid", MID_EXTENSION, "mid", "video0") &&
                    add_extension(packer, "rtphdrextstreamid", RID_EXTENSION, "rid", name) &&
                    gst_element_link(tee, bin) && gst_element_link(bin, funnel);
  GST_OBJECT_LOCK(self);
  self->encoders[layer] = encoder;
  GST_OBJECT_UNLOCK(self);
  gst_object_unref(packer);
  return isDone;
}

static void target(GstPad *ghost, GstElement *element, const char *name) {
  GstPad *pad = gst_element_get_static_pad(element, name);
  gst_ghost_pad_set_target(GST_GHOST_PAD(ghost), pad);
  gst_object_unref(pad);
}

static gboolean fill(FrameBusSimulcast *self) {
  GstElement *tee = gst_element_factory_make("tee", NULL);
  GstElement *funnel = gst_element_factory_make("rtpfunnel", NULL);
  if (tee == NULL || funnel == NULL || self->candidates == NULL) return FALSE;
  gst_bin_add_many(GST_BIN(self), tee, funnel, NULL);
  for (int layer = 0; layer < LAYERS; layer++)
    if (!add_layer(self, tee, funnel, layer)) return FALSE;
  target(self->sink, tee, "sink");
  target(self->src, funnel, "src");
  return TRUE;
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition) {
  FrameBusSimulcast *self = (FrameBusSimulcast *)element;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && self->encoders[0] == NULL && !fill(self)) {
    GST_ELEMENT_ERROR(self, CORE, MISSING_PLUGIN, ("an element of a layer is missing"), (NULL));
    return GST_STATE_CHANGE_FAILURE;
  }
  return GST_ELEMENT_CLASS(framebus_simulcast_parent_class)->change_state(element, transition);
}

static void set_bitrate(FrameBusSimulcast *self, guint64 bitrate) {
  for (int layer = 0; layer < LAYERS; layer++) {
    GST_OBJECT_LOCK(self);
    self->bitrate = bitrate;
    GstElement *encoder = self->encoders[layer] ? gst_object_ref(self->encoders[layer]) : NULL;
    GST_OBJECT_UNLOCK(self);
    if (encoder == NULL) continue;
    g_object_set(encoder, "bitrate", share(bitrate, layer), NULL);
    gst_object_unref(encoder);
  }
}

static void set_property(GObject *object, guint property, const GValue *value, GParamSpec *spec) {
  (void)spec;
  FrameBusSimulcast *self = (FrameBusSimulcast *)object;
  if (property == CANDIDATES && self->candidates == NULL)
    self->candidates = g_value_dup_string(value);
  if (property == PACKING && self->packing == NULL) self->packing = g_value_dup_string(value);
  if (property == WIDTH) self->width = g_value_get_uint(value);
  if (property == HEIGHT) self->height = g_value_get_uint(value);
  if (property == BITRATE) set_bitrate(self, g_value_get_uint64(value));
}

static void finalize(GObject *object) {
  FrameBusSimulcast *self = (FrameBusSimulcast *)object;
  for (int layer = 0; layer < LAYERS; layer++) gst_clear_object(&self->encoders[layer]);
  g_free(self->candidates);
  g_free(self->packing);
  G_OBJECT_CLASS(framebus_simulcast_parent_class)->finalize(object);
}

static void framebus_simulcast_init(FrameBusSimulcast *self) {
  GstElementClass *class = GST_ELEMENT_GET_CLASS(self);
  self->sink = gst_ghost_pad_new_no_target_from_template(
      "sink", gst_element_class_get_pad_template(class, "sink"));
  self->src = gst_ghost_pad_new_no_target_from_template(
      "src", gst_element_class_get_pad_template(class, "src"));
  gst_element_add_pad(GST_ELEMENT(self), self->sink);
  gst_element_add_pad(GST_ELEMENT(self), self->src);
}

static void add_property(GObjectClass *object, guint number, const char *name, GType type) {
  GParamFlags flags = G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS;
  GParamSpec *spec = g_param_spec_string(name, name, name, NULL, flags);
  if (type == G_TYPE_UINT) spec = g_param_spec_uint(name, name, name, 0, G_MAXUINT, 0, flags);
  if (type == G_TYPE_UINT64) spec = g_param_spec_uint64(name, name, name, 0, G_MAXUINT64, 0, flags);
  g_object_class_install_property(object, number, spec);
}

static void framebus_simulcast_class_init(FrameBusSimulcastClass *class) {
  GObjectClass *object = G_OBJECT_CLASS(class);
  GstElementClass *element = GST_ELEMENT_CLASS(class);
  object->set_property = set_property;
  object->finalize = finalize;
  add_property(object, CANDIDATES, "candidates", G_TYPE_STRING);
  add_property(object, PACKING, "packing", G_TYPE_STRING);
  add_property(object, WIDTH, "width", G_TYPE_UINT);
  add_property(object, HEIGHT, "height", G_TYPE_UINT);
  add_property(object, BITRATE, "bitrate", G_TYPE_UINT64);
  GstCaps *raw = gst_caps_from_string("video/x-raw");
  GstCaps *packets = gst_caps_from_string("application/x-rtp");
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, raw));
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, packets));
  gst_caps_unref(raw);
  gst_caps_unref(packets);
  gst_element_class_set_static_metadata(element, "Pictures in three sizes",
                                        "Codec/Encoder/Video",
                                        "Encodes and packs each size (RFC 8853)", "FrameBus");
  element->change_state = change_state;
}

bool upload_register_simulcast(void) {
  return gst_element_register(NULL, "framebussimulcast", GST_RANK_NONE,
                              framebus_simulcast_get_type());
}

#else
typedef int upload_simulcast_is_absent;
#endif
