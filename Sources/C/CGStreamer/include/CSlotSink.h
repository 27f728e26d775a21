// The sink of a capture pipeline: passes decoded frames, in the pool's own slots, to one thread.
//
// The publishing thread offers slots. The pipeline's elements allocate their frames in them (the
// ALLOCATION query on the last pad is answered with a pool over the slots), and the publishing
// thread takes formats and frames from a short queue. Only that thread knows the publisher; the
// pipeline's threads access only memory that was offered, and wait when the queue is full.
#pragma once
#if __has_include(<gst/gst.h>)
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FB_SLOT_SINK_SLOTS = 8 };

struct fb_slot_sink;

/// The layout of pixels in memory.
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
  /// For a format: the layout to expect. For a frame: its layout; offsets count from the start
  /// of its slot.
  struct fb_sink_layout layout;
  /// The slot whose memory only this item holds: publish it in place. −1: the frame is not in a
  /// slot, or the pipeline still uses it, and must be copied.
  int32_t slot;
  /// Nanoseconds of stream time, or of the clock; UINT64_MAX if unknown.
  uint64_t ptsNs, durationNs;
  GstBuffer *buffer;
};

/// Initialises GStreamer. Returns the error message on failure; free it with g_free.
char *fb_gstreamer_start(void);

/// Attaches to the sink element of a pipeline that is not running yet, by the element's name.
/// NULL if there is no such element.
struct fb_slot_sink *fb_slot_sink_new(GstElement *pipeline, const char *sinkName);
/// Call when the pipeline has stopped (state NULL) and no slot's memory is in use.
void fb_slot_sink_free(struct fb_slot_sink *sink);

/// From now on the time of a frame is one of the pipeline's clock, not of the stream. Call it
/// before the pipeline runs.
void fb_slot_sink_use_clock(struct fb_slot_sink *sink, GstElement *pipeline);

/// Readable when `fb_slot_sink_next` has an item.
int fb_slot_sink_descriptor(struct fb_slot_sink *sink);
/// Takes the next item from the queue; never blocks. After FB_SINK_FORMAT the pipeline waits for
/// `fb_slot_sink_accept_format`; a frame is returned with `fb_sink_item_release`.
struct fb_sink_item fb_slot_sink_next(struct fb_slot_sink *sink);
void fb_slot_sink_accept_format(struct fb_slot_sink *sink);
/// Returns a frame to the pipeline. A slot that was published is not written again.
void fb_sink_item_release(struct fb_sink_item *item);
/// Copies a frame's pixels into a layout of the same format and size.
bool fb_sink_item_copy(const struct fb_sink_item *item, const struct fb_sink_layout *layout,
                       void *address, size_t byteCount);

/// Offers memory that stays valid until the slot is vacant again.
void fb_slot_sink_offer(struct fb_slot_sink *sink, int32_t slot, void *address, size_t byteCount);
/// Requests a slot back. It is vacant at once, or when the pipeline frees its memory.
void fb_slot_sink_withdraw(struct fb_slot_sink *sink, int32_t slot);
/// Whether the pipeline uses no part of the slot.
bool fb_slot_sink_is_vacant(struct fb_slot_sink *sink, int32_t slot);

/// Wakes every waiting thread of the pipeline, so that the pipeline can be stopped.
void fb_slot_sink_flush(struct fb_slot_sink *sink);

/// A pipeline's failure; all strings are freed by `fb_pipeline_failure_clear`.
struct fb_pipeline_failure {
  bool isFailure;
  /// The element's name and that of its factory, such as "avdec_h264".
  char *element, *factory;
  char *message, *details;
  /// A readable name of the missing decoder, if no installed element decodes the stream.
  char *missing;
  /// The GError's domain, such as "gst-resource-error-quark", and its code.
  char *domain;
  int32_t code;
};
/// Reads the messages that have arrived. Never blocks.
struct fb_pipeline_failure fb_pipeline_take_failure(GstElement *pipeline);
void fb_pipeline_failure_clear(struct fb_pipeline_failure *failure);
/// Whether all threads of the pipeline have ended, at the end of the stream or after an error,
/// with or without a message. A thread that waits has not ended.
bool fb_pipeline_is_idle(GstElement *pipeline);
/// Readable when `fb_pipeline_take_failure` may return a failure.
int fb_pipeline_descriptor(GstElement *pipeline);
/// Creates a pipeline from its description; NULL and a failure if that is impossible.
GstElement *fb_pipeline_new(const char *description, struct fb_pipeline_failure *failure);
/// Sets a string property of a named element; false if the element does not exist.
bool fb_pipeline_set_text(GstElement *pipeline, const char *element, const char *property,
                          const char *value);
/// Pushes a copy of a picture into the pipeline's element `feed`, an appsrc. False if it has
/// `limit` pictures that wait, or takes none.
bool fb_pipeline_push(GstElement *pipeline, const void *bytes, size_t byteCount, uint64_t ptsNs,
                      uint32_t limit);
bool fb_pipeline_play(GstElement *pipeline);
/// Starts it on a thread of its own: for elements such as pipewiresrc, whose change of state waits
/// until their format is accepted. False if there is no thread.
bool fb_pipeline_play_apart(GstElement *pipeline);
/// Whether any element is linked to the named element's input.
bool fb_pipeline_is_connected(GstElement *pipeline, const char *element);
/// Whether one of the elements, at any depth, captures a screen or a window, or may do so.
bool fb_pipeline_captures_screen(GstElement *pipeline);
/// The duration of the longest track according to the container; UINT64_MAX if unknown.
uint64_t fb_pipeline_duration_ns(GstElement *pipeline);
/// Ends all threads of a pipeline. Flush its slot sink first.
void fb_pipeline_stop(GstElement *pipeline);
void fb_pipeline_free(GstElement *pipeline);
#endif
