#pragma once
#if __has_include(<gst/gst.h>)
#include <gst/gst.h>

// Logs what an element tells its application: a warning or an information, whoever else reads it.
void fb_log_message(GstMessage *message);
#endif
