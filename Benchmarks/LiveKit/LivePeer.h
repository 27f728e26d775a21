#pragma once
#define GST_USE_UNSTABLE_API
#include <gst/gst.h>
#include <gst/sdp/sdp.h>
#include <gst/webrtc/webrtc.h>

/// A pipeline of a description, which is freed.
GstElement *live_launch(char *description);
/// libnice makes no candidates of loopback unless it is told to.
void live_use_loopback(GstElement *peer);
/// Waits until an enumeration of the peer has that value.
void live_wait_for(GstElement *peer, const char *property, int value);
void live_set_description(GstElement *peer, const char *signal, GstWebRTCSDPType type,
                          const char *text);
/// Makes an offer or an answer, sets it, and returns it with all candidates; freed by g_free.
char *live_describe(GstElement *peer, const char *signal, const char *field,
                    GstWebRTCSDPType type);
