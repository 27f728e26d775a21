// A node of PipeWire that browsers and meeting programs take for a camera (`Video/Source`).
//
// The library has a thread of its own for it. The calls here come from one other thread, and none
// waits for a reader: one that is slow loses pictures, and one that ends is gone.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb_camera_format {
  uint32_t width;
  uint32_t height;
  /// 0/1 if it is variable.
  uint32_t rateNumerator;
  uint32_t rateDenominator;
};

/// Where a picture goes, in I420: three planes, of which the second and third have half the width
/// and height, rounded up.
struct fb_camera_target {
  uint8_t *plane[3];
  uint32_t stride[3];
};

struct fb_camera;

/// Text of this or another program.
struct fb_camera_failure {
  char text[256];
};

/// Opens a connection with which a client can add nodes of its own, and neither see nor use any
/// other object of the server.
/// - Returns: its descriptor, or -1.
int fb_camera_grant(int timeoutMs, struct fb_camera_failure *failure);

/// - Parameters:
///   - name: what users see, and the name of the node.
///   - remote: a connection, which this takes over; negative for the user's server.
/// - Returns: NULL without a server, or without memory.
struct fb_camera *fb_camera_new(const char *name, int remote);

/// Ends the node, and its readers' streams with it.
void fb_camera_free(struct fb_camera *camera);

/// The format of the following pictures. Readers negotiate again if it is another one.
bool fb_camera_set_format(struct fb_camera *camera, const struct fb_camera_format *format);

/// Whether it cannot go on, as after the end of the server.
bool fb_camera_has_failed(struct fb_camera *camera);

/// Text of this or another program.
const char *fb_camera_failure(const struct fb_camera *camera);

/// Begins a picture.
/// - Returns: false if nobody reads, or if readers hold all buffers. Else `fb_camera_end` follows,
///   from the same thread, and nothing else of the camera in between.
bool fb_camera_begin(struct fb_camera *camera, struct fb_camera_target *target);

/// Delivers the picture to all readers.
void fb_camera_end(struct fb_camera *camera, uint64_t ptsNs);
