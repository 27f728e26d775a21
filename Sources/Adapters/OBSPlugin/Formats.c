#include "Plugin.h"

#include <media-io/video-io.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

// Where OBS's format is here twice, the first one is published.
static const PluginLayout layouts[] = {
    {"XR24", VIDEO_FORMAT_BGRX, 1, {{4, 1, 1}}, false, false},
    {"AR24", VIDEO_FORMAT_BGRA, 1, {{4, 1, 1}}, false, false},
    {"AB24", VIDEO_FORMAT_RGBA, 1, {{4, 1, 1}}, false, false},
    {"XB24", VIDEO_FORMAT_RGBA, 1, {{4, 1, 1}}, false, true},
    {"RG24", VIDEO_FORMAT_BGR3, 1, {{3, 1, 1}}, false, false},
    {"R8  ", VIDEO_FORMAT_Y800, 1, {{1, 1, 1}}, false, false},
    {"YUYV", VIDEO_FORMAT_YUY2, 1, {{4, 2, 1}}, false, false},
    {"YVYU", VIDEO_FORMAT_YVYU, 1, {{4, 2, 1}}, false, false},
    {"UYVY", VIDEO_FORMAT_UYVY, 1, {{4, 2, 1}}, false, false},
    {"NV12", VIDEO_FORMAT_NV12, 2, {{1, 1, 1}, {2, 2, 2}}, false, false},
    {"P010", VIDEO_FORMAT_P010, 2, {{2, 1, 1}, {4, 2, 2}}, false, false},
    {"YU12", VIDEO_FORMAT_I420, 3, {{1, 1, 1}, {1, 2, 2}, {1, 2, 2}}, false, false},
    {"YV12", VIDEO_FORMAT_I420, 3, {{1, 1, 1}, {1, 2, 2}, {1, 2, 2}}, true, false},
    {"YU16", VIDEO_FORMAT_I422, 3, {{1, 1, 1}, {1, 2, 1}, {1, 2, 1}}, false, false},
    {"YU24", VIDEO_FORMAT_I444, 3, {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, false, false},
    {"S010", VIDEO_FORMAT_I010, 3, {{2, 1, 1}, {2, 2, 2}, {2, 2, 2}}, false, false},
    {"S210", VIDEO_FORMAT_I210, 3, {{2, 1, 1}, {2, 2, 1}, {2, 2, 1}}, false, false},
    {"S412", VIDEO_FORMAT_I412, 3, {{2, 1, 1}, {2, 1, 1}, {2, 1, 1}}, false, false},
};

uint32_t plugin_code(const PluginLayout *layout) {
  const char *code = layout->code;
  return FRAMEBUS_FOURCC(code[0], code[1], code[2], code[3]);
}

const PluginLayout *plugin_layout_of_code(uint32_t fourcc) {
  for (size_t i = 0; i < COUNT(layouts); i += 1) {
    if (plugin_code(&layouts[i]) == fourcc) return &layouts[i];
  }
  return NULL;
}

const PluginLayout *plugin_layout_of_format(enum video_format format) {
  // What OBS shows has no alpha, whatever its fourth byte says.
  if (format == VIDEO_FORMAT_BGRA) format = VIDEO_FORMAT_BGRX;
  if (format == VIDEO_FORMAT_RGBA) return NULL;
  for (size_t i = 0; i < COUNT(layouts); i += 1) {
    if (layouts[i].format == format) return &layouts[i];
  }
  return NULL;
}

uint32_t plugin_row_bytes(const PluginLayout *layout, int plane, uint32_t width) {
  uint32_t columns = layout->planes[plane].columns;
  return (width + columns - 1) / columns * layout->planes[plane].bytes;
}

uint32_t plugin_row_count(const PluginLayout *layout, int plane, uint32_t height) {
  uint32_t rows = layout->planes[plane].rows;
  return (height + rows - 1) / rows;
}

// ---- Colours ----

static enum video_colorspace color_space(const framebus_format *format) {
  if (format->color_transfer == 16) return VIDEO_CS_2100_PQ;
  if (format->color_transfer == 18) return VIDEO_CS_2100_HLG;
  switch (format->color_matrix) {
    case 1: return VIDEO_CS_709;
    case 5:
    case 6: return VIDEO_CS_601;
    // Unspecified: by size, as GStreamer and others do.
    default: return format->height > 576 ? VIDEO_CS_709 : VIDEO_CS_601;
  }
}

static void read_colors(struct obs_source_frame2 *frame, const framebus_format *format) {
  enum video_colorspace space = color_space(format);
  bool is_full = format->color_range == FRAMEBUS_RANGE_FULL ||
                 (format->color_range != FRAMEBUS_RANGE_LIMITED && !format_is_yuv(frame->format));
  frame->range = is_full ? VIDEO_RANGE_FULL : VIDEO_RANGE_PARTIAL;
  frame->trc = VIDEO_TRC_DEFAULT;
  if (space == VIDEO_CS_2100_PQ) frame->trc = VIDEO_TRC_PQ;
  if (space == VIDEO_CS_2100_HLG) frame->trc = VIDEO_TRC_HLG;
  video_format_get_parameters_for_format(space, frame->range, frame->format, frame->color_matrix,
                                         frame->color_range_min, frame->color_range_max);
}

void plugin_write_colors(framebus_format *format, enum video_colorspace space,
                         enum video_range_type range) {
  // Primaries, transfer and matrix by ITU-T H.273.
  static const struct {
    enum video_colorspace space;
    uint8_t values[3];
  } known[] = {
      {VIDEO_CS_601, {6, 6, 6}},      {VIDEO_CS_709, {1, 1, 1}},
      {VIDEO_CS_SRGB, {1, 13, 1}},    {VIDEO_CS_DEFAULT, {1, 1, 1}},
      {VIDEO_CS_2100_PQ, {9, 16, 9}}, {VIDEO_CS_2100_HLG, {9, 18, 9}},
  };
  const PluginLayout *layout = plugin_layout_of_code(format->fourcc);
  bool is_yuv = format_is_yuv(layout->format);
  for (size_t i = 0; i < COUNT(known); i += 1) {
    if (known[i].space != space) continue;
    format->color_primaries = known[i].values[0];
    format->color_transfer = known[i].values[1];
    format->color_matrix = is_yuv ? known[i].values[2] : 0;
  }
  bool is_full = !is_yuv || range == VIDEO_RANGE_FULL;
  format->color_range = is_full ? FRAMEBUS_RANGE_FULL : FRAMEBUS_RANGE_LIMITED;
}

// ---- Pictures ----

// EXIF's orientations as OBS draws them: turned upside down first, then counterclockwise.
static const struct {
  bool flips;
  long rotation;
} orientations[] = {
    {false, 0}, {true, 180}, {false, 180}, {true, 0},
    {true, 270}, {false, 270}, {true, 90}, {false, 90},
};

// Where the visible part begins: at the pixel that all planes have.
static void locate_crop(const PluginLayout *layout, const framebus_rect *crop, uint32_t *x,
                        uint32_t *y) {
  uint32_t columns = 1, rows = 1;
  for (int plane = 0; plane < layout->plane_count; plane += 1) {
    if (layout->planes[plane].columns > columns) columns = layout->planes[plane].columns;
    if (layout->planes[plane].rows > rows) rows = layout->planes[plane].rows;
  }
  *x = crop->x / columns * columns;
  *y = crop->y / rows * rows;
}

const char *plugin_describe_picture(PluginPicture *self, const framebus_format *format,
                                    const framebus_metadata *metadata, uint64_t byte_count) {
  memset(self, 0, sizeof *self);
  if (format->kind != FRAMEBUS_KIND_VIDEO) {
    return "it has no pictures; choose a stream with sound under Sound";
  }
  const PluginLayout *layout = plugin_layout_of_code(format->fourcc);
  if (layout == NULL) {
    return "OBS cannot draw its format; publish raw pictures, for example as NV12 or BGRx";
  }
  framebus_rect whole = {0, 0, format->width, format->height}, crop = metadata->crop;
  if (crop.width == 0 || crop.height == 0) crop = whole;
  if (format->width == 0 || format->height == 0 ||
      (uint64_t)crop.x + crop.width > whole.width ||
      (uint64_t)crop.y + crop.height > whole.height ||
      format->plane_count != (uint32_t)layout->plane_count) {
    return "its format contradicts itself; report this to the author of its publisher";
  }
  uint32_t x, y;
  locate_crop(layout, &crop, &x, &y);
  self->layout = layout;
  self->frame.format = layout->format;
  self->frame.width = crop.width;
  self->frame.height = crop.height;
  for (int plane = 0; plane < layout->plane_count; plane += 1) {
    int shown = layout->swaps_chroma && plane > 0 ? 3 - plane : plane;
    uint64_t stride = format->planes[plane].stride;
    uint64_t row = plugin_row_bytes(layout, plane, crop.width);
    uint64_t offset = format->planes[plane].offset +
                      y / layout->planes[plane].rows * stride +
                      plugin_row_bytes(layout, plane, x);
    uint64_t last = offset + (plugin_row_count(layout, plane, crop.height) - 1) * stride;
    // OBS copies each row up to the shorter of both strides, so none may be shorter than its row.
    if (stride < row || last + row > byte_count) {
      return "its rows lie outside its frames; report this to the author of its publisher";
    }
    self->offsets[shown] = (size_t)offset;
    self->frame.linesize[shown] = (uint32_t)stride;
  }
  uint32_t orientation = metadata->orientation;
  if (orientation < 1 || orientation > COUNT(orientations)) orientation = 1;
  self->frame.flip = orientations[orientation - 1].flips;
  self->rotation = orientations[orientation - 1].rotation;
  read_colors(&self->frame, format);
  return NULL;
}

// ---- Sound ----

const char *plugin_describe_sound(struct obs_source_audio *audio, const framebus_format *format) {
  static const struct {
    uint32_t sample_format;
    enum audio_format interleaved, planar;
  } samples[] = {
      {FRAMEBUS_U8, AUDIO_FORMAT_U8BIT, AUDIO_FORMAT_U8BIT_PLANAR},
      {FRAMEBUS_S16LE, AUDIO_FORMAT_16BIT, AUDIO_FORMAT_16BIT_PLANAR},
      {FRAMEBUS_S32LE, AUDIO_FORMAT_32BIT, AUDIO_FORMAT_32BIT_PLANAR},
      {FRAMEBUS_F32LE, AUDIO_FORMAT_FLOAT, AUDIO_FORMAT_FLOAT_PLANAR},
  };
  memset(audio, 0, sizeof *audio);
  if (format->kind != FRAMEBUS_KIND_APP_AUDIO && format->kind != FRAMEBUS_KIND_MIC_AUDIO) {
    return "it has no sound; choose a stream with pictures under Stream";
  }
  if (format->fourcc == FRAMEBUS_PCM) {
    for (size_t i = 0; i < COUNT(samples); i += 1) {
      if (samples[i].sample_format != format->sample_format) continue;
      audio->format = format->is_planar ? samples[i].planar : samples[i].interleaved;
    }
  }
  uint32_t channels = format->channel_count;
  if (channels == 8) audio->speakers = SPEAKERS_7POINT1;
  if (channels >= 1 && channels <= 6) audio->speakers = (enum speaker_layout)channels;
  audio->samples_per_sec = format->sample_rate;
  if (audio->format == AUDIO_FORMAT_UNKNOWN || audio->speakers == SPEAKERS_UNKNOWN ||
      format->sample_rate == 0) {
    return "OBS cannot play its format; publish S16LE or F32LE with 1 to 6 or 8 channels";
  }
  return NULL;
}
