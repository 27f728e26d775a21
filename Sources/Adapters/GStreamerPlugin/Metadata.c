#include "Plugin.h"

#include <string.h>

// In EXIF's order, as GStreamer's own reader of EXIF maps them.
static const char *const orientation_tags[] = {
    "rotate-0",        "flip-rotate-0", "rotate-180",      "flip-rotate-180",
    "flip-rotate-270", "rotate-90",     "flip-rotate-90",  "rotate-270",
};

const char *plugin_orientation_tag(guint32 orientation) {
  return orientation_tags[orientation >= 1 && orientation <= 8 ? orientation - 1 : 0];
}

guint32 plugin_orientation_from_tag(const char *tag) {
  for (guint32 i = 0; i < G_N_ELEMENTS(orientation_tags); i += 1) {
    if (strcmp(tag, orientation_tags[i]) == 0) return i + 1;
  }
  return 1;
}

static GQuark damage_type(void) { return g_quark_from_static_string("damage"); }

void plugin_metadata_add_damage(GstBuffer *buffer, const framebus_metadata *metadata,
                                const framebus_rect *crop) {
  if (metadata->damage_count > FRAMEBUS_MAXIMUM_DAMAGE) return;
  // Nothing changed: one empty region, because none at all is everything.
  if (metadata->damage_count == 0) {
    gst_buffer_add_video_region_of_interest_meta_id(buffer, damage_type(), 0, 0, 0, 0);
  }
  for (guint32 i = 0; i < metadata->damage_count; i += 1) {
    framebus_rect rect = metadata->damage[i];
    if (crop->width > 0) {
      guint32 right = MIN(rect.x + rect.width, crop->x + crop->width);
      guint32 bottom = MIN(rect.y + rect.height, crop->y + crop->height);
      guint32 left = MAX(rect.x, crop->x), top = MAX(rect.y, crop->y);
      rect.x = left < right && top < bottom ? left - crop->x : 0;
      rect.y = left < right && top < bottom ? top - crop->y : 0;
      rect.width = left < right && top < bottom ? right - left : 0;
      rect.height = left < right && top < bottom ? bottom - top : 0;
    }
    gst_buffer_add_video_region_of_interest_meta_id(buffer, damage_type(), rect.x, rect.y,
                                                    rect.width, rect.height);
  }
}

void plugin_metadata_read_metas(framebus_metadata *metadata, GstBuffer *buffer) {
  gpointer position = NULL;
  GstMeta *meta;
  guint32 count = 0;
  gboolean is_limited = FALSE;
  while ((meta = gst_buffer_iterate_meta_filtered(
              buffer, &position, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) != NULL) {
    const GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *)meta;
    if (region->roi_type != damage_type()) continue;
    is_limited = TRUE;
    if (region->w == 0 || region->h == 0) continue;
    // More regions than a frame can carry: the whole picture is a correct answer.
    if (count < FRAMEBUS_MAXIMUM_DAMAGE) {
      metadata->damage[count] = (framebus_rect){region->x, region->y, region->w, region->h};
    }
    count += 1;
  }
  if (is_limited && count <= FRAMEBUS_MAXIMUM_DAMAGE) metadata->damage_count = count;
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta(buffer);
  if (crop != NULL && crop->width > 0 && crop->height > 0) {
    metadata->crop = (framebus_rect){crop->x, crop->y, crop->width, crop->height};
  }
}
