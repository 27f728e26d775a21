// Pictures of a PipeWire node (libpipewire), without its headers. The library is loaded when it is
// first used.
//
// All calls of one `fb_pipewire_capture` come from one thread, and none blocks.
#pragma once

#include "CPipeWireCamera.h"
#include "CPipeWireSound.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fb_pipewire_state {
  FB_PIPEWIRE_CONNECTING,
  /// A format is agreed on, and pictures arrive if the capture is active.
  FB_PIPEWIRE_READY,
  /// The node has ended, or was none.
  FB_PIPEWIRE_NO_NODE,
  /// The server has ended.
  FB_PIPEWIRE_NO_SERVER,
  /// It cannot go on: see `fb_pipewire_capture_failure`.
  FB_PIPEWIRE_FAILED,
};

struct fb_pipewire_format {
  /// A DRM code.
  uint32_t fourcc;
  uint32_t width;
  uint32_t height;
};

struct fb_pipewire_rect {
  uint32_t x;
  uint32_t y;
  uint32_t width;
  uint32_t height;
};

enum { FB_PIPEWIRE_MAXIMUM_DAMAGE = 16 };

/// The newest picture. Rectangles lie in the picture of the format, and damage is what has changed
/// since the picture that was copied last.
struct fb_pipewire_picture {
  /// The visible part.
  struct fb_pipewire_rect crop;
  /// On CLOCK_MONOTONIC as the producer says; 0 if it does not.
  uint64_t ptsNs;
  /// How it was turned, by SPA_META_VideoTransform; any number.
  uint32_t transform;
  bool isFullDamage;
  uint32_t damageCount;
  struct fb_pipewire_rect damage[FB_PIPEWIRE_MAXIMUM_DAMAGE];
};

struct fb_pipewire_capture;

/// Loads the library.
/// - Returns: why it cannot be loaded; NULL if it is.
const char *fb_pipewire_load(void);

/// - Parameters:
///   - remote: a connection, which this takes over; negative for the user's server.
///   - numerator: the highest rate of pictures, with `denominator`.
/// - Returns: NULL without memory, or without a server.
struct fb_pipewire_capture *fb_pipewire_capture_new(int remote, uint32_t node, uint32_t numerator,
                                                    uint32_t denominator);

void fb_pipewire_capture_free(struct fb_pipewire_capture *capture);

/// Readable when `fb_pipewire_capture_iterate` has something to do.
int fb_pipewire_capture_descriptor(const struct fb_pipewire_capture *capture);

/// Handles what has arrived.
enum fb_pipewire_state fb_pipewire_capture_iterate(struct fb_pipewire_capture *capture);

/// Text of this or another program.
const char *fb_pipewire_capture_failure(const struct fb_pipewire_capture *capture);

/// Whether the producer shall make pictures.
void fb_pipewire_capture_set_active(struct fb_pipewire_capture *capture, bool isActive);

/// Links the node again, which has its producer make a picture although nothing changes.
void fb_pipewire_capture_restart(struct fb_pipewire_capture *capture);

/// The format that pictures have from now on.
/// - Returns: false if it is the one that the last call returned.
bool fb_pipewire_capture_take_format(struct fb_pipewire_capture *capture,
                                     struct fb_pipewire_format *format);

/// Whether a picture has arrived since the last copy.
bool fb_pipewire_capture_has_new(const struct fb_pipewire_capture *capture);

/// The newest picture, which stays until another one arrives.
/// - Returns: false if there is none.
bool fb_pipewire_capture_newest(const struct fb_pipewire_capture *capture,
                                struct fb_pipewire_picture *picture);

/// Copies the visible part of the newest picture, row after row without gaps.
/// - Returns: false if there is none, or if its memory does not hold it.
bool fb_pipewire_capture_copy(struct fb_pipewire_capture *capture, void *target,
                              size_t byteCount);

/// Pictures that newer ones replaced before they were copied.
uint64_t fb_pipewire_capture_skipped(const struct fb_pipewire_capture *capture);

/// Pictures whose memory did not hold what the producer said.
uint64_t fb_pipewire_capture_malformed(const struct fb_pipewire_capture *capture);
