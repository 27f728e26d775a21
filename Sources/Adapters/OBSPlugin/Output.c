// The OBS output “FrameBus stream”: publishes what OBS shows, and what it plays. OBS's frames are
// its own memory, so each is copied once, into the slot.
#include "Plugin.h"

#include <media-io/audio-io.h>
#include <media-io/video-io.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// OBS's mixer makes chunks of this many samples.
static const uint32_t longest_chunk = AUDIO_OUTPUT_FRAMES;

typedef struct {
  obs_output_t *output;
  // OBS's threads may still call for a moment after the end.
  pthread_mutex_t lock;
  framebus_publisher *pictures, *sound;
  framebus_format format, sound_format;
  const PluginLayout *layout;
  uint64_t byte_count;
  int dropped_count;
  char stream[64];
} Output;

static const char *get_name(void *type) {
  (void)type;
  return "FrameBus stream";
}

static void get_defaults(obs_data_t *settings) {
  obs_data_set_default_string(settings, setting_stream, "obs");
  obs_data_set_default_string(settings, setting_sound, "");
  obs_data_set_default_string(settings, setting_group, "");
  obs_data_set_default_string(settings, setting_root, "");
}

static obs_properties_t *get_properties(void *data) {
  (void)data;
  obs_properties_t *properties = obs_properties_create();
  obs_properties_add_text(properties, setting_stream, "Stream", OBS_TEXT_DEFAULT);
  obs_property_t *sound =
      obs_properties_add_text(properties, setting_sound, "Sound", OBS_TEXT_DEFAULT);
  obs_property_set_long_description(sound, "Name of a stream for the sound. Empty: no sound");
  plugin_add_group_properties(properties);
  return properties;
}

static void *create(obs_data_t *settings, obs_output_t *output) {
  (void)settings;
  Output *self = bzalloc(sizeof *self);
  self->output = output;
  pthread_mutex_init(&self->lock, NULL);
  return self;
}

// Returns whether there was one.
static bool close_publishers(Output *self, uint32_t reason) {
  pthread_mutex_lock(&self->lock);
  bool was_open = self->pictures != NULL;
  if (self->pictures != NULL) framebus_publisher_close(self->pictures, reason, NULL);
  if (self->sound != NULL) framebus_publisher_close(self->sound, reason, NULL);
  self->pictures = self->sound = NULL;
  pthread_mutex_unlock(&self->lock);
  return was_open;
}

static void destroy(void *data) {
  Output *self = data;
  close_publishers(self, FRAMEBUS_END_STOPPED);
  pthread_mutex_destroy(&self->lock);
  bfree(self);
}

// ---- Start and stop ----

// OBS converts what streams cannot have.
static enum video_format choose_format(Output *self, const struct video_output_info *info) {
  bool is_known = plugin_layout_of_format(info->format) != NULL;
  struct video_scale_info conversion = {.format = is_known ? info->format : VIDEO_FORMAT_NV12,
                                        .width = info->width,
                                        .height = info->height,
                                        .range = info->range,
                                        .colorspace = info->colorspace};
  obs_output_set_video_conversion(self->output, &conversion);
  return conversion.format;
}

static int open_pictures(Output *self, framebus_group *group, const char *stream,
                         framebus_error *error) {
  const struct video_output_info *info = video_output_get_info(obs_output_video(self->output));
  framebus_format *format = &self->format;
  *format = (framebus_format){.size = sizeof *format};
  self->layout = plugin_layout_of_format(choose_format(self, info));
  int result = framebus_format_video(plugin_code(self->layout), info->width, info->height, format,
                                     error);
  if (result != FRAMEBUS_OK) return result;
  format->rate_numerator = info->fps_num;
  format->rate_denominator = info->fps_den;
  plugin_write_colors(format, info->colorspace, info->range);
  return framebus_publisher_open(group, stream, format, NULL, &self->pictures, error);
}

static int open_sound(Output *self, framebus_group *group, const char *stream,
                      framebus_error *error) {
  const struct audio_output_info *info = audio_output_get_info(obs_output_audio(self->output));
  framebus_publisher_options options = FRAMEBUS_PUBLISHER_OPTIONS_INIT;
  options.ring_depth = 64; // more than a second, so that no chunk is lost on the way
  self->sound_format = (framebus_format){.size = sizeof self->sound_format};
  int result = framebus_format_audio(FRAMEBUS_KIND_APP_AUDIO, FRAMEBUS_F32LE,
                                     info->samples_per_sec, get_audio_channels(info->speakers),
                                     longest_chunk, &self->sound_format, error);
  if (result != FRAMEBUS_OK) return result;
  self->sound_format.is_planar = 1;
  // OBS counts in floats, a channel after the other, unless it is asked to convert.
  struct audio_convert_info conversion = {.samples_per_sec = info->samples_per_sec,
                                          .format = AUDIO_FORMAT_FLOAT_PLANAR,
                                          .speakers = info->speakers};
  obs_output_set_audio_conversion(self->output, &conversion);
  return framebus_publisher_open(group, stream, &self->sound_format, &options, &self->sound,
                                 error);
}

static int open_publishers(Output *self, const char *stream, const char *sound,
                           framebus_group *group, framebus_error *error) {
  pthread_mutex_lock(&self->lock);
  self->byte_count = 0;
  self->dropped_count = 0;
  int result = open_pictures(self, group, stream, error);
  if (result == FRAMEBUS_OK && *sound != 0) result = open_sound(self, group, sound, error);
  pthread_mutex_unlock(&self->lock);
  return result;
}

