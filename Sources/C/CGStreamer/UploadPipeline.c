#include "CUploadPipeline.h"
#include "GStreamerLog.h"

#if __has_include(<gst/gst.h>)
#include <gst/app/gstappsrc.h>
#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "UploadParts.h"

struct upload_pipeline {
  GstElement *bin;
  GstElement *source;
  GstElement *last;
  /// The input of the sound branch; NULL without sound.
  GstElement *soundSource;
  GstElement *muxer;
  /// From here pictures go to a second rendition too; NULL without one.
  GstElement *fork;
  bool isInFork;
  /// The orientation of the last frame turned upright; only the streaming thread accesses it.
  guint64 orientation;
  /// The end of the pictures' branch while another is built.
  GstElement *end;
  bool isObserved;
  upload_event_handler handler;
  void *context;
  atomic_uint_least64_t bytesWritten;
  atomic_uint_least64_t buffersWritten;
  atomic_uint_least64_t newestNs;
  atomic_uintptr_t entryAddress;
};

/// Marks the elements of a second rendition.
#define IN_FORK "framebus-fork"

/// The number of malloc(3) arenas. Each keeps the memory freed in it, and threads get arenas of
/// their own, up to 8 per core: pipelines whose threads start and end would use ever more memory.
enum { ARENAS = 2 };

bool upload_start(char *message, size_t capacity) {
  GError *error = NULL;
  mallopt(M_ARENA_MAX, ARENAS);
  if (gst_init_check(NULL, NULL, &error)) return true;
  snprintf(message, capacity, "%s", error ? error->message : "gst_init failed");
  g_clear_error(&error);
  return false;
}

bool upload_has_element(const char *factory) {
  GstElementFactory *found = gst_element_factory_find(factory);
  if (found == NULL) return false;
  // A factory may be registered while its library cannot be loaded.
  GstPluginFeature *loaded = gst_plugin_feature_load(GST_PLUGIN_FEATURE(found));
  gst_object_unref(found);
  if (loaded == NULL) return false;
  gst_object_unref(loaded);
  return true;
}

static upload_event_kind kind_of(const GError *error) {
  if (g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT))
    return UPLOAD_NO_SPACE;
  if (g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE))
    return UPLOAD_CANNOT_OPEN;
  return UPLOAD_FAILED;
}

static void report(upload_pipeline *pipeline, upload_event_kind kind) {
  struct upload_event event = {.kind = kind, .element = "", .message = "", .detail = ""};
  pipeline->handler(pipeline->context, &event);
}

static void report_left_encoder(upload_pipeline *pipeline, const GstStructure *fields) {
  if (fields == NULL || !gst_structure_has_name(fields, "framebus-encoder-left")) return;
  struct upload_event event = {.kind = UPLOAD_ENCODER_LEFT,
                               .element = gst_structure_get_string(fields, "element"),
                               .message = gst_structure_get_string(fields, "reason"),
                               .detail = gst_structure_get_string(fields, "next")};
  pipeline->handler(pipeline->context, &event);
}

static GstBusSyncReply handle_message(GstBus *bus, GstMessage *message, gpointer data) {
  (void)bus;
  upload_pipeline *pipeline = data;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) {
    report(pipeline, UPLOAD_ENDED);
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT) {
    report_left_encoder(pipeline, gst_message_get_structure(message));
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError *error = NULL;
    gchar *detail = NULL;
    gst_message_parse_error(message, &error, &detail);
    GstObject *source = GST_MESSAGE_SRC(message);
    GstElementFactory *factory =
        GST_IS_ELEMENT(source) ? gst_element_get_factory(GST_ELEMENT(source)) : NULL;
    struct upload_event event = {
        .kind = kind_of(error),
        .element = factory ? GST_OBJECT_NAME(factory) : GST_OBJECT_NAME(source),
        .message = error->message,
        .detail = detail ? detail : ""};
    pipeline->handler(pipeline->context, &event);
    g_clear_error(&error);
    g_free(detail);
  }
  fb_log_message(message);
  // No main loop reads the bus: kept messages would only accumulate.
  gst_message_unref(message);
  return GST_BUS_DROP;
}

