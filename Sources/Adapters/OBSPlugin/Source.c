// The OBS source “FrameBus stream”: pictures of one stream, and sound of another.
#include "Receiver.h"

#include <stdio.h>
#include <string.h>

static const char *const setting_buffering = "buffering";

typedef struct {
  obs_source_t *source;
  Receiver *pictures, *sound;
} Source;

static const char *get_name(void *type) {
  (void)type;
  return "FrameBus stream";
}

static void get_defaults(obs_data_t *settings) {
  obs_data_set_default_string(settings, setting_stream, "");
  obs_data_set_default_string(settings, setting_sound, "");
  obs_data_set_default_string(settings, setting_group, "");
  obs_data_set_default_string(settings, setting_root, "");
  obs_data_set_default_bool(settings, setting_buffering, false);
}

static void update(void *data, obs_data_t *settings) {
  Source *self = data;
  const char *group = obs_data_get_string(settings, setting_group);
  const char *root = obs_data_get_string(settings, setting_root);
  const char *sound = obs_data_get_string(settings, setting_sound);
  obs_source_set_async_unbuffered(self->source, !obs_data_get_bool(settings, setting_buffering));
  obs_source_set_audio_active(self->source, *sound != 0);
  receiver_choose(self->pictures, obs_data_get_string(settings, setting_stream), group, root);
  receiver_choose(self->sound, sound, group, root);
}

static void destroy(void *data) {
  Source *self = data;
  receiver_end(self->pictures);
  receiver_end(self->sound);
  bfree(self);
}

static void *create(obs_data_t *settings, obs_source_t *source) {
  Source *self = bzalloc(sizeof *self);
  self->source = source;
  self->pictures = receiver_start(source, RECEIVER_PICTURES);
  self->sound = receiver_start(source, RECEIVER_SOUND);
  if (self->pictures == NULL || self->sound == NULL) {
    plugin_log(LOG_ERROR, NULL, "cannot start a thread: the limit of this user is reached; "
                                "raise it (`ulimit -u`)");
    destroy(self);
    return NULL;
  }
  update(self, settings);
  return self;
}

// A source that nobody sees has no subscriber, so that its publisher may rest.
static void show(void *data) {
  Source *self = data;
  receiver_want(self->pictures, true);
  receiver_want(self->sound, true);
}

static void hide(void *data) {
  Source *self = data;
  receiver_want(self->pictures, false);
  receiver_want(self->sound, false);
}

// ---- Properties ----

static void fill_lists(Source *self, obs_properties_t *properties) {
  obs_data_t *settings = obs_source_get_settings(self->source);
  framebus_error problem = FRAMEBUS_ERROR_INIT;
  plugin_list_streams(obs_properties_get(properties, setting_stream),
                      obs_properties_get(properties, setting_sound),
                      obs_data_get_string(settings, setting_group),
                      obs_data_get_string(settings, setting_root), &problem);
  obs_data_release(settings);
  char text[1200] = "";
  receiver_describe(self->pictures, text, sizeof text);
  obs_property_t *state = obs_properties_get(properties, "state");
  obs_property_set_description(state, problem.message[0] != 0 ? problem.message : text);
}

static bool refresh(obs_properties_t *properties, obs_property_t *button, void *data) {
  (void)button;
  fill_lists(data, properties);
  return true;
}

static obs_properties_t *get_properties(void *data) {
  obs_properties_t *properties = obs_properties_create();
  // Editable, because a stream may start later than OBS.
  obs_properties_add_list(properties, setting_stream, "Stream", OBS_COMBO_TYPE_EDITABLE,
                          OBS_COMBO_FORMAT_STRING);
  obs_property_t *sound =
      obs_properties_add_list(properties, setting_sound, "Sound", OBS_COMBO_TYPE_EDITABLE,
                              OBS_COMBO_FORMAT_STRING);
  obs_property_set_long_description(sound, "A stream with sound, such as audio.app; may be empty");
  obs_properties_add_button(properties, "refresh", "Refresh the lists", refresh);
  obs_property_t *buffering =
      obs_properties_add_bool(properties, setting_buffering, "Play by time stamps");
  obs_property_set_long_description(
      buffering, "Evens out irregular frames, and shows them later. Otherwise the newest is shown");
  plugin_add_group_properties(properties);
  obs_properties_add_text(properties, "state", "", OBS_TEXT_INFO);
  fill_lists(data, properties);
  return properties;
}

const struct obs_source_info plugin_source = {
    .id = "framebus_source",
    .type = OBS_SOURCE_TYPE_INPUT,
    .output_flags = OBS_SOURCE_ASYNC_VIDEO | OBS_SOURCE_AUDIO | OBS_SOURCE_DO_NOT_DUPLICATE,
    .icon_type = OBS_ICON_TYPE_DESKTOP_CAPTURE,
    .get_name = get_name,
    .create = create,
    .destroy = destroy,
    .get_defaults = get_defaults,
    .get_properties = get_properties,
    .update = update,
    .show = show,
    .hide = hide,
};