static bool start(void *data) {
  Output *self = data;
  obs_data_t *settings = obs_output_get_settings(self->output);
  const char *stream = obs_data_get_string(settings, setting_stream);
  const char *sound = obs_data_get_string(settings, setting_sound);
  framebus_group *group = NULL;
  framebus_error error = FRAMEBUS_ERROR_INIT;
  snprintf(self->stream, sizeof self->stream, "%s", stream);
  int result = plugin_open_group(obs_data_get_string(settings, setting_group),
                                 obs_data_get_string(settings, setting_root), &group, &error);
  if (result == FRAMEBUS_OK) result = open_publishers(self, stream, sound, group, &error);
  uint32_t flags = OBS_OUTPUT_VIDEO | (*sound != 0 ? OBS_OUTPUT_AUDIO : 0);
  obs_data_release(settings);
  framebus_group_close(group);
  if (result != FRAMEBUS_OK) {
    close_publishers(self, FRAMEBUS_END_FAILED);
    obs_output_set_last_error(self->output, error.message);
    plugin_log(LOG_WARNING, self->stream, error.message);
    return false;
  }
  if (!obs_output_begin_data_capture(self->output, flags)) {
    close_publishers(self, FRAMEBUS_END_FAILED);
    return false;
  }
  plugin_log(LOG_INFO, self->stream, "publishing");
  return true;
}

static void stop(void *data, uint64_t time) {
  (void)time;
  Output *self = data;
  obs_output_end_data_capture(self->output);
  if (close_publishers(self, FRAMEBUS_END_STOPPED)) plugin_log(LOG_INFO, self->stream, "stopped");
}

// ---- Frames ----

static void copy_plane(const Output *self, int plane, const struct video_data *from,
                       uint8_t *into) {
  uint32_t stride = self->format.planes[plane].stride, line = from->linesize[plane];
  uint32_t rows = plugin_row_count(self->layout, plane, self->format.height);
  uint32_t row = plugin_row_bytes(self->layout, plane, self->format.width);
  into += self->format.planes[plane].offset;
  if (line == stride) {
    memcpy(into, from->data[plane], (size_t)stride * rows);
    return;
  }
  if (row > line) row = line;
  for (uint32_t y = 0; y < rows; y += 1) {
    memcpy(into + (size_t)y * stride, from->data[plane] + (size_t)y * line, row);
  }
}

// A slot, if anybody receives. Under the lock.
static bool loan(Output *self, framebus_publisher *publisher, framebus_slot *slot) {
  framebus_error error = FRAMEBUS_ERROR_INIT;
  if (framebus_publisher_wait(publisher, 0, NULL, NULL) != FRAMEBUS_OK) return false;
  if (framebus_publisher_loan(publisher, 0, NULL, slot, &error) == FRAMEBUS_OK) return true;
  self->dropped_count += 1;
  if (self->dropped_count == 1) plugin_log(LOG_WARNING, self->stream, error.message);
  return false;
}

static void publish(Output *self, framebus_slot *slot, uint64_t time, uint64_t byte_count) {
  framebus_metadata metadata = {.size = sizeof metadata};
  framebus_metadata_now(&metadata, NULL);
  // OBS's time is CLOCK_MONOTONIC.
  metadata.pts_ns = (int64_t)time;
  metadata.captured_at_ns = time;
  framebus_error error = FRAMEBUS_ERROR_INIT;
  if (framebus_loan_publish(slot->loan, &metadata, byte_count, NULL, &error) == FRAMEBUS_OK) {
    self->byte_count += byte_count;
    return;
  }
  framebus_loan_abandon(slot->loan);
  self->dropped_count += 1;
  if (self->dropped_count == 1) plugin_log(LOG_WARNING, self->stream, error.message);
}

static void take_picture(void *data, struct video_data *frame) {
  Output *self = data;
  framebus_slot slot = FRAMEBUS_SLOT_INIT;
  pthread_mutex_lock(&self->lock);
  if (self->pictures != NULL && loan(self, self->pictures, &slot)) {
    for (int plane = 0; plane < self->layout->plane_count; plane += 1) {
      copy_plane(self, plane, frame, slot.bytes);
    }
    publish(self, &slot, frame->timestamp, self->format.byte_count);
  }
  pthread_mutex_unlock(&self->lock);
}

static void take_sound(void *data, struct audio_data *chunk) {
  Output *self = data;
  framebus_slot slot = FRAMEBUS_SLOT_INIT;
  pthread_mutex_lock(&self->lock);
  if (self->sound != NULL && chunk->frames <= longest_chunk && loan(self, self->sound, &slot)) {
    size_t size = (size_t)chunk->frames * sizeof(float);
    uint32_t channels = self->sound_format.channel_count;
    for (uint32_t i = 0; i < channels; i += 1) {
      memcpy((uint8_t *)slot.bytes + i * size, chunk->data[i], size);
    }
    publish(self, &slot, chunk->timestamp, size * channels);
  }
  pthread_mutex_unlock(&self->lock);
}

static uint64_t get_total_bytes(void *data) {
  Output *self = data;
  pthread_mutex_lock(&self->lock);
  uint64_t count = self->byte_count;
  pthread_mutex_unlock(&self->lock);
  return count;
}

static int get_dropped_frames(void *data) {
  Output *self = data;
  pthread_mutex_lock(&self->lock);
  int count = self->dropped_count;
  pthread_mutex_unlock(&self->lock);
  return count;
}

const struct obs_output_info plugin_output = {
    .id = "framebus_output",
    .flags = OBS_OUTPUT_AV,
    .get_name = get_name,
    .create = create,
    .destroy = destroy,
    .start = start,
    .stop = stop,
    .raw_video = take_picture,
    .raw_audio = take_sound,
    .get_defaults = get_defaults,
    .get_properties = get_properties,
    .get_total_bytes = get_total_bytes,
    .get_dropped_frames = get_dropped_frames,
};