/// Frames have their own time stamps; the caller counts queued frames, so nothing blocks here.
static GstElement *make_source(guint64 maximumBuffers) {
  GstElement *source = gst_element_factory_make("appsrc", NULL);
  if (source == NULL) return NULL;
  g_object_set(source, "format", GST_FORMAT_TIME, "max-buffers", maximumBuffers, "max-bytes",
               (guint64)0, "do-timestamp", FALSE, "emit-signals", FALSE, NULL);
  return source;
}

upload_pipeline *upload_pipeline_create(upload_event_handler handler, void *context) {
  GstElement *source = make_source(2);
  if (source == NULL) return NULL;
  upload_pipeline *pipeline = g_new0(upload_pipeline, 1);
  pipeline->bin = gst_pipeline_new(NULL);
  pipeline->source = pipeline->last = source;
  pipeline->handler = handler;
  pipeline->context = context;
  gst_bin_add(GST_BIN(pipeline->bin), source);
  GstBus *bus = gst_element_get_bus(pipeline->bin);
  gst_bus_set_sync_handler(bus, handle_message, pipeline, NULL);
  gst_object_unref(bus);
  return pipeline;
}

bool upload_pipeline_append(upload_pipeline *pipeline, const char *factory) {
  GstElement *element = gst_element_factory_make(factory, NULL);
  if (element == NULL) return false;
  gst_bin_add(GST_BIN(pipeline->bin), element);
  if (!gst_element_link(pipeline->last, element)) return false;
  if (strcmp(factory, "tee") == 0) pipeline->fork = element;
  if (pipeline->isInFork) g_object_set_data(G_OBJECT(element), IN_FORK, pipeline);
  pipeline->last = element;
  return true;
}

void upload_pipeline_mark_muxer(upload_pipeline *pipeline) { pipeline->muxer = pipeline->last; }

/// The video-direction that turns a picture of each EXIF orientation upright.
static const GstVideoOrientationMethod turns[] = {
    [1] = GST_VIDEO_ORIENTATION_IDENTITY, [2] = GST_VIDEO_ORIENTATION_HORIZ,
    [3] = GST_VIDEO_ORIENTATION_180,      [4] = GST_VIDEO_ORIENTATION_VERT,
    [5] = GST_VIDEO_ORIENTATION_UL_LR,    [6] = GST_VIDEO_ORIENTATION_90R,
    [7] = GST_VIDEO_ORIENTATION_UR_LL,    [8] = GST_VIDEO_ORIENTATION_90L,
};

/// Sets the direction on the streaming thread, before the frame enters the element: it changes with
/// exactly the frame that has another orientation, which converters pass on in the buffer's offset.
static GstPadProbeReturn choose_turn(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  upload_pipeline *pipeline = data;
  guint64 orientation = GST_BUFFER_OFFSET(GST_PAD_PROBE_INFO_BUFFER(info));
  if (orientation == pipeline->orientation || orientation < 1 || orientation > 8)
    return GST_PAD_PROBE_OK;
  pipeline->orientation = orientation;
  g_object_set(GST_PAD_PARENT(pad), "video-direction", turns[orientation], NULL);
  return GST_PAD_PROBE_OK;
}

/// Sets passthrough: otherwise videoflip (1.22) copies upright pictures until the first turn.
void upload_pipeline_turn_upright(upload_pipeline *pipeline) {
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(pipeline->last), TRUE);
  GstPad *pad = GST_PAD(pipeline->last->sinkpads->data);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, choose_turn, pipeline, NULL);
}

bool upload_pipeline_begin_sound(upload_pipeline *pipeline) {
  GstElement *source = make_source(0);
  if (source == NULL) return false;
  gst_bin_add(GST_BIN(pipeline->bin), source);
  pipeline->end = pipeline->last;
  pipeline->soundSource = pipeline->last = source;
  return true;
}

