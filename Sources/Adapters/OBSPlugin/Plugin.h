// The OBS plugin: what its files share. It stands on the C interface (framebus.h) and libobs.
#ifndef FRAMEBUS_OBS_PLUGIN_H
#define FRAMEBUS_OBS_PLUGIN_H

#include <framebus.h>
#include <obs-module.h>

// ---- Group.c ----

// The names of settings, of the source and of the output.
extern const char *const setting_stream, *const setting_sound, *const setting_group,
    *const setting_root;

// Opens a group. "" is that of the environment, as for the command framebus, or the usual one.
int plugin_open_group(const char *id, const char *root, framebus_group **group,
                      framebus_error *error);
// Fills lists with the names of the running streams, and their sizes, within a second. After an
// error `problem` has a message.
void plugin_list_streams(obs_property_t *pictures, obs_property_t *sound, const char *id,
                         const char *root, framebus_error *problem);
// Adds the settings of the group to the properties.
void plugin_add_group_properties(obs_properties_t *properties);
// Logs a line about a stream.
void plugin_log(int level, const char *stream, const char *text);

// ---- Formats.c ----

#define PLUGIN_PLANES 3
// A raw picture's format, as both sides see it.
typedef struct {
  char code[5]; // of drm_fourcc.h
  enum video_format format;
  int plane_count;
  struct {
    uint8_t bytes, columns, rows; // of one sample: its size, and the pixels that it covers
  } planes[PLUGIN_PLANES];
  bool swaps_chroma; // the second and third plane change places
  bool is_opaque;    // the fourth byte is unused, but OBS reads it as alpha
} PluginLayout;

const PluginLayout *plugin_layout_of_code(uint32_t fourcc);
// NULL if streams have no such format.
const PluginLayout *plugin_layout_of_format(enum video_format format);
uint32_t plugin_code(const PluginLayout *layout);
uint32_t plugin_row_bytes(const PluginLayout *layout, int plane, uint32_t width);
uint32_t plugin_row_count(const PluginLayout *layout, int plane, uint32_t height);

// How OBS is to draw a frame: what does not change with each one.
typedef struct {
  const PluginLayout *layout;
  struct obs_source_frame2 frame; // without data and time
  size_t offsets[PLUGIN_PLANES];  // of its data in the frame's bytes
  long rotation;
} PluginPicture;

// Describes the visible part of a raw picture. Whatever its publisher wrote, all rows lie in the
// frame's byte_count. Returns a text for the user if OBS cannot draw it, else NULL.
const char *plugin_describe_picture(PluginPicture *self, const framebus_format *format,
                                    const framebus_metadata *metadata, uint64_t byte_count);
// Describes sound, without data, frames and time. Returns a text for the user if OBS cannot play
// it, else NULL.
const char *plugin_describe_sound(struct obs_source_audio *audio, const framebus_format *format);
// Writes the colours of OBS's pictures into a format.
void plugin_write_colors(framebus_format *format, enum video_colorspace space,
                         enum video_range_type range);

// ---- Source.c, Output.c ----

extern const struct obs_source_info plugin_source;
extern const struct obs_output_info plugin_output;

#endif
