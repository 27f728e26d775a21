#include "Plugin.h"

#include <string.h>

#define VIDEO_FORMATS                                                                          \
  "{ BGRx, BGRA, RGBx, RGBA, xRGB, xBGR, ARGB, ABGR, RGB, BGR, RGB16, BGR16, YUY2, YVYU, "     \
  "UYVY, VYUY, NV12, NV21, NV16, NV61, NV24, P010_10LE, P012_LE, P016_LE, I420, YV12, Y42B, "  \
  "Y444, I420_10LE, I422_10LE, Y444_10LE, VUYA, RGBA64_LE, GRAY8, GRAY16_LE }"
#define AUDIO_FORMATS                                                                   \
  "{ S16LE, F32LE, S32LE, S24LE, S24_32LE, U8, S8, F64LE, S16BE, S24BE, S24_32BE, S32BE, " \
  "F32BE, F64BE }"
#define SIZE "width=(int)[1, 65535], height=(int)[1, 65535]"
#define CODED SIZE ", framerate=(fraction)[0/1, 2147483647/1]"

#define CAPS(layout)                                                              \
  "video/x-raw, format=" VIDEO_FORMATS ", " CODED                                 \
  "; audio/x-raw, format=" AUDIO_FORMATS                                          \
  ", rate=(int)[1, 768000], channels=(int)[1, 64], layout=" layout "; " ENCODED
#define ENCODED                                                         \
  "video/x-h264, stream-format=byte-stream, alignment=au, " CODED       \
  "; video/x-h265, stream-format=byte-stream, alignment=au, " CODED     \
  "; video/x-vp8, " CODED "; video/x-vp9, " CODED "; image/jpeg, " CODED

// A stream can have planar sound, which framebussink does not make.
const char *const plugin_source_caps = CAPS("{ interleaved, non-interleaved }");
const char *const plugin_sink_caps = CAPS("interleaved");

// A raw format's code of drm_fourcc.h. Formats that DRM stores in two ways are not here.
static const struct {
  GstVideoFormat format;
  char code[5];
} pictures[] = {
    {GST_VIDEO_FORMAT_BGRx, "XR24"},      {GST_VIDEO_FORMAT_BGRA, "AR24"},
    {GST_VIDEO_FORMAT_RGBx, "XB24"},      {GST_VIDEO_FORMAT_RGBA, "AB24"},
    {GST_VIDEO_FORMAT_xRGB, "BX24"},      {GST_VIDEO_FORMAT_xBGR, "RX24"},
    {GST_VIDEO_FORMAT_ARGB, "BA24"},      {GST_VIDEO_FORMAT_ABGR, "RA24"},
    {GST_VIDEO_FORMAT_RGB, "BG24"},       {GST_VIDEO_FORMAT_BGR, "RG24"},
    {GST_VIDEO_FORMAT_RGB16, "RG16"},     {GST_VIDEO_FORMAT_BGR16, "BG16"},
    {GST_VIDEO_FORMAT_YUY2, "YUYV"},      {GST_VIDEO_FORMAT_YVYU, "YVYU"},
    {GST_VIDEO_FORMAT_UYVY, "UYVY"},      {GST_VIDEO_FORMAT_VYUY, "VYUY"},
    {GST_VIDEO_FORMAT_NV12, "NV12"},      {GST_VIDEO_FORMAT_NV21, "NV21"},
    {GST_VIDEO_FORMAT_NV16, "NV16"},      {GST_VIDEO_FORMAT_NV61, "NV61"},
    {GST_VIDEO_FORMAT_NV24, "NV24"},      {GST_VIDEO_FORMAT_P010_10LE, "P010"},
    {GST_VIDEO_FORMAT_P012_LE, "P012"},   {GST_VIDEO_FORMAT_P016_LE, "P016"},
    {GST_VIDEO_FORMAT_I420, "YU12"},      {GST_VIDEO_FORMAT_YV12, "YV12"},
    {GST_VIDEO_FORMAT_Y42B, "YU16"},      {GST_VIDEO_FORMAT_Y444, "YU24"},
    {GST_VIDEO_FORMAT_I420_10LE, "S010"}, {GST_VIDEO_FORMAT_I422_10LE, "S210"},
    {GST_VIDEO_FORMAT_Y444_10LE, "S410"}, {GST_VIDEO_FORMAT_VUYA, "AYUV"},
    {GST_VIDEO_FORMAT_RGBA64_LE, "AB48"}, {GST_VIDEO_FORMAT_GRAY8, "R8  "},
    {GST_VIDEO_FORMAT_GRAY16_LE, "R16 "},
};

static const struct {
  char code[5];
  const char *caps;
} codecs[] = {
    {"H264", "video/x-h264, stream-format=byte-stream, alignment=au"},
    {"HEVC", "video/x-h265, stream-format=byte-stream, alignment=au"},
    {"VP80", "video/x-vp8"},
    {"VP90", "video/x-vp9"},
    {"MJPG", "image/jpeg"},
};

