// A chain of GStreamer elements behind one appsrc, fed with memory that stays where it is.
//
// Nothing here knows a destination or an encoder: Swift names the elements and their properties.
// Calls on one pipeline come from one thread at a time; the two callbacks come from GStreamer's.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UPLOAD_MAXIMUM_PLANES = 4 };

/// gst_init_check: false, with GStreamer's own words in `message`, if it cannot start.
bool upload_start(char *message, size_t capacity);
/// Makes the element `framebusconvert` known to this process (UploadConverter.c).
bool upload_register_converter(void);
/// Whether the registry has a factory of this name.
bool upload_has_element(const char *factory);

typedef enum {
  UPLOAD_ENDED,
  UPLOAD_FAILED,
  UPLOAD_NO_SPACE,
  UPLOAD_CANNOT_OPEN,
  /// The last element was handed its first buffer.
  UPLOAD_OFFERED,
  /// It took that buffer: a network sink does not before its connection stands.
  UPLOAD_TAKEN
} upload_event_kind;

/// What the pipeline reports of itself; the strings are valid during the call.
struct upload_event {
  upload_event_kind kind;
  const char *element;
  const char *message;
  const char *detail;
};
/// Called on a GStreamer thread, before the failing element's thread goes on.
typedef void (*upload_event_handler)(void *context, const struct upload_event *event);

typedef struct upload_pipeline upload_pipeline;

/// A pipeline that holds only its appsrc. NULL if there is no appsrc.
upload_pipeline *upload_pipeline_create(upload_event_handler handler, void *context);
/// Appends an element and links it to the last. False: no such element, or the two do not fit.
bool upload_pipeline_append(upload_pipeline *pipeline, const char *factory);
/// The element appended last is where further branches end.
void upload_pipeline_mark_muxer(upload_pipeline *pipeline);
/// The element appended last, a videoflip, turns each frame as its own orientation says.
void upload_pipeline_turn_upright(upload_pipeline *pipeline);
/// Begins the branch of sound, with an appsrc of its own: what is appended next follows it.
bool upload_pipeline_begin_sound(upload_pipeline *pipeline);
/// Leads the branch of sound into the muxer's pad of that name. False: they do not fit.
bool upload_pipeline_join_sound(upload_pipeline *pipeline, const char *pad);
/// Sets a property of the element appended last from its text. False: it has no such property.
bool upload_pipeline_set(upload_pipeline *pipeline, const char *property, const char *value);
/// The same for that element's input pad.
bool upload_pipeline_set_on_pad(upload_pipeline *pipeline, const char *property,
                                const char *value);
/// Sets a property of the first element made by that factory, also while the pipeline runs. False:
/// there is no such element, or it has no such property.
bool upload_pipeline_set_of(upload_pipeline *pipeline, const char *factory, const char *property,
                            const char *value);
/// The element appended last, for those who must do with it what no property can.
struct _GstElement *upload_pipeline_last_element(upload_pipeline *pipeline);
/// The caps of the frames that follow. False: `caps` is not valid.
bool upload_pipeline_set_caps(upload_pipeline *pipeline, const char *caps);
/// The same for the branch of sound, or for the only one where there is sound alone.
bool upload_pipeline_set_sound_caps(upload_pipeline *pipeline, const char *caps);
/// Starts the streaming threads. False: an element refused; the handler has been told why.
bool upload_pipeline_play(upload_pipeline *pipeline);

/// One frame in somebody else's memory, which must stay valid and unchanged until `release`.
struct upload_frame {
  const void *bytes;
  size_t byteCount;
  uint64_t ptsNs;
  /// 0 if it is not known.
  uint64_t durationNs;
  /// GStreamer's name of the pixel format, such as "BGRx".
  const char *format;
  uint32_t width, height;
  /// How the picture lies in memory: 1 to 8, as in EXIF.
  uint32_t orientation;
  uint32_t planeCount;
  size_t offsets[UPLOAD_MAXIMUM_PLANES];
  int32_t strides[UPLOAD_MAXIMUM_PLANES];
  /// Called once with `context`, on any thread, when no element needs the frame any more.
  void (*release)(void *context);
  void *context;
};
/// Queues a frame without copying it. Takes over the duty to call `release` in every case.
/// False: the pipeline no longer takes frames.
bool upload_pipeline_push(upload_pipeline *pipeline, const struct upload_frame *frame);
/// Queues a copy of raw sound. False: the pipeline no longer takes any.
bool upload_pipeline_push_sound(upload_pipeline *pipeline, const void *bytes, size_t byteCount,
                                uint64_t ptsNs, uint64_t durationNs);
/// No frame follows; UPLOAD_ENDED is reported when the last element has dealt with all of them.
void upload_pipeline_end(upload_pipeline *pipeline);

/// Bytes that have reached the last element.
uint64_t upload_pipeline_bytes_written(upload_pipeline *pipeline);
/// Buffers, or lists of them, that have reached it: all but the newest have been dealt with.
uint64_t upload_pipeline_buffers_written(upload_pipeline *pipeline);
/// Where the frame that entered the first element after appsrc last lies in memory, or 0.
uintptr_t upload_pipeline_entry_address(upload_pipeline *pipeline);

/// Stops the threads, waits for them, and releases all frames still held.
void upload_pipeline_destroy(upload_pipeline *pipeline);
