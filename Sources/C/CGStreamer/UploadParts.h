// What the files of one pipeline share.
#pragma once
#include <gst/gst.h>

#include "CUploadPipeline.h"

/// The input of pictures, or of sound alone.
GstElement *upload_source(upload_pipeline *pipeline);
/// The input of sound.
GstElement *upload_sound_source(upload_pipeline *pipeline);
