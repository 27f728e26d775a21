// GStreamer's output: the lines of its debug log, and the messages of its elements.
#pragma once
#include <stdbool.h>

/// The levels of GStreamer (GstDebugLevel) that are useful in a log.
typedef enum {
  FB_GSTREAMER_ERROR = 1,
  FB_GSTREAMER_WARNING = 2,
  FB_GSTREAMER_INFO = 4,
  FB_GSTREAMER_DEBUG = 5,
  FB_GSTREAMER_TRACE = 7,
} fb_gstreamer_level;

/// Called on any thread; the texts are valid during the call. `source` is a path, or empty.
typedef void (*fb_gstreamer_line)(fb_gstreamer_level level, const char *category, const char *text,
                                  const char *source, int line);

/// From now on passes every line up to a level to a function instead of standard error. If
/// GST_DEBUG is set, its levels apply, and standard error receives its lines too. Call it once;
/// GStreamer need not have been initialised.
void fb_gstreamer_log(fb_gstreamer_line function, fb_gstreamer_level level);
