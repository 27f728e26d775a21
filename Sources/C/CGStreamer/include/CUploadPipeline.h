// A chain of GStreamer elements behind one appsrc, fed without copying the frames' memory.
//
// No destination and no encoder is known here: Swift names the elements and their properties.
// Calls on one pipeline come from one thread at a time; the two callbacks run on GStreamer's.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UPLOAD_MAXIMUM_PLANES = 4 };

/// gst_init_check: false, with GStreamer's own text in `message`, if it cannot start.
bool upload_start(char *message, size_t capacity);
/// Whether it has been called.
bool upload_is_started(void);
/// Registers the element `framebusconvert` in this process (UploadConverter.c).
bool upload_register_converter(void);
/// Registers the element `framebusencoder` in this process (UploadEncoder.c).
bool upload_register_encoder(void);
/// Registers the element `framebussimulcast` in this process (UploadSimulcast.c).
bool upload_register_simulcast(void);
/// Whether the registry has a loadable factory of this name.
bool upload_has_element(const char *factory);
/// Whether it has one, which is not loaded.
bool upload_names_element(const char *factory);

typedef enum {
  UPLOAD_ENDED,
  UPLOAD_FAILED,
  UPLOAD_NO_SPACE,
  UPLOAD_CANNOT_OPEN,
  /// The last element received its first buffer.
  UPLOAD_OFFERED,
  /// It processed that buffer: a network sink does so only once its connection is established.
  UPLOAD_TAKEN,
  /// An encoder failed: `element` with `message`; `detail` is the one that takes its place.
  UPLOAD_ENCODER_LEFT
} upload_event_kind;

/// An event of a pipeline; the strings are valid during the call.
struct upload_event {
  upload_event_kind kind;
  const char *element;
  const char *message;
  const char *detail;
};
/// Called on a GStreamer thread, before the failing element's thread continues.
typedef void (*upload_event_handler)(void *context, const struct upload_event *event);

typedef struct upload_pipeline upload_pipeline;

/// A pipeline that holds only its appsrc. NULL if there is no appsrc.
upload_pipeline *upload_pipeline_create(upload_event_handler handler, void *context);
/// Appends an element and links it to the last. False: no such element, or they cannot be linked.
bool upload_pipeline_append(upload_pipeline *pipeline, const char *factory);
/// Marks the element appended last as the one that further branches are linked to.
void upload_pipeline_mark_muxer(upload_pipeline *pipeline);
/// Makes the element appended last, a videoflip, turn each frame by the frame's orientation.
void upload_pipeline_turn_upright(upload_pipeline *pipeline);
/// Begins the sound branch, with its own appsrc: the elements appended next belong to it.
bool upload_pipeline_begin_sound(upload_pipeline *pipeline);
/// Begins a branch at the tee that was appended: the elements appended next belong to it.
void upload_pipeline_begin_fork(upload_pipeline *pipeline);
/// Links a branch to the muxer's pad of that name. False: they cannot be linked.
bool upload_pipeline_join(upload_pipeline *pipeline, const char *pad);
/// Sets a property of the element appended last from a text. False: it has no such property.
bool upload_pipeline_set(upload_pipeline *pipeline, const char *property, const char *value);
/// As `upload_pipeline_set`, for that element's input pad.
bool upload_pipeline_set_on_pad(upload_pipeline *pipeline, const char *property,
                                const char *value);
/// Sets a property of the first element made by that factory, also while the pipeline runs. False:
/// there is no such element, or it has no such property.
/// - isInFork: whether it is one of the branch from the tee.
bool upload_pipeline_set_of(upload_pipeline *pipeline, const char *factory, bool isInFork,
                            const char *property, const char *value);
/// Changes the caps of the capsfilter behind the first videoscale, also while the pipeline runs.
/// False if the pipeline has no videoscale.
bool upload_pipeline_scale_to(upload_pipeline *pipeline, const char *caps);
/// The element appended last, for uses that a property does not cover.
struct _GstElement *upload_pipeline_last_element(upload_pipeline *pipeline);
/// The caps of the frames that follow. False: `caps` is not valid.
bool upload_pipeline_set_caps(upload_pipeline *pipeline, const char *caps);
/// As `upload_pipeline_set_caps`, for the sound branch, or for the only branch of sound alone.
bool upload_pipeline_set_sound_caps(upload_pipeline *pipeline, const char *caps);

/// What the last element received at once.
struct upload_unit {
  const void *bytes;
  size_t byteCount;
  uint64_t ptsNs;
  /// Whether a segment begins here: in a transport stream, with its tables.
  bool beginsSegment;
  /// Of an encoded unit alone; see upload_pipeline_tap.
  bool isSound, isKey;
  uint64_t dtsNs, durationNs;
  /// The size of the picture; 0 for sound.
  uint32_t width, height;
  /// 0 if it is not known, or varies.
  double picturesPerSecond;
  /// What a decoder needs beside the units; valid during the call.
  const void *format;
  size_t formatByteCount;
};
/// Called on a GStreamer thread; NULL at the end of the stream. An errno ends the pipeline.
typedef int (*upload_unit_handler)(void *context, const struct upload_unit *unit);
struct upload_unit_receiver {
  upload_unit_handler handler;
  void *context;
  /// Called once, when the pipeline no longer calls the handler.
  void (*release)(void *context);
};
/// Passes the transport stream that enters the last element to `receiver`, and cuts it at the first
/// picture of each interval, which it makes a key frame (UploadSegments.c). Before `play`.
/// - encoder: the factory of the encoder; NULL for sound alone. NULL with an interval of 0 if
///   pictures are encoded elsewhere, and `upload_pipeline_push_sample` says where segments begin.
bool upload_pipeline_cut(upload_pipeline *pipeline, const char *encoder, uint64_t intervalNs,
                         const struct upload_unit_receiver *receiver);