// By the numbers of framebus-types.h, from 1.
static const GstAudioFormat samples[] = {
    GST_AUDIO_FORMAT_UNKNOWN,  GST_AUDIO_FORMAT_U8,       GST_AUDIO_FORMAT_S8,
    GST_AUDIO_FORMAT_S16LE,    GST_AUDIO_FORMAT_S16BE,    GST_AUDIO_FORMAT_S24LE,
    GST_AUDIO_FORMAT_S24BE,    GST_AUDIO_FORMAT_S24_32LE, GST_AUDIO_FORMAT_S24_32BE,
    GST_AUDIO_FORMAT_S32LE,    GST_AUDIO_FORMAT_S32BE,    GST_AUDIO_FORMAT_F32LE,
    GST_AUDIO_FORMAT_F32BE,    GST_AUDIO_FORMAT_F64LE,    GST_AUDIO_FORMAT_F64BE,
};
// The bits that WAVEFORMATEXTENSIBLE and GStreamer give the same positions.
static const guint64 common_channels = 0xfff;

static guint32 fourcc(const char *code) {
  return FRAMEBUS_FOURCC(code[0], code[1], code[2], code[3]);
}

// ---- From caps ----

static void read_colors(framebus_format *format, const GstVideoColorimetry *colors) {
  format->color_primaries = (guint8)gst_video_color_primaries_to_iso(colors->primaries);
  format->color_transfer = (guint8)gst_video_transfer_function_to_iso(colors->transfer);
  format->color_matrix = (guint8)gst_video_color_matrix_to_iso(colors->matrix);
  if (colors->range == GST_VIDEO_COLOR_RANGE_0_255) format->color_range = FRAMEBUS_RANGE_FULL;
  if (colors->range == GST_VIDEO_COLOR_RANGE_16_235) format->color_range = FRAMEBUS_RANGE_LIMITED;
}

static void read_size(framebus_format *format, const GstStructure *structure) {
  gint width = 0, height = 0, numerator = 0, denominator = 1;
  gst_structure_get_int(structure, "width", &width);
  gst_structure_get_int(structure, "height", &height);
  gst_structure_get_fraction(structure, "framerate", &numerator, &denominator);
  format->width = (guint32)CLAMP(width, 0, 65535);
  format->height = (guint32)CLAMP(height, 0, 65535);
  gboolean is_known = numerator > 0 && denominator > 0;
  format->rate_numerator = is_known ? (guint32)numerator : 0;
  format->rate_denominator = is_known ? (guint32)denominator : 1;
}

static gboolean read_picture(PluginFormat *self, const GstCaps *caps, const char **problem) {
  framebus_format *format = &self->format;
  if (!gst_video_info_from_caps(&self->video, caps)) {
    *problem = "the caps are incomplete";
    return FALSE;
  }
  if (GST_VIDEO_INFO_PAR_N(&self->video) != GST_VIDEO_INFO_PAR_D(&self->video)) {
    *problem = "its pixels are not square, and streams have only such; put videoscale before "
               "framebussink";
    return FALSE;
  }
  if (GST_VIDEO_INFO_IS_INTERLACED(&self->video)) {
    *problem = "the picture is interlaced; put deinterlace before framebussink";
    return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS(pictures); i += 1) {
    if (pictures[i].format == GST_VIDEO_INFO_FORMAT(&self->video)) {
      format->fourcc = fourcc(pictures[i].code);
    }
  }
  if (format->fourcc == 0 || GST_VIDEO_INFO_SIZE(&self->video) > G_MAXUINT32) {
    *problem = "streams have no such format; put videoconvert before framebussink";
    return FALSE;
  }
  format->plane_count = GST_VIDEO_INFO_N_PLANES(&self->video);
  for (guint i = 0; i < format->plane_count; i += 1) {
    format->planes[i].offset = (guint32)GST_VIDEO_INFO_PLANE_OFFSET(&self->video, i);
    format->planes[i].stride = (guint32)GST_VIDEO_INFO_PLANE_STRIDE(&self->video, i);
  }
  format->byte_count = GST_VIDEO_INFO_SIZE(&self->video);
  read_colors(format, &GST_VIDEO_INFO_COLORIMETRY(&self->video));
  self->is_raw_video = TRUE;
  return TRUE;
}

