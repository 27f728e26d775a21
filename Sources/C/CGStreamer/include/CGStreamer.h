// The parts of the GStreamer API that need C: GObject casts, varargs and the slot allocator.
//
// Without the package trait Media the GStreamer headers are not on the search path, and this
// header and its sources are empty.
#pragma once
#if __has_include(<gst/gst.h>)
#include <gst/gst.h>
#endif

#include "CCameraNodes.h"
#include "CDeviceMute.h"
#include "CGStreamerLog.h"
#include "CNetworkStream.h"
#include "CPictureToI420.h"
#include "CSlotSink.h"
#include "CSoundRing.h"
#include "CSoundSink.h"
#include "CUploadPipeline.h"
