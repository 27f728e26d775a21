#include "Plugin.h"

void plugin_clock_clear(PluginClock *self) { gst_clear_object(&self->clock); }

static gboolean is_slave(GstClock *clock) {
  GstClock *master = gst_clock_get_master(clock);
  if (master == NULL) return FALSE;
  gst_object_unref(master);
  return TRUE;
}

// How much the pipeline's clock is ahead of CLOCK_MONOTONIC: exactly 0 for GStreamer's usual clock.
static GstClockTimeDiff clock_lead(const PluginClock *self) {
  if (self->is_monotonic && !is_slave(self->clock)) return 0;
  gint64 before = (gint64)framebus_now_ns();
  gint64 time = (gint64)gst_clock_get_time(self->clock);
  return time - (before + (gint64)framebus_now_ns()) / 2;
}

// Takes the element's clock over. Its type is a property, and reading one takes longer than all
// else here, so it is read when the clock is another one.
static gboolean take_clock(PluginClock *self, GstElement *element, GstClockTime *base_time) {
  GST_OBJECT_LOCK(element);
  *base_time = element->base_time;
  gboolean is_new = gst_object_replace((GstObject **)&self->clock, GST_OBJECT(element->clock));
  GST_OBJECT_UNLOCK(element);
  if (is_new) self->is_monotonic = FALSE;
  if (is_new && self->clock != NULL && GST_IS_SYSTEM_CLOCK(self->clock)) {
    GstClockType type = GST_CLOCK_TYPE_OTHER;
    g_object_get(self->clock, "clock-type", &type, NULL);
    self->is_monotonic = type == GST_CLOCK_TYPE_MONOTONIC;
  }
  return self->clock != NULL;
}

static gboolean zero_of_running_time(PluginClock *self, GstElement *element, gint64 *monotonic_ns) {
  GstClockTime base_time;
  if (!take_clock(self, element, &base_time)) return FALSE;
  *monotonic_ns = (gint64)base_time - clock_lead(self);
  return TRUE;
}

gboolean plugin_running_time_at(PluginClock *self, GstElement *element, gint64 monotonic_ns,
                                gint64 *running_time) {
  gint64 zero;
  if (!zero_of_running_time(self, element, &zero)) return FALSE;
  *running_time = monotonic_ns - zero;
  return TRUE;
}

gboolean plugin_monotonic_at(PluginClock *self, GstElement *element, gint64 running_time,
                             gint64 *monotonic_ns) {
  gint64 zero;
  if (!zero_of_running_time(self, element, &zero)) return FALSE;
  *monotonic_ns = running_time + zero;
  return TRUE;
}
