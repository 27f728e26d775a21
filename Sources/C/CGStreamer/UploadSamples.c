#include "CUploadPipeline.h"

#if __has_include(<gst/gst.h>)
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "UploadParts.h"

// What one pipeline has encoded enters others, which only pack and send it.

bool upload_push_sample(GstElement *source, void *sample, uint64_t ptsNs) {
  // The copy shares the memory; only its metadata are new.
  GstBuffer *buffer = gst_buffer_copy(gst_sample_get_buffer(sample));
  GST_BUFFER_PTS(buffer) = ptsNs;
  // No encoder here reorders pictures.
  GST_BUFFER_DTS(buffer) = ptsNs;
  // Does nothing while they are equal.
  gst_app_src_set_caps(GST_APP_SRC(source), gst_sample_get_caps(sample));
  return gst_app_src_push_buffer(GST_APP_SRC(source), buffer) == GST_FLOW_OK;
}

bool upload_pipeline_push_sample(upload_pipeline *pipeline, bool isSound, void *sample,
                                 uint64_t ptsNs, bool beginsSegment) {
  GstElement *source = isSound ? upload_sound_source(pipeline) : upload_source(pipeline);
  // The muxer of a transport stream passes it on right before the key frame, with its tables.
  if (beginsSegment)
    gst_element_send_event(source, gst_video_event_new_downstream_force_key_unit(
                                       ptsNs, ptsNs, ptsNs, TRUE, 0));
  return upload_push_sample(source, sample, ptsNs);
}

void *upload_sample_ref(void *sample) { return gst_sample_ref(sample); }

void upload_sample_unref(void *sample) { gst_sample_unref(sample); }

struct listener {
  void (*handler)(void *context);
  void *context;
};

static GstPadProbeReturn on_request(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad;
  const struct listener *listener = data;
  if (gst_video_event_is_force_key_unit(GST_PAD_PROBE_INFO_EVENT(info)))
    listener->handler(listener->context);
  return GST_PAD_PROBE_OK;
}

void upload_pipeline_watch_key_requests(upload_pipeline *pipeline, void (*handler)(void *context),
                                        void *context) {
  struct listener *listener = g_new(struct listener, 1);
  *listener = (struct listener){.handler = handler, .context = context};
  GstPad *pad = gst_element_get_static_pad(upload_source(pipeline), "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, on_request, listener, g_free);
  gst_object_unref(pad);
}

#else
// Without the package trait Media this file has only the declaration that ISO C requires.
typedef int upload_samples_are_absent;
#endif
