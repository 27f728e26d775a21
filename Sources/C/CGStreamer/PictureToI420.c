#include "CPictureToI420.h"

#if __has_include(<libyuv.h>) && __has_include(<gst/gst.h>)
#include <libyuv.h>

#define CODE(a, b, c, d) \
  ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

enum { RGB_BYTES = 4 };

/// libyuv's name for a packed format; 0 for another one.
static uint32_t packed(uint32_t fourcc) {
  switch (fourcc) {
    case CODE('X', 'R', '2', '4'):
    case CODE('A', 'R', '2', '4'): return FOURCC_ARGB;
    case CODE('X', 'B', '2', '4'):
    case CODE('A', 'B', '2', '4'): return FOURCC_ABGR;
    default: return 0;
  }
}

static bool is_planar(uint32_t fourcc) {
  return fourcc == CODE('Y', 'U', '1', '2') || fourcc == CODE('N', 'V', '1', '2');
}

bool fb_i420_takes(uint32_t fourcc, uint32_t degrees) {
  if (packed(fourcc) != 0) return degrees % 90 == 0 && degrees < 360;
  return is_planar(fourcc) && degrees == 0;
}

static bool convert_planar(const struct fb_i420_source *source, uint8_t *const plane[3],
                           const uint32_t stride[3]) {
  const uint8_t *luma = source->plane[0] + (size_t)source->y * source->stride[0] + source->x;
  size_t row = (size_t)(source->y / 2);
  int width = (int)source->width, height = (int)source->height, result;
  if (source->fourcc == CODE('N', 'V', '1', '2')) {
    const uint8_t *chroma = source->plane[1] + row * source->stride[1] + (source->x & ~1u);
    result = NV12ToI420(luma, (int)source->stride[0], chroma, (int)source->stride[1], plane[0],
                        (int)stride[0], plane[1], (int)stride[1], plane[2], (int)stride[2], width,
                        height);
  } else {
    const uint8_t *u = source->plane[1] + row * source->stride[1] + source->x / 2;
    const uint8_t *v = source->plane[2] + row * source->stride[2] + source->x / 2;
    result = I420Copy(luma, (int)source->stride[0], u, (int)source->stride[1], v,
                      (int)source->stride[2], plane[0], (int)stride[0], plane[1], (int)stride[1],
                      plane[2], (int)stride[2], width, height);
  }
  return result == 0;
}

bool fb_i420_convert(const struct fb_i420_source *source, uint8_t *const plane[3],
                     const uint32_t stride[3]) {
  if (!fb_i420_takes(source->fourcc, source->degrees)) return false;
  if (is_planar(source->fourcc)) return convert_planar(source, plane, stride);
  // libyuv takes a row's pixels for its stride.
  if (source->stride[0] % RGB_BYTES != 0) return false;
  int columns = (int)(source->stride[0] / RGB_BYTES);
  size_t byteCount = (size_t)source->stride[0] * (source->y + source->height);
  return ConvertToI420(source->plane[0], byteCount, plane[0], (int)stride[0], plane[1],
                       (int)stride[1], plane[2], (int)stride[2], (int)source->x, (int)source->y,
                       columns, (int)(source->y + source->height), (int)source->width,
                       (int)source->height, (enum RotationMode)source->degrees,
                       packed(source->fourcc)) == 0;
}
#endif