/// Passes each encoded picture and sound that enters the last element, behind a funnel, to
/// `receiver`, and makes the first picture of each interval a key frame (UploadUnits.c). Before
/// `play`.
/// - encoder: the factory of the encoder, whose key frames all begin segments; NULL for sound
///   alone, or if pictures are encoded elsewhere, as for upload_pipeline_cut.
bool upload_pipeline_tap(upload_pipeline *pipeline, const char *encoder, uint64_t intervalNs,
                         const struct upload_unit_receiver *receiver);
/// Makes the first picture of each interval a key frame.
void upload_pipeline_request_keys(upload_pipeline *pipeline, const char *encoder,
                                  uint64_t intervalNs);

/// Starts the streaming threads. False: an element failed; the handler was called with the reason.
bool upload_pipeline_play(upload_pipeline *pipeline);

/// One frame in the caller's memory, which must stay valid and unchanged until `release`.
struct upload_frame {
  const void *bytes;
  size_t byteCount;
  uint64_t ptsNs;
  /// 0 if it is not known.
  uint64_t durationNs;
  /// GStreamer's name of the pixel format, such as "BGRx".
  const char *format;
  uint32_t width, height;
  /// The picture's orientation in memory: 1 to 8, as in EXIF.
  uint32_t orientation;
  uint32_t planeCount;
  size_t offsets[UPLOAD_MAXIMUM_PLANES];
  int32_t strides[UPLOAD_MAXIMUM_PLANES];
  /// Called once with `context`, on any thread, when no element needs the frame any longer.
  void (*release)(void *context);
  void *context;
};
/// Queues a frame without copying it. Becomes responsible for calling `release` in every case.
/// False: the pipeline no longer takes frames.
bool upload_pipeline_push(upload_pipeline *pipeline, const struct upload_frame *frame);
/// Queues a copy of raw sound. False: the pipeline no longer takes sound.
bool upload_pipeline_push_sound(upload_pipeline *pipeline, const void *bytes, size_t byteCount,
                                uint64_t ptsNs, uint64_t durationNs);
/// Queues what another pipeline has encoded: a `GstSample`, which the caller still owns. Its bytes
/// are not copied. Any one thread may call it. False: the pipeline no longer takes any.
/// - beginsSegment: whether an output in segments begins one with this key frame.
bool upload_pipeline_push_sample(upload_pipeline *pipeline, bool isSound, void *sample,
                                 uint64_t ptsNs, bool beginsSegment);
/// As above, to an appsrc.
bool upload_push_sample(struct _GstElement *source, void *sample, uint64_t ptsNs);
void *upload_sample_ref(void *sample);
void upload_sample_unref(void *sample);
/// Calls the handler, on any thread, when an element asks the source for a key frame.
void upload_pipeline_watch_key_requests(upload_pipeline *pipeline, void (*handler)(void *context),
                                        void *context);
/// Makes the first picture of each interval of the time line a key frame. Before `play`.
void upload_pipeline_key_frame_every(upload_pipeline *pipeline, const char *encoder,
                                     uint64_t intervalNs);
/// Queues a copy of an encoded picture or sound. False: the pipeline no longer takes it.
bool upload_pipeline_push_unit(upload_pipeline *pipeline, const struct upload_unit *unit);
/// Ends the input; UPLOAD_ENDED is reported when the last element has processed all frames.
void upload_pipeline_end(upload_pipeline *pipeline);

/// Bytes that have reached the last element.
uint64_t upload_pipeline_bytes_written(upload_pipeline *pipeline);
/// Buffers, or lists of buffers, that have reached it: all but the newest have been processed.
uint64_t upload_pipeline_buffers_written(upload_pipeline *pipeline);
/// The address of the frame that last entered the first element after appsrc, or 0.
uintptr_t upload_pipeline_entry_address(upload_pipeline *pipeline);

/// The newest timestamp of what has reached the last element, or of sound that the muxer has taken;
/// 0 before the first.
uint64_t upload_pipeline_newest_ns(upload_pipeline *pipeline);

/// The connection behind a network sink, since it was established (UploadLink.c).
struct upload_link {
  /// 0 if it is not known.
  uint64_t roundTripNs;
  uint64_t packetsSent, packetsLost, packetsRetransmitted;
  /// Packets that SRT did not send in time.
  uint64_t packetsDropped;
  /// Bytes that wait in the kernel, and were not sent at all.
  uint64_t bytesUnsent;
  /// Bytes that the peer has acknowledged; for SRT, those sent once and not reported lost.
  uint64_t bytesArrived;
};
/// False: it is unknown. Only once the last element has taken its first buffer.
bool upload_pipeline_link(upload_pipeline *pipeline, struct upload_link *link);
/// Limits what waits in the kernel for a slow TCP connection. False: there is no such connection.
bool upload_pipeline_bound_queue(upload_pipeline *pipeline);

/// Stops the threads, waits for them, and releases all frames still held.
void upload_pipeline_destroy(upload_pipeline *pipeline);