static gboolean read_sound(PluginFormat *self, const GstCaps *caps, guint32 sound,
                           const char **problem) {
  framebus_format *format = &self->format;
  if (!gst_audio_info_from_caps(&self->audio, caps)) {
    *problem = "the caps are incomplete";
    return FALSE;
  }
  format->kind = sound;
  format->fourcc = FRAMEBUS_PCM;
  for (guint i = 1; i < G_N_ELEMENTS(samples); i += 1) {
    if (samples[i] == GST_AUDIO_INFO_FORMAT(&self->audio)) format->sample_format = i;
  }
  format->sample_rate = (guint32)GST_AUDIO_INFO_RATE(&self->audio);
  format->channel_count = (guint32)GST_AUDIO_INFO_CHANNELS(&self->audio);
  format->is_planar = GST_AUDIO_INFO_LAYOUT(&self->audio) == GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  if (format->sample_format == 0 || format->is_planar) {
    *problem = "streams have no such sound; put audioconvert before framebussink";
    return FALSE;
  }
  guint64 mask = 0;
  gst_structure_get(gst_caps_get_structure(caps, 0), "channel-mask", GST_TYPE_BITMASK, &mask, NULL);
  if ((mask & ~common_channels) == 0) format->channel_mask = mask;
  // A tenth of a second; framebussink makes room for longer buffers when they come.
  guint32 longest = MAX(format->sample_rate / 10, 1);
  format->byte_count = (guint64)longest * (guint64)GST_AUDIO_INFO_BPF(&self->audio);
  self->is_raw_audio = TRUE;
  return TRUE;
}

gboolean plugin_format_from_caps(PluginFormat *self, const GstCaps *caps, guint32 sound,
                                 const char **problem) {
  const GstStructure *structure = gst_caps_get_structure(caps, 0);
  memset(self, 0, sizeof *self);
  self->format.size = sizeof self->format;
  self->format.kind = FRAMEBUS_KIND_VIDEO;
  self->format.rate_denominator = 1;
  self->format.color_primaries = 2;
  self->format.color_transfer = 2;
  self->format.color_matrix = 2;
  if (gst_structure_has_name(structure, "audio/x-raw")) {
    return read_sound(self, caps, sound, problem);
  }
  read_size(&self->format, structure);
  if (gst_structure_has_name(structure, "video/x-raw")) return read_picture(self, caps, problem);
  for (guint i = 0; i < G_N_ELEMENTS(codecs); i += 1) {
    GstCaps *known = gst_caps_from_string(codecs[i].caps);
    const char *name = gst_structure_get_name(gst_caps_get_structure(known, 0));
    if (gst_structure_has_name(structure, name)) {
      self->format.fourcc = fourcc(codecs[i].code);
    }
    gst_caps_unref(known);
  }
  // Half of the raw picture; framebussink makes room for more when it comes.
  guint64 pixels = (guint64)self->format.width * self->format.height;
  self->format.byte_count = CLAMP(pixels, 256 << 10, G_MAXUINT32);
  *problem = "streams have no such encoding";
  return self->format.fourcc != 0;
}

// ---- To caps ----

static void write_colors(GstVideoColorimetry *colors, const framebus_format *format) {
  if (format->color_primaries != 2) {
    colors->primaries = gst_video_color_primaries_from_iso(format->color_primaries);
  }
  if (format->color_transfer != 2) {
    colors->transfer = gst_video_transfer_function_from_iso(format->color_transfer);
  }
  if (format->color_matrix != 2) {
    colors->matrix = gst_video_color_matrix_from_iso(format->color_matrix);
  }
  if (format->color_range == FRAMEBUS_RANGE_FULL) colors->range = GST_VIDEO_COLOR_RANGE_0_255;
  if (format->color_range == FRAMEBUS_RANGE_LIMITED) colors->range = GST_VIDEO_COLOR_RANGE_16_235;
}

// Whether each row of each plane lies in the frame: the library has checked it, and nothing that
// another process wrote is worth a doubt here.
static gboolean planes_fit(const GstVideoInfo *video, guint64 byte_count) {
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(video); plane += 1) {
    gint component[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(video->finfo, plane, component);
    guint64 rows = (guint64)GST_VIDEO_INFO_COMP_HEIGHT(video, component[0]);
    guint64 row = (guint64)GST_VIDEO_INFO_COMP_WIDTH(video, component[0]) *
                  (guint64)GST_VIDEO_INFO_COMP_PSTRIDE(video, component[0]);
    guint64 stride = (guint64)GST_VIDEO_INFO_PLANE_STRIDE(video, plane);
    guint64 offset = GST_VIDEO_INFO_PLANE_OFFSET(video, plane);
    if (rows == 0 || offset + (rows - 1) * stride + row > byte_count) return FALSE;
  }
  return TRUE;
}

