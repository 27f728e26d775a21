// The end of a capture pipeline: hands decoded frames, in the bus's own slots, to one thread.
//
// The publishing thread offers slots. The pipeline's elements allocate their frames in them (the
// ALLOCATION query on the last pad is answered with a pool over the slots), and the publishing
// thread takes formats and frames off a short queue. It alone knows the publisher; the pipeline's
// threads only ever touch memory that was offered, and wait when the queue is full.
#pragma once
#if __has_include(<gst/gst.h>)
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FB_SLOT_SINK_SLOTS = 8 };

struct fb_slot_sink;

/// How pixels lie in memory.
struct fb_sink_layout {
  GstVideoFormat format;
  int32_t width, height;
  int32_t rateNumerator, rateDenominator;
  uint32_t planeCount;
  size_t offset[4];
  int32_t stride[4];
  size_t byteCount;
  bool isInterlaced;
  /// 1: BT.601, 2: BT.709, 3: RGB, 0: unknown.
  uint32_t colorMatrix;
};

enum fb_sink_item_kind { FB_SINK_NOTHING, FB_SINK_FORMAT, FB_SINK_FRAME, FB_SINK_END };

struct fb_sink_item {
  enum fb_sink_item_kind kind;
  /// Of a format: the layout to expect. Of a frame: where it lies; offsets count from the start
  /// of its slot.
  struct fb_sink_layout layout;
  /// The slot whose memory only this item holds: publish it in place. −1: the frame lies
  /// elsewhere, or the pipeline still uses it, and must be copied.
  int32_t slot;
  /// Nanoseconds of stream time; UINT64_MAX if unknown.
  uint64_t ptsNs, durationNs;
  GstBuffer *buffer;
};

/// Loads GStreamer. Returns its message if that fails; free it with g_free.
char *fb_gstreamer_start(void);

/// Attaches to the sink element of a pipeline that is not running yet, by the element's name.
/// NULL if there is no such element.
struct fb_slot_sink *fb_slot_sink_new(GstElement *pipeline, const char *sinkName);
/// Call when the pipeline has stopped (state NULL) and no slot's memory is needed any more.
void fb_slot_sink_free(struct fb_slot_sink *sink);

/// Readable when `fb_slot_sink_next` has something.
int fb_slot_sink_descriptor(struct fb_slot_sink *sink);
/// Takes the next thing off the queue; never waits. After FB_SINK_FORMAT the pipeline waits for
/// `fb_slot_sink_accept_format`; a frame is given back with `fb_sink_item_release`.
struct fb_sink_item fb_slot_sink_next(struct fb_slot_sink *sink);
void fb_slot_sink_accept_format(struct fb_slot_sink *sink);
/// Gives a frame back to the pipeline. A slot that was published is not written again.
void fb_sink_item_release(struct fb_sink_item *item);
/// Copies a frame's pixels into a layout of the same format and size.
bool fb_sink_item_copy(const struct fb_sink_item *item, const struct fb_sink_layout *layout,
                       void *address, size_t byteCount);

/// Offers memory that stays valid until the slot is vacant again.
void fb_slot_sink_offer(struct fb_slot_sink *sink, int32_t slot, void *address, size_t byteCount);
/// Asks for a slot back. It is vacant at once, or when the pipeline frees its memory.
void fb_slot_sink_withdraw(struct fb_slot_sink *sink, int32_t slot);
/// Whether the pipeline holds no part of the slot.
bool fb_slot_sink_is_vacant(struct fb_slot_sink *sink, int32_t slot);

/// Lets every waiting thread of the pipeline go, so that it can be stopped.
void fb_slot_sink_flush(struct fb_slot_sink *sink);

/// What went wrong in a pipeline; all strings are freed by `fb_pipeline_failure_clear`.
struct fb_pipeline_failure {
  bool isFailure;
  /// The element's name and the name of its kind, such as "avdec_h264".
  char *element, *factory;
  char *message, *details;
  /// A human name of what would decode the stream, if no installed element does.
  char *missing;
  /// The GError's domain, such as "gst-resource-error-quark", and its code.
  char *domain;
  int32_t code;
};
/// Takes the messages that have arrived. Never waits.
struct fb_pipeline_failure fb_pipeline_take_failure(GstElement *pipeline);
void fb_pipeline_failure_clear(struct fb_pipeline_failure *failure);
/// Whether no thread of the pipeline does anything, or waits for somebody to: all have come to an
/// end, by an end of the stream or an error, whether or not there was a message about it.
bool fb_pipeline_is_idle(GstElement *pipeline);
/// Readable when `fb_pipeline_take_failure` may have something.
int fb_pipeline_descriptor(GstElement *pipeline);
/// Makes a pipeline from its description; NULL and a failure if that is impossible.
GstElement *fb_pipeline_new(const char *description, struct fb_pipeline_failure *failure);
/// Sets a string property of a named element; false if the element does not exist.
bool fb_pipeline_set_text(GstElement *pipeline, const char *element, const char *property,
                          const char *value);
bool fb_pipeline_play(GstElement *pipeline);
/// Whether anything leads into the named element.
bool fb_pipeline_is_connected(GstElement *pipeline, const char *element);
/// How long the container says its longest track is; UINT64_MAX if it does not say.
uint64_t fb_pipeline_duration_ns(GstElement *pipeline);
/// Ends all threads of a pipeline. Flush its slot sink first.
void fb_pipeline_stop(GstElement *pipeline);
void fb_pipeline_free(GstElement *pipeline);
#endif
