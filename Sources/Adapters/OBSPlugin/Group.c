#include "Plugin.h"

#include <stdio.h>
#include <stdlib.h>

const char *const setting_stream = "stream", *const setting_sound = "sound",
                  *const setting_group = "group", *const setting_root = "root";

// The time that a list may keep OBS's window waiting.
static const uint64_t list_timeout_ns = 1000000000;

static const char *chosen(const char *setting, const char *variable) {
  const char *text = setting != NULL && *setting != 0 ? setting : getenv(variable);
  return text != NULL && *text != 0 ? text : NULL;
}

int plugin_open_group(const char *id, const char *root, framebus_group **group,
                      framebus_error *error) {
  return framebus_group_open(chosen(id, "FRAMEBUS_GROUP"), chosen(root, "FRAMEBUS_HOME"), group,
                             error);
}

static void add_stream(obs_property_t *pictures, obs_property_t *sound, framebus_streams *streams,
                       size_t index) {
  framebus_stream_status status = {.size = sizeof status};
  framebus_format format = {.size = sizeof format};
  char text[128];
  if (framebus_streams_get(streams, index, &status, NULL) != FRAMEBUS_OK ||
      framebus_streams_format(streams, index, &format, NULL) != FRAMEBUS_OK) {
    return;
  }
  switch (format.kind) {
    case FRAMEBUS_KIND_VIDEO:
      snprintf(text, sizeof text, "%s (%u×%u)", status.name, format.width, format.height);
      obs_property_list_add_string(pictures, text, status.name);
      break;
    case FRAMEBUS_KIND_APP_AUDIO:
    case FRAMEBUS_KIND_MIC_AUDIO:
      snprintf(text, sizeof text, "%s (%u Hz, channels: %u)", status.name, format.sample_rate,
               format.channel_count);
      obs_property_list_add_string(sound, text, status.name);
      break;
  }
}

void plugin_list_streams(obs_property_t *pictures, obs_property_t *sound, const char *id,
                         const char *root, framebus_error *problem) {
  framebus_group *group = NULL;
  framebus_streams *streams = NULL;
  obs_property_list_clear(pictures);
  obs_property_list_clear(sound);
  if (plugin_open_group(id, root, &group, problem) != FRAMEBUS_OK) return;
  if (framebus_streams_open(group, framebus_after_ns(list_timeout_ns), &streams, problem) ==
      FRAMEBUS_OK) {
    int count = framebus_streams_count(streams);
    for (int i = 0; i < count; i += 1) add_stream(pictures, sound, streams, (size_t)i);
    framebus_streams_close(streams);
  }
  framebus_group_close(group);
}

void plugin_add_group_properties(obs_properties_t *properties) {
  obs_property_t *group = obs_properties_add_text(properties, setting_group, "Group",
                                                  OBS_TEXT_DEFAULT);
  obs_property_set_long_description(
      group, "ID of the group. Empty: $FRAMEBUS_GROUP, or group.local.framebus");
  obs_property_t *root = obs_properties_add_path(properties, setting_root, "Directory of groups",
                                                 OBS_PATH_DIRECTORY, NULL, NULL);
  obs_property_set_long_description(root, "Empty: $FRAMEBUS_HOME, or the usual directories");
}

void plugin_log(int level, const char *stream, const char *text) {
  if (stream != NULL && *stream != 0) {
    blog(level, "[obs-framebus] stream %s: %s", stream, text);
  } else {
    blog(level, "[obs-framebus] %s", text);
  }
}
