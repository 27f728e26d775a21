// Pictures of the bus as I420, by libyuv, straight into memory of a reader.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb_i420_source {
  /// A DRM code.
  uint32_t fourcc;
  const uint8_t *plane[4];
  uint32_t stride[4];
  /// The visible part. Formats with subsampled planes begin it at an even pixel.
  uint32_t x;
  uint32_t y;
  uint32_t width;
  uint32_t height;
  /// Clockwise, to be upright: 0, 90, 180 or 270.
  uint32_t degrees;
};

/// A picture in I420: the second and third plane have half the width and height, rounded up.
struct fb_i420_picture {
  uint8_t *plane[3];
  uint32_t stride[3];
  uint32_t width;
  uint32_t height;
};

/// Scales a picture into the middle of another one, with black around it.
/// - Returns: false for a picture without pixels, or a target that is smaller than 2 × 2.
bool fb_i420_fit(const struct fb_i420_picture *source, const struct fb_i420_picture *target);

/// Whether pictures of a code can be converted, and turned.
bool fb_i420_takes(uint32_t fourcc, uint32_t degrees);

/// - Parameters:
///   - plane: of the upright picture.
/// - Returns: false for a picture that it does not take.
bool fb_i420_convert(const struct fb_i420_source *source, uint8_t *const plane[3],
                     const uint32_t stride[3]);