static void note_progress(upload_pipeline *pipeline, const GstBuffer *buffer) {
  if (!GST_BUFFER_PTS_IS_VALID(buffer)) return;
  uint64_t timeNs = GST_BUFFER_PTS(buffer);
  uint64_t newestNs = atomic_load_explicit(&pipeline->newestNs, memory_order_relaxed);
  while (newestNs < timeNs &&
         !atomic_compare_exchange_weak_explicit(&pipeline->newestNs, &newestNs, timeNs,
                                                memory_order_relaxed, memory_order_relaxed)) {
  }
}

/// The muxer takes the next sound once it has written the one before. The time stamps of what
/// mpegtsmux writes are those of the pictures alone: without this, sound that it has written
/// counted as waiting after a long gap between two pictures.
static GstPadProbeReturn note_sound(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad;
  note_progress(data, GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

void upload_pipeline_begin_fork(upload_pipeline *pipeline) {
  pipeline->end = pipeline->last;
  pipeline->last = pipeline->fork;
  pipeline->isInFork = true;
}

bool upload_pipeline_join(upload_pipeline *pipeline, const char *pad) {
  GstElement *branch = pipeline->last;
  bool isSound = !pipeline->isInFork;
  pipeline->last = pipeline->end;
  pipeline->isInFork = false;
  if (pipeline->muxer == NULL || !gst_element_link_pads(branch, NULL, pipeline->muxer, pad))
    return false;
  GstPad *end = GST_PAD(branch->srcpads->data);
  if (isSound) gst_pad_add_probe(end, GST_PAD_PROBE_TYPE_BUFFER, note_sound, pipeline, NULL);
  return true;
}

static bool set_from_text(GObject *object, const char *property, const char *value) {
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(object), property) == NULL) return false;
  gst_util_set_object_arg(object, property, value);
  return true;
}

bool upload_pipeline_set(upload_pipeline *pipeline, const char *property, const char *value) {
  return set_from_text(G_OBJECT(pipeline->last), property, value);
}

static GstPad *input_pad(GstElement *element) {
  return element->sinkpads ? GST_PAD(element->sinkpads->data) : NULL;
}

bool upload_pipeline_set_on_pad(upload_pipeline *pipeline, const char *property,
                                const char *value) {
  GstPad *pad = input_pad(pipeline->last);
  return pad != NULL && set_from_text(G_OBJECT(pad), property, value);
}

/// A reference to the first element made by a factory, in the branch from the tee or outside of it;
/// NULL if the pipeline has no such element.
static GstElement *first_of(upload_pipeline *pipeline, const char *factory, bool isInFork) {
  GstIterator *elements =
      gst_bin_iterate_all_by_element_factory_name(GST_BIN(pipeline->bin), factory);
  GValue next = G_VALUE_INIT;
  GstElement *found = NULL;
  while (found == NULL && gst_iterator_next(elements, &next) == GST_ITERATOR_OK) {
    GObject *element = g_value_get_object(&next);
    if ((g_object_get_data(element, IN_FORK) != NULL) == isInFork)
      found = GST_ELEMENT(g_object_ref(element));
    g_value_unset(&next);
  }
  gst_iterator_free(elements);
  return found;
}

bool upload_pipeline_set_of(upload_pipeline *pipeline, const char *factory, bool isInFork,
                            const char *property, const char *value) {
  GstElement *element = first_of(pipeline, factory, isInFork);
  if (element == NULL) return false;
  bool isSet = set_from_text(G_OBJECT(element), property, value);
  gst_object_unref(element);
  return isSet;
}

bool upload_pipeline_scale_to(upload_pipeline *pipeline, const char *caps) {
  GstElement *scaler = first_of(pipeline, "videoscale", false);
  if (scaler == NULL) return false;
  GstPad *output = gst_element_get_static_pad(scaler, "src");
  GstPad *next = gst_pad_get_peer(output);
  GstElement *filter = next ? gst_pad_get_parent_element(next) : NULL;
  bool isSet = filter != NULL && set_from_text(G_OBJECT(filter), "caps", caps);
  gst_clear_object(&filter);
  gst_clear_object(&next);
  gst_object_unref(output);
  gst_object_unref(scaler);
  return isSet;
}

