// The end of a pipeline of sound: puts what arrives into a ring (CSoundRing.h).
#pragma once
#if __has_include(<gst/gst.h>)
#include <gst/audio/audio.h>
#include <gst/gst.h>

#include "CSoundRing.h"

enum { FB_SOUND_FORMATS = 16 };

struct fb_sound_sink;

/// What pieces of one format are.
struct fb_sound_format {
  GstAudioFormat format;
  int32_t rate, channels;
  uint64_t channelMask;
  bool isInterleaved;
};

/// Attaches to the element called `sink` of a pipeline that does not run yet. NULL without one.
/// `isLive`: stamped by CLOCK_MONOTONIC, and left out where there is no room; else it waits.
struct fb_sound_sink *fb_sound_sink_new(GstElement *pipeline, const char *sinkName, bool isLive);
/// Call when the pipeline has stopped.
void fb_sound_sink_free(struct fb_sound_sink *sink);
/// Lets a waiting pipeline go, so that it can be stopped.
void fb_sound_sink_flush(struct fb_sound_sink *sink);

struct fb_sound_ring *fb_sound_sink_ring(struct fb_sound_sink *sink);
/// The format of that number, of a piece that was peeked. False: there is none.
bool fb_sound_sink_format(struct fb_sound_sink *sink, uint32_t number,
                          struct fb_sound_format *format);
/// Whether the pipeline has come to its end; what it sent before lies in the ring.
bool fb_sound_sink_has_ended(struct fb_sound_sink *sink);
#endif
