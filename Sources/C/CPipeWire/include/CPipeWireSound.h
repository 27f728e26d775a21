// Sound of one PipeWire node: a device, an application, or what is played on an output. It is found
// by its name, and by no other: no microphone takes its place.
//
// All calls of one `fb_pipewire_sound` come from one thread, and none blocks.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// PipeWire converts to this: interleaved floats of two channels.
enum { FB_PIPEWIRE_SOUND_RATE = 48000, FB_PIPEWIRE_SOUND_CHANNELS = 2 };

enum fb_pipewire_sound_state {
  /// The server has not listed its nodes yet.
  FB_PIPEWIRE_SOUND_LISTING,
  /// No node has the name.
  FB_PIPEWIRE_SOUND_ABSENT,
  /// It is there, and the session manager has not linked it yet.
  FB_PIPEWIRE_SOUND_PRESENT,
  /// Its sound is recorded.
  FB_PIPEWIRE_SOUND_LINKED,
  /// The server has ended.
  FB_PIPEWIRE_SOUND_NO_SERVER,
  /// It cannot go on: see `fb_pipewire_sound_failure`.
  FB_PIPEWIRE_SOUND_FAILED,
};

struct fb_pipewire_sound;

/// Connects to the user's server. The library must be loaded (`fb_pipewire_load`).
/// - Parameter name: `node.name` or `application.name`, exactly.
/// - Returns: NULL without memory, or without a server.
struct fb_pipewire_sound *fb_pipewire_sound_new(const char *name);

void fb_pipewire_sound_free(struct fb_pipewire_sound *sound);

/// Readable when `fb_pipewire_sound_iterate` has something to do.
int fb_pipewire_sound_descriptor(const struct fb_pipewire_sound *sound);

/// Handles what has arrived. While the node is there, its sound is recorded; if it ends and
/// another one has the name, that one's.
enum fb_pipewire_sound_state fb_pipewire_sound_iterate(struct fb_pipewire_sound *sound);

/// Text of this or another program.
const char *fb_pipewire_sound_failure(const struct fb_pipewire_sound *sound);

/// The names of nodes with sound, as text of other programs, cut where it is long.
const char *fb_pipewire_sound_names(const struct fb_pipewire_sound *sound);

/// Takes the oldest piece.
/// - Parameters:
///   - capacity: of `samples`, in sample frames; a longer piece is taken in parts.
///   - firstNs: on CLOCK_MONOTONIC.
/// - Returns: the number of sample frames; 0 for none.
size_t fb_pipewire_sound_take(struct fb_pipewire_sound *sound, float *samples, size_t capacity,
                              uint64_t *firstNs);

/// Sample frames that were lost because nobody took them.
uint64_t fb_pipewire_sound_lost(const struct fb_pipewire_sound *sound);
