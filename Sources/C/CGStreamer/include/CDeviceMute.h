// Whether a sound server has muted a device, asked of the server by libpulse, which GStreamer's
// element for sound servers has loaded anyway.
#pragma once
#include <stdbool.h>

enum fb_mute { FB_MUTE_UNKNOWN, FB_MUTE_AUDIBLE, FB_MUTE_SOURCE, FB_MUTE_MONITORED_SINK };

struct fb_device_mute;

/// - Parameter source: the server's name for the device.
/// - Returns: NULL if libpulse is not there.
struct fb_device_mute *fb_device_mute_new(const char *source);
void fb_device_mute_free(struct fb_device_mute *mute);
/// Asks the server, and returns what its last answer says: the device, or the output that it
/// monitors, is muted or has volume 0. Never blocks.
enum fb_mute fb_device_mute_poll(struct fb_device_mute *mute);