GstElement *upload_pipeline_last_element(upload_pipeline *pipeline) { return pipeline->last; }

static bool set_caps(GstElement *source, const char *caps) {
  GstCaps *parsed = gst_caps_from_string(caps);
  if (parsed == NULL) return false;
  gst_app_src_set_caps(GST_APP_SRC(source), parsed);
  gst_caps_unref(parsed);
  return true;
}

bool upload_pipeline_set_caps(upload_pipeline *pipeline, const char *caps) {
  return set_caps(pipeline->source, caps);
}

/// The second source, or the only source if there is sound alone.
GstElement *upload_sound_source(upload_pipeline *pipeline) {
  return pipeline->soundSource ? pipeline->soundSource : pipeline->source;
}

GstElement *upload_source(upload_pipeline *pipeline) { return pipeline->source; }

bool upload_pipeline_set_sound_caps(upload_pipeline *pipeline, const char *caps) {
  return set_caps(upload_sound_source(pipeline), caps);
}

/// The first buffer has been processed. A sink that failed has reported that before; one that was
/// stopped meanwhile took nothing.
static GstPadProbeReturn first_is_done(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad;
  if (GST_PAD_PROBE_INFO_FLOW_RETURN(info) == GST_FLOW_OK) report(data, UPLOAD_TAKEN);
  return GST_PAD_PROBE_REMOVE;
}

static GstPadProbeReturn offer_first(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)info;
  report(data, UPLOAD_OFFERED);
  // The pad before is busy with this buffer, and idle once the last element has returned from it.
  GstPad *end = gst_pad_get_peer(pad);
  if (end == NULL) return GST_PAD_PROBE_REMOVE;
  gst_pad_add_probe(end, GST_PAD_PROBE_TYPE_IDLE, first_is_done, data, NULL);
  gst_object_unref(end);
  return GST_PAD_PROBE_REMOVE;
}

static GstPadProbeReturn count_bytes(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad;
  upload_pipeline *pipeline = data;
  gsize size = 0;
  GstBuffer *last = NULL;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
    size = gst_buffer_list_calculate_size(list);
    // The first one of a list begins with the rest of the picture before, and has its time.
    guint count = gst_buffer_list_length(list);
    if (count > 0) last = gst_buffer_list_get(list, count - 1);
  } else {
    last = GST_PAD_PROBE_INFO_BUFFER(info);
    size = gst_buffer_get_size(last);
  }
  if (last != NULL) note_progress(pipeline, last);
  atomic_fetch_add_explicit(&pipeline->bytesWritten, size, memory_order_relaxed);
  atomic_fetch_add_explicit(&pipeline->buffersWritten, 1, memory_order_relaxed);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn note_address(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  (void)pad;
  upload_pipeline *pipeline = data;
  GstMapInfo map;
  GstMemory *memory = gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0);
  if (gst_memory_map(memory, &map, GST_MAP_READ)) {
    atomic_store_explicit(&pipeline->entryAddress, (uintptr_t)map.data, memory_order_relaxed);
    gst_memory_unmap(memory, &map);
  }
  return GST_PAD_PROBE_OK;
}

