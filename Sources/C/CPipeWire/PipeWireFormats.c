#if __has_include(<pipewire/pipewire.h>)
#include <stdbool.h>

#include "PipeWireFormats.h"

#define CODE(a, b, c, d) \
  ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

const struct fb_pixel_format fb_pixel_formats[] = {
    {CODE('X', 'R', '2', '4'), SPA_VIDEO_FORMAT_BGRx},
    {CODE('A', 'R', '2', '4'), SPA_VIDEO_FORMAT_BGRA},
    {CODE('X', 'B', '2', '4'), SPA_VIDEO_FORMAT_RGBx},
    {CODE('A', 'B', '2', '4'), SPA_VIDEO_FORMAT_RGBA},
    {CODE('R', 'X', '2', '4'), SPA_VIDEO_FORMAT_xBGR},
    {CODE('B', 'X', '2', '4'), SPA_VIDEO_FORMAT_xRGB},
};
const uint32_t fb_pixel_format_count = sizeof fb_pixel_formats / sizeof *fb_pixel_formats;

/// DRM_FORMAT_MOD_LINEAR of the kernel's drm_fourcc.h.
enum { LINEAR = 0 };

struct spa_pod *fb_offer_formats(struct spa_pod_builder *builder, bool isGraphicsMemory,
                                 struct spa_fraction rate) {
  struct spa_pod_frame object, choice;
  spa_pod_builder_push_object(builder, &object, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
  spa_pod_builder_add(builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                      SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), 0);
  spa_pod_builder_prop(builder, SPA_FORMAT_VIDEO_format, 0);
  spa_pod_builder_push_choice(builder, &choice, SPA_CHOICE_Enum, 0);
  // The first of a choice is the preferred one, and is listed again.
  spa_pod_builder_id(builder, fb_pixel_formats[0].format);
  for (uint32_t i = 0; i < fb_pixel_format_count; i++) {
    spa_pod_builder_id(builder, fb_pixel_formats[i].format);
  }
  spa_pod_builder_pop(builder, &choice);
  if (isGraphicsMemory) {
    spa_pod_builder_prop(builder, SPA_FORMAT_VIDEO_modifier, SPA_POD_PROP_FLAG_MANDATORY);
    spa_pod_builder_long(builder, LINEAR);
  }
  struct spa_fraction slow = rate.num < rate.denom ? rate : SPA_FRACTION(1, 1);
  spa_pod_builder_add(
      builder, SPA_FORMAT_VIDEO_size,
      SPA_POD_CHOICE_RANGE_Rectangle(&SPA_RECTANGLE(1920, 1080), &SPA_RECTANGLE(1, 1),
                                     &SPA_RECTANGLE(FB_LONGEST_SIDE, FB_LONGEST_SIDE)),
      // 0 stands for pictures that come when something has changed.
      SPA_FORMAT_VIDEO_framerate,
      SPA_POD_CHOICE_RANGE_Fraction(&rate, &SPA_FRACTION(0, 1), &SPA_FRACTION(1000, 1)),
      SPA_FORMAT_VIDEO_maxFramerate, SPA_POD_CHOICE_RANGE_Fraction(&rate, &slow, &rate), 0);
  return spa_pod_builder_pop(builder, &object);
}
#endif
