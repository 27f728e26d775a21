#include "CPictureToI420.h"

#if __has_include(<libyuv.h>) && __has_include(<gst/gst.h>)
#include <libyuv.h>

#define CODE(a, b, c, d) \
  ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/// libyuv's name for a packed format, and the bytes of a pixel; 0 for another one.
static uint32_t packed(uint32_t fourcc, uint32_t *pixelBytes) {
  *pixelBytes = 4;
  switch (fourcc) {
    case CODE('X', 'R', '2', '4'):
    case CODE('A', 'R', '2', '4'): return FOURCC_ARGB;
    case CODE('X', 'B', '2', '4'):
    case CODE('A', 'B', '2', '4'): return FOURCC_ABGR;
    default: break;
  }
  *pixelBytes = 2;
  switch (fourcc) {
    case CODE('Y', 'U', 'Y', 'V'): return FOURCC_YUY2;
    case CODE('U', 'Y', 'V', 'Y'): return FOURCC_UYVY;
    default: return 0;
  }
}

static bool is_planar(uint32_t fourcc) {
  return fourcc == CODE('Y', 'U', '1', '2') || fourcc == CODE('N', 'V', '1', '2') ||
         fourcc == CODE('Y', 'U', '1', '6');
}

bool fb_i420_takes(uint32_t fourcc, uint32_t degrees) {
  uint32_t pixelBytes;
  if (packed(fourcc, &pixelBytes) != 0) return degrees % 90 == 0 && degrees < 360;
  return is_planar(fourcc) && degrees == 0;
}

static bool convert_planar(const struct fb_i420_source *source, uint8_t *const plane[3],
                           const uint32_t stride[3]) {
  const uint8_t *luma = source->plane[0] + (size_t)source->y * source->stride[0] + source->x;
  // Chroma rows of 4:2:2 are as many as luma rows.
  bool isHalfHeight = source->fourcc != CODE('Y', 'U', '1', '6');
  size_t row = isHalfHeight ? source->y / 2 : source->y;
  int width = (int)source->width, height = (int)source->height, result;
  if (source->fourcc == CODE('N', 'V', '1', '2')) {
    const uint8_t *chroma = source->plane[1] + row * source->stride[1] + (source->x & ~1u);
    result = NV12ToI420(luma, (int)source->stride[0], chroma, (int)source->stride[1], plane[0],
                        (int)stride[0], plane[1], (int)stride[1], plane[2], (int)stride[2], width,
                        height);
  } else {
    const uint8_t *u = source->plane[1] + row * source->stride[1] + source->x / 2;
    const uint8_t *v = source->plane[2] + row * source->stride[2] + source->x / 2;
    result = (isHalfHeight ? I420Copy : I422ToI420)(
        luma, (int)source->stride[0], u, (int)source->stride[1], v,
                      (int)source->stride[2], plane[0], (int)stride[0], plane[1], (int)stride[1],
                      plane[2], (int)stride[2], width, height);
  }
  return result == 0;
}

bool fb_i420_convert(const struct fb_i420_source *source, uint8_t *const plane[3],
                     const uint32_t stride[3]) {
  if (!fb_i420_takes(source->fourcc, source->degrees)) return false;
  if (is_planar(source->fourcc)) return convert_planar(source, plane, stride);
  uint32_t pixelBytes, name = packed(source->fourcc, &pixelBytes);
  // libyuv takes a row's pixels for its stride, and an even number of them.
  if (source->stride[0] % 4 != 0) return false;
  int columns = (int)(source->stride[0] / pixelBytes);
  size_t byteCount = (size_t)source->stride[0] * (source->y + source->height);
  return ConvertToI420(source->plane[0], byteCount, plane[0], (int)stride[0], plane[1],
                       (int)stride[1], plane[2], (int)stride[2], (int)source->x, (int)source->y,
                       columns, (int)(source->y + source->height), (int)source->width,
                       (int)source->height, (enum RotationMode)source->degrees,
                       name) == 0;
}

static void blacken(const struct fb_i420_picture *picture) {
  I420Rect(picture->plane[0], (int)picture->stride[0], picture->plane[1], (int)picture->stride[1],
           picture->plane[2], (int)picture->stride[2], 0, 0, (int)picture->width,
           (int)picture->height, 16, 128, 128);
}

bool fb_i420_fit(const struct fb_i420_picture *source, const struct fb_i420_picture *target) {
  uint64_t width = target->width, height = target->height;
  if (source->width == 0 || source->height == 0 || width < 2 || height < 2) return false;
  if (width * source->height > height * source->width) {
    width = height * source->width / source->height;
  } else {
    height = width * source->height / source->width;
  }
  // Chroma has half the width and height.
  width = width < 2 ? 2 : width & ~(uint64_t)1;
  height = height < 2 ? 2 : height & ~(uint64_t)1;
  size_t x = (target->width - width) / 2 & ~(uint64_t)1;
  size_t y = (target->height - height) / 2 & ~(uint64_t)1;
  if (width < target->width || height < target->height) blacken(target);
  return I420Scale(source->plane[0], (int)source->stride[0], source->plane[1],
                   (int)source->stride[1], source->plane[2], (int)source->stride[2],
                   (int)source->width, (int)source->height,
                   target->plane[0] + y * target->stride[0] + x, (int)target->stride[0],
                   target->plane[1] + y / 2 * target->stride[1] + x / 2, (int)target->stride[1],
                   target->plane[2] + y / 2 * target->stride[2] + x / 2, (int)target->stride[2],
                   (int)width, (int)height, kFilterBox) == 0;
}
#endif
