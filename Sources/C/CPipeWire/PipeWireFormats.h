// The pixel formats that PipeWire and the frames have in common, and how they are offered.
#pragma once

#include <spa/param/video/format-utils.h>
#include <spa/pod/builder.h>
#include <stdint.h>

struct fb_pixel_format {
  uint32_t fourcc;
  enum spa_video_format format;
};

/// All have 4 bytes a pixel.
extern const struct fb_pixel_format fb_pixel_formats[];
extern const uint32_t fb_pixel_format_count;

enum { FB_PIXEL_BYTES = 4, FB_LONGEST_SIDE = 16384 };

/// - Parameters:
///   - isGraphicsMemory: DMA-BUF whose rows lie one after another, which a processor can read.
///   - rate: the highest.
struct spa_pod *fb_offer_formats(struct spa_pod_builder *builder, bool isGraphicsMemory,
                                 struct spa_fraction rate);
