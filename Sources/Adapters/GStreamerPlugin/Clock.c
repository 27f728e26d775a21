#include "Plugin.h"

// How much the pipeline's clock is ahead of CLOCK_MONOTONIC: exactly 0 for GStreamer's usual clock.
static GstClockTimeDiff clock_lead(GstClock *clock) {
  if (GST_IS_SYSTEM_CLOCK(clock)) {
    GstClockType type = GST_CLOCK_TYPE_OTHER;
    g_object_get(clock, "clock-type", &type, NULL);
    if (type == GST_CLOCK_TYPE_MONOTONIC && gst_clock_get_master(clock) == NULL) return 0;
  }
  gint64 before = (gint64)framebus_now_ns();
  gint64 time = (gint64)gst_clock_get_time(clock);
  return time - (before + (gint64)framebus_now_ns()) / 2;
}

static gboolean zero_of_running_time(GstElement *element, gint64 *monotonic_ns) {
  GstClock *clock = gst_element_get_clock(element);
  if (clock == NULL) return FALSE;
  *monotonic_ns = (gint64)gst_element_get_base_time(element) - clock_lead(clock);
  gst_object_unref(clock);
  return TRUE;
}

gboolean plugin_running_time_at(GstElement *element, gint64 monotonic_ns, gint64 *running_time) {
  gint64 zero;
  if (!zero_of_running_time(element, &zero)) return FALSE;
  *running_time = monotonic_ns - zero;
  return TRUE;
}

gboolean plugin_monotonic_at(GstElement *element, gint64 running_time, gint64 *monotonic_ns) {
  gint64 zero;
  if (!zero_of_running_time(element, &zero)) return FALSE;
  *monotonic_ns = running_time + zero;
  return TRUE;
}