bool upload_pipeline_play(upload_pipeline *pipeline) {
  GstPad *input = input_pad(pipeline->last);
  GstPad *end = input ? gst_pad_get_peer(input) : NULL;
  GstPad *start = GST_PAD(pipeline->source->srcpads->data);
  GstPadProbeType written = GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST;
  if (end == NULL) return false;
  if (!pipeline->isObserved) {
    pipeline->isObserved = true;
    // Not at the input: that of some sinks sees a list of buffers, then each of them.
    gst_pad_add_probe(end, written, count_bytes, pipeline, NULL);
    gst_pad_add_probe(input, written, offer_first, pipeline, NULL);
    gst_pad_add_probe(start, GST_PAD_PROBE_TYPE_BUFFER, note_address, pipeline, NULL);
  }
  gst_object_unref(end);
  return gst_element_set_state(pipeline->bin, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
}

bool upload_pipeline_push(upload_pipeline *pipeline, const struct upload_frame *frame) {
  // READONLY: an element that writes must copy. The subscriber's mapping enforces it.
  GstBuffer *buffer = gst_buffer_new_wrapped_full(
      GST_MEMORY_FLAG_READONLY, (gpointer)frame->bytes, frame->byteCount, 0, frame->byteCount,
      frame->context, frame->release);
  gsize offsets[GST_VIDEO_MAX_PLANES] = {0};
  gint strides[GST_VIDEO_MAX_PLANES] = {0};
  for (unsigned i = 0; i < frame->planeCount && i < UPLOAD_MAXIMUM_PLANES; i++) {
    offsets[i] = frame->offsets[i];
    strides[i] = frame->strides[i];
  }
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                 gst_video_format_from_string(frame->format), frame->width,
                                 frame->height, frame->planeCount, offsets, strides);
  GST_BUFFER_PTS(buffer) = frame->ptsNs;
  GST_BUFFER_OFFSET(buffer) = frame->orientation;
  if (frame->durationNs > 0) GST_BUFFER_DURATION(buffer) = frame->durationNs;
  return gst_app_src_push_buffer(GST_APP_SRC(pipeline->source), buffer) == GST_FLOW_OK;
}

bool upload_pipeline_push_sound(upload_pipeline *pipeline, const void *bytes, size_t byteCount,
                                uint64_t ptsNs, uint64_t durationNs) {
  GstBuffer *buffer = gst_buffer_new_memdup(bytes, byteCount);
  GST_BUFFER_PTS(buffer) = ptsNs;
  GST_BUFFER_DURATION(buffer) = durationNs;
  return gst_app_src_push_buffer(GST_APP_SRC(upload_sound_source(pipeline)), buffer) == GST_FLOW_OK;
}

bool upload_pipeline_push_unit(upload_pipeline *pipeline, const struct upload_unit *unit) {
  GstElement *source = unit->isSound ? upload_sound_source(pipeline) : pipeline->source;
  GstBuffer *buffer = gst_buffer_new_memdup(unit->bytes, unit->byteCount);
  GST_BUFFER_PTS(buffer) = unit->ptsNs;
  GST_BUFFER_DTS(buffer) = unit->dtsNs;
  if (unit->durationNs > 0) GST_BUFFER_DURATION(buffer) = unit->durationNs;
  if (!unit->isKey) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  return gst_app_src_push_buffer(GST_APP_SRC(source), buffer) == GST_FLOW_OK;
}

void upload_pipeline_end(upload_pipeline *pipeline) {
  if (pipeline->soundSource) gst_app_src_end_of_stream(GST_APP_SRC(pipeline->soundSource));
  gst_app_src_end_of_stream(GST_APP_SRC(pipeline->source));
}

uint64_t upload_pipeline_bytes_written(upload_pipeline *pipeline) {
  return atomic_load_explicit(&pipeline->bytesWritten, memory_order_relaxed);
}

uint64_t upload_pipeline_buffers_written(upload_pipeline *pipeline) {
  return atomic_load_explicit(&pipeline->buffersWritten, memory_order_relaxed);
}

uint64_t upload_pipeline_newest_ns(upload_pipeline *pipeline) {
  return atomic_load_explicit(&pipeline->newestNs, memory_order_relaxed);
}

uintptr_t upload_pipeline_entry_address(upload_pipeline *pipeline) {
  return atomic_load_explicit(&pipeline->entryAddress, memory_order_relaxed);
}

void upload_pipeline_destroy(upload_pipeline *pipeline) {
  gst_element_set_state(pipeline->bin, GST_STATE_NULL);
  GstBus *bus = gst_element_get_bus(pipeline->bin);
  gst_bus_set_sync_handler(bus, NULL, NULL, NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline->bin);
  g_free(pipeline);
}

#else
// Without the package trait Media this file has only the declaration that ISO C requires.
typedef int upload_pipeline_is_absent;
#endif