// Lets the planes begin at the visible part, at the pixel before it that all planes have.
static void crop_planes(GstVideoInfo *video, const framebus_rect *crop) {
  gint x_mask = 0, y_mask = 0;
  for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS(video); i += 1) {
    x_mask |= (1 << GST_VIDEO_FORMAT_INFO_W_SUB(video->finfo, i)) - 1;
    y_mask |= (1 << GST_VIDEO_FORMAT_INFO_H_SUB(video->finfo, i)) - 1;
  }
  gint x = (gint)crop->x & ~x_mask, y = (gint)crop->y & ~y_mask;
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(video); plane += 1) {
    gint component[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(video->finfo, plane, component);
    gint column = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(video->finfo, component[0], x);
    gint row = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(video->finfo, component[0], y);
    video->offset[plane] += (gsize)row * (gsize)video->stride[plane] +
                            (gsize)column * (gsize)GST_VIDEO_INFO_COMP_PSTRIDE(video, component[0]);
  }
  video->width = (gint)crop->width;
  video->height = (gint)crop->height;
}

static GstCaps *picture_caps(PluginFormat *self, const framebus_rect *crop) {
  const framebus_format *format = &self->format;
  GstVideoFormat known = GST_VIDEO_FORMAT_UNKNOWN;
  for (guint i = 0; i < G_N_ELEMENTS(pictures); i += 1) {
    if (fourcc(pictures[i].code) == format->fourcc) known = pictures[i].format;
  }
  if (known == GST_VIDEO_FORMAT_UNKNOWN ||
      !gst_video_info_set_format(&self->video, known, format->width, format->height) ||
      format->plane_count != GST_VIDEO_INFO_N_PLANES(&self->video)) {
    return NULL;
  }
  for (guint i = 0; i < format->plane_count; i += 1) {
    if (format->planes[i].stride > G_MAXINT) return NULL;
    self->video.offset[i] = format->planes[i].offset;
    self->video.stride[i] = (gint)format->planes[i].stride;
  }
  if (!planes_fit(&self->video, format->byte_count)) return NULL;
  if (crop->width > 0 && crop->height > 0) crop_planes(&self->video, crop);
  if (!planes_fit(&self->video, format->byte_count)) return NULL;
  self->video.size = (gsize)format->byte_count;
  GST_VIDEO_INFO_FPS_N(&self->video) = (gint)MIN(format->rate_numerator, G_MAXINT);
  GST_VIDEO_INFO_FPS_D(&self->video) = (gint)CLAMP(format->rate_denominator, 1, G_MAXINT);
  write_colors(&GST_VIDEO_INFO_COLORIMETRY(&self->video), format);
  // The stream does not say it; the usual place would be a guess.
  GST_VIDEO_INFO_CHROMA_SITE(&self->video) = GST_VIDEO_CHROMA_SITE_UNKNOWN;
  self->is_raw_video = TRUE;
  return gst_video_info_to_caps(&self->video);
}

static GstCaps *sound_caps(PluginFormat *self) {
  const framebus_format *format = &self->format;
  if (format->fourcc != FRAMEBUS_PCM || format->sample_format == 0 ||
      format->sample_format >= G_N_ELEMENTS(samples) || format->channel_count == 0 ||
      format->channel_count > 64) {
    return NULL;
  }
  GstAudioChannelPosition positions[64];
  for (guint i = 0; i < 64; i += 1) positions[i] = GST_AUDIO_CHANNEL_POSITION_NONE;
  gint channels = (gint)format->channel_count;
  guint64 mask = format->channel_mask & common_channels;
  gboolean is_placed = mask != 0 && mask == format->channel_mask &&
                       gst_audio_channel_positions_from_mask(channels, mask, positions);
  gst_audio_info_set_format(&self->audio, samples[format->sample_format],
                            (gint)format->sample_rate, channels,
                            is_placed || channels > 2 ? positions : NULL);
  if (format->is_planar) self->audio.layout = GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  self->is_raw_audio = TRUE;
  return gst_audio_info_to_caps(&self->audio);
}

GstCaps *plugin_format_to_caps(PluginFormat *self, const framebus_format *format,
                               const framebus_rect *crop) {
  memset(self, 0, sizeof *self);
  self->format = *format;
  if (format->kind == FRAMEBUS_KIND_APP_AUDIO || format->kind == FRAMEBUS_KIND_MIC_AUDIO) {
    return sound_caps(self);
  }
  if (format->kind != FRAMEBUS_KIND_VIDEO) return NULL;
  for (guint i = 0; i < G_N_ELEMENTS(codecs); i += 1) {
    if (fourcc(codecs[i].code) != format->fourcc) continue;
    GstCaps *caps = gst_caps_from_string(codecs[i].caps);
    if (format->width > 0 && format->height > 0) {
      gst_caps_set_simple(caps, "width", G_TYPE_INT, (gint)format->width, "height", G_TYPE_INT,
                          (gint)format->height, NULL);
    }
    gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION,
                        (gint)MIN(format->rate_numerator, G_MAXINT),
                        (gint)CLAMP(format->rate_denominator, 1, G_MAXINT), NULL);
    return caps;
  }
  return picture_caps(self, crop);
}
