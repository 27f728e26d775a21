#pragma once
#if __has_include(<gst/gst.h>)
#include <gst/gst.h>

// Logs an element's message to its application: a warning or information.
void fb_log_message(GstMessage *message);
#endif
