#include "CGStreamerLog.h"

#if __has_include(<gst/gst.h>)
#include "GStreamerLog.h"

#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(fb_gstreamer_line) taker;
// Formatting an object in a line may itself log: lines logged meanwhile are ignored.
static _Thread_local bool isTaking;

static fb_gstreamer_level level_of(GstDebugLevel level) {
  if (level <= GST_LEVEL_ERROR) return FB_GSTREAMER_ERROR;
  if (level == GST_LEVEL_WARNING) return FB_GSTREAMER_WARNING;
  if (level <= GST_LEVEL_INFO) return FB_GSTREAMER_INFO;
  return level == GST_LEVEL_DEBUG ? FB_GSTREAMER_DEBUG : FB_GSTREAMER_TRACE;
}

static void take_line(GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                      const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                      gpointer data) {
  (void)function, (void)object, (void)data;
  fb_gstreamer_line take = atomic_load(&taker);
  if (take == NULL || isTaking) return;
  isTaking = true;
  const gchar *text = gst_debug_message_get(message);
  if (text != NULL) {
    const char *name = gst_debug_category_get_name(category);
    take(level_of(level), name, text, file != NULL ? file : "", line);
  }
  isTaking = false;
}

/// Takes the warnings of GLib and of libraries on it, which it would write to standard error.
static GLogWriterOutput take_warning(GLogLevelFlags level, const GLogField *fields, gsize count,
                                     gpointer data) {
  const GLogLevelFlags warnings = G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING;
  fb_gstreamer_line take = atomic_load(&taker);
  // The last words of a program that aborts are for its user.
  if (take == NULL || isTaking || !(level & warnings) || (level & G_LOG_FLAG_FATAL))
    return g_log_writer_default(level, fields, count, data);
  const char *domain = "glib", *text = NULL;
  for (gsize i = 0; i < count; i++) {
    if (fields[i].length >= 0) continue;
    if (g_strcmp0(fields[i].key, "GLIB_DOMAIN") == 0) domain = fields[i].value;
    if (g_strcmp0(fields[i].key, "MESSAGE") == 0) text = fields[i].value;
  }
  isTaking = true;
  fb_gstreamer_level kind =
      level & G_LOG_LEVEL_WARNING ? FB_GSTREAMER_WARNING : FB_GSTREAMER_ERROR;
  if (text != NULL) take(kind, domain, text, "", 0);
  isTaking = false;
  return G_LOG_WRITER_HANDLED;
}

void fb_gstreamer_log(fb_gstreamer_line function, fb_gstreamer_level level) {
  atomic_store(&taker, function);
  const char *requested = getenv("GST_DEBUG");
  bool is_requested = requested != NULL && requested[0] != '\0';
  if (!is_requested) {
    gst_debug_set_active(TRUE);
    gst_debug_set_default_threshold((GstDebugLevel)level);
    gst_debug_remove_log_function(gst_debug_log_default);
  }
  gst_debug_add_log_function(take_line, NULL, NULL);
  // GLib takes one writer for the life of a process.
  static atomic_flag hasWriter = ATOMIC_FLAG_INIT;
  if (!is_requested && !atomic_flag_test_and_set(&hasWriter))
    g_log_set_writer_func(take_warning, NULL, NULL);
}

void fb_log_message(GstMessage *message) {
  fb_gstreamer_line take = atomic_load(&taker);
  GstMessageType type = GST_MESSAGE_TYPE(message);
  if (take == NULL || (type != GST_MESSAGE_WARNING && type != GST_MESSAGE_INFO)) return;
  GError *error = NULL;
  if (type == GST_MESSAGE_WARNING) {
    gst_message_parse_warning(message, &error, NULL);
  } else {
    gst_message_parse_info(message, &error, NULL);
  }
  if (error == NULL) return;
  fb_gstreamer_level level = type == GST_MESSAGE_WARNING ? FB_GSTREAMER_WARNING : FB_GSTREAMER_INFO;
  take(level, GST_MESSAGE_SRC_NAME(message), error->message, "", 0);
  g_clear_error(&error);
}
#endif
