// The sink of a sound pipeline: puts arriving sound into a ring (CSoundRing.h).
#pragma once
#if __has_include(<gst/gst.h>)
#include <gst/audio/audio.h>
#include <gst/gst.h>

#include "CSoundRing.h"

enum { FB_SOUND_FORMATS = 16 };

struct fb_sound_sink;

/// The format of pieces with one format number.
struct fb_sound_format {
  GstAudioFormat format;
  int32_t rate, channels;
  uint64_t channelMask;
  bool isInterleaved;
};

/// Attaches to the element called `sinkName` of a pipeline that is not running yet. NULL if there
/// is no such element. `isLive`: stamps by CLOCK_MONOTONIC and drops sound if the ring is full;
/// otherwise the pipeline waits.
struct fb_sound_sink *fb_sound_sink_new(GstElement *pipeline, const char *sinkName, bool isLive);
/// Call when the pipeline has stopped.
void fb_sound_sink_free(struct fb_sound_sink *sink);
/// Wakes a waiting pipeline, so that it can be stopped.
void fb_sound_sink_flush(struct fb_sound_sink *sink);

struct fb_sound_ring *fb_sound_sink_ring(struct fb_sound_sink *sink);
/// The format with that number, of a piece that was peeked. False if the number is unknown.
bool fb_sound_sink_format(struct fb_sound_sink *sink, uint32_t number,
                          struct fb_sound_format *format);
/// Whether the pipeline has ended; everything that it sent before is in the ring.
bool fb_sound_sink_has_ended(struct fb_sound_sink *sink);
#endif
