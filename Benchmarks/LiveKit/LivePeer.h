#pragma once
#define GST_USE_UNSTABLE_API
#include <gst/gst.h>
#include <gst/sdp/sdp.h>
#include <gst/webrtc/webrtc.h>

/// Creates a pipeline from a description, which is freed.
GstElement *live_launch(char *description);
/// Makes libnice use loopback addresses, which it skips by default.
void live_use_loopback(GstElement *peer);
/// Waits until an enumeration property of the peer has this value.
void live_wait_for(GstElement *peer, const char *property, int value);
void live_set_description(GstElement *peer, const char *signal, GstWebRTCSDPType type,
                          const char *text);
/// Creates an offer or answer, sets it, and returns it with all candidates. Free it with g_free.
char *live_describe(GstElement *peer, const char *signal, const char *field,
                    GstWebRTCSDPType type);
