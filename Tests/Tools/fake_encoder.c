// A GStreamer plugin with encoders that a machine without their hardware lacks: x264enc under the
// name of a hardware encoder. FAKE_ENCODERS names them, with what each does:
//
//   vah264enc=works,nvh264enc=refuses,v4l2h264enc=fails:10
//
// works; refuses: to start; fails:N: with the picture after N; silent:N: takes those after N, and
// returns nothing. It says on standard error when one
// receives its first picture. X264_PLUGIN is the file libgstx264.so.
#include <dlfcn.h>
#include <gst/gst.h>
#include <gst/video/gstvideoencoder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKAGE "fake"

static GstVideoEncoderClass *original;
static GQuark count;

static const char *conduct(GstVideoEncoder *encoder) {
  const char *name = G_OBJECT_TYPE_NAME(encoder) + strlen("Fake_");
  const char *found = strstr(getenv("FAKE_ENCODERS"), name);
  return found + strlen(name) + 1;
}

static gboolean start(GstVideoEncoder *encoder) {
  if (strncmp(conduct(encoder), "refuses", 7) == 0) {
    GST_ELEMENT_ERROR(encoder, RESOURCE, OPEN_READ_WRITE, ("the driver refuses"), (NULL));
    return FALSE;
  }
  return original->start(encoder);
}

static GstFlowReturn handle_frame(GstVideoEncoder *encoder, GstVideoCodecFrame *frame) {
  int number = GPOINTER_TO_INT(g_object_get_qdata(G_OBJECT(encoder), count));
  const char *what = conduct(encoder);
  g_object_set_qdata(G_OBJECT(encoder), count, GINT_TO_POINTER(number + 1));
  if (number == 0) fprintf(stderr, "%s encodes\n", G_OBJECT_TYPE_NAME(encoder) + strlen("Fake_"));
  if (strncmp(what, "fails:", 6) == 0 && number >= atoi(what + 6)) {
    GST_ELEMENT_ERROR(encoder, STREAM, ENCODE, ("the device is gone"), (NULL));
    gst_video_encoder_finish_frame(encoder, frame);
    return GST_FLOW_ERROR;
  }
  if (strncmp(what, "silent:", 7) == 0 && number >= atoi(what + 7)) {
    gst_video_codec_frame_unref(frame);
    return GST_FLOW_OK;
  }
  return original->handle_frame(encoder, frame);
}

static void prepare_class(gpointer class, gpointer data) {
  (void)data;
  GST_VIDEO_ENCODER_CLASS(class)->start = start;
  GST_VIDEO_ENCODER_CLASS(class)->handle_frame = handle_frame;
}

static void prepare(GTypeInstance *instance, gpointer class) {
  (void)class;
  gst_util_set_object_arg(G_OBJECT(instance), "tune", "zerolatency");
  gst_util_set_object_arg(G_OBJECT(instance), "speed-preset", "ultrafast");
}

static gboolean plugin_init(GstPlugin *plugin) {
  // The process that scans plugins has an empty registry, and a lock forbids to load one here. So
  // this plugin has x264enc as well.
  void *library = dlopen(X264_PLUGIN, RTLD_NOW);
  const GstPluginDesc *(*describe)(void) = library ? dlsym(library, "gst_plugin_x264_get_desc") : 0;
  const char *names = getenv("FAKE_ENCODERS");
  if (describe == NULL || names == NULL || !describe()->plugin_init(plugin)) return TRUE;
  GType base = g_type_from_name("GstX264Enc");
  original = g_type_class_ref(base);
  count = g_quark_from_static_string("count");
  GTypeQuery query;
  g_type_query(base, &query);
  char **rows = g_strsplit(names, ",", -1);
  for (char **row = rows; *row; row++) {
    *strchr(*row, '=') = 0;
    GTypeInfo info = {.class_size = (guint16)query.class_size,
                      .instance_size = (guint16)query.instance_size,
                      .class_init = prepare_class,
                      .instance_init = prepare};
    char *type = g_strdup_printf("Fake_%s", *row);
    gst_element_register(plugin, *row, GST_RANK_NONE,
                         g_type_register_static(base, type, &info, 0));
    g_free(type);
  }
  g_strfreev(rows);
  return TRUE;
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, fakeencoder, "Encoders for tests",
                  plugin_init, "1", "LGPL", "FrameBus", "https://example.invalid/")
