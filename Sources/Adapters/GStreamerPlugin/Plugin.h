// The GStreamer plugin: what its files share. It stands on the C interface alone (framebus.h).
#ifndef FRAMEBUS_GSTREAMER_PLUGIN_H
#define FRAMEBUS_GSTREAMER_PLUGIN_H

#include <framebus.h>
#include <gst/audio/audio.h>
#include <gst/base/base.h>
#include <gst/gst.h>
#include <gst/video/video.h>

GST_DEBUG_CATEGORY_EXTERN(framebus_debug);
#define GST_CAT_DEFAULT framebus_debug

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE(framebussrc)
GST_ELEMENT_REGISTER_DECLARE(framebussink)

// ---- Formats.c ----

// The caps of the elements' pads, as text.
extern const char *const plugin_source_caps;
extern const char *const plugin_sink_caps;

// A format as GStreamer sees it.
typedef struct {
  framebus_format format;
  GstVideoInfo video; // of a raw picture, with the planes of `format`
  GstAudioInfo audio; // of raw sound
  gboolean is_raw_video, is_raw_audio;
} PluginFormat;

// Describes the frames that caps announce. `sound` is the kind of a stream with sound.
// Returns FALSE with a text for the user if they cannot be published.
gboolean plugin_format_from_caps(PluginFormat *self, const GstCaps *caps, guint32 sound,
                                 const char **problem);
// Describes the frames of a stream; `crop` is their visible part, of width 0 if all is.
// Returns caps, or NULL if GStreamer has no such format.
GstCaps *plugin_format_to_caps(PluginFormat *self, const framebus_format *format,
                               const framebus_rect *crop);

// ---- Metadata.c ----

// Adds the damage as regions of interest of the type "damage". No region: all of it changed.
void plugin_metadata_add_damage(GstBuffer *buffer, const framebus_metadata *metadata,
                                const framebus_rect *crop);
// Takes damage and crop from a buffer's metas.
void plugin_metadata_read_metas(framebus_metadata *metadata, GstBuffer *buffer);
// Orientation: 1 to 8 as in EXIF, and the values of the tag "image-orientation".
const char *plugin_orientation_tag(guint32 orientation);
guint32 plugin_orientation_from_tag(const char *tag);

// ---- Clock.c ----

// The clock that an element had for its last frame. One thread uses it.
typedef struct {
  GstClock *clock;
  gboolean is_monotonic; // shows CLOCK_MONOTONIC, unless it is a slave of another
} PluginClock;

void plugin_clock_clear(PluginClock *self);
// The running time of an element at a moment of CLOCK_MONOTONIC, or the reverse. FALSE if the
// element has no clock.
gboolean plugin_running_time_at(PluginClock *self, GstElement *element, gint64 monotonic_ns,
                                gint64 *running_time);
gboolean plugin_monotonic_at(PluginClock *self, GstElement *element, gint64 running_time,
                             gint64 *monotonic_ns);

// ---- Group.c ----

// Opens the group of the properties, or, where they are NULL, of the environment as the command
// framebus does.
int plugin_open_group(const gchar *id, const gchar *root, framebus_group **group,
                      framebus_error *error);

// Posts an error of the C interface as a message of the element, for a stream of that name.
void plugin_post_error(GstElement *element, const framebus_error *error, const char *stream);

G_END_DECLS
#endif
