// PipeWire's camera nodes, as GStreamer's device provider finds them.
#pragma once
#if __has_include(<gst/gst.h>)
#include <gst/gst.h>
#include <stdbool.h>
#include <stdint.h>

struct fb_camera_nodes;

/// The nodes of this moment. NULL without GStreamer's plugin for PipeWire, or without a server.
struct fb_camera_nodes *fb_camera_nodes_new(void);
void fb_camera_nodes_free(struct fb_camera_nodes *nodes);
/// Goes to the next node that is a camera, which is the first one at first. False behind the last.
bool fb_camera_nodes_next(struct fb_camera_nodes *nodes);
/// A property of the node, such as "node.name"; NULL without it. Of any content.
const char *fb_camera_nodes_text(const struct fb_camera_nodes *nodes, const char *property);

struct fb_node_mode {
  /// GStreamer's name of the pixel format.
  char format[16];
  /// Equal for one size; 0 for an unknown one.
  int32_t width, height, maximumWidth, maximumHeight;
  /// Frames per second: numerator and denominator of the lowest and the highest rate; 0 if unknown.
  int32_t rate[2], maximumRate[2];
};
/// A mode of the node without an encoding. False behind the last one.
bool fb_camera_nodes_mode(const struct fb_camera_nodes *nodes, uint32_t index,
                          struct fb_node_mode *mode);
#endif
