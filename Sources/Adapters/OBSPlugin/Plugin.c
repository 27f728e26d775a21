// The module that OBS loads: it registers the source and the output.
#include "Plugin.h"

OBS_DECLARE_MODULE()

const char *obs_module_name(void) { return "FrameBus"; }

const char *obs_module_description(void) {
  return "Receives and publishes the frames of FrameBus streams";
}

OBS_MODULE_AUTHOR("FrameBus")

bool obs_module_load(void) {
  obs_register_source(&plugin_source);
  obs_register_output(&plugin_output);
  blog(LOG_INFO, "[obs-framebus] version %s", FRAMEBUS_PLUGIN_VERSION);
  return true;
}
