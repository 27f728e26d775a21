#include "Plugin.h"

GST_DEBUG_CATEGORY(framebus_debug);

static gboolean start_plugin(GstPlugin *plugin) {
  GST_DEBUG_CATEGORY_INIT(framebus_debug, "framebus", 0, "Streams of FrameBus");
  gboolean is_registered = GST_ELEMENT_REGISTER(framebussrc, plugin);
  is_registered |= GST_ELEMENT_REGISTER(framebussink, plugin);
  return is_registered;
}

#define PACKAGE "framebus"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, framebus,
                  "Receives and publishes frames of FrameBus streams without a copy",
                  start_plugin, FRAMEBUS_PLUGIN_VERSION, "Apache 2.0", "FrameBus",
                  "FrameBus")
