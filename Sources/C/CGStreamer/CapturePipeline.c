#include "CSlotSink.h"
#include "GStreamerLog.h"

#if __has_include(<gst/gst.h>)
#include <gst/app/gstappsrc.h>
#include <string.h>

char *fb_gstreamer_start(void) {
  GError *error = NULL;
  if (gst_init_check(NULL, NULL, &error)) return NULL;
  char *message = g_strdup(error != NULL ? error->message : "unknown reason");
  g_clear_error(&error);
  return message;
}

static void fill_from_error(struct fb_pipeline_failure *failure, const GError *error) {
  failure->isFailure = true;
  failure->message = g_strdup(error->message);
  failure->domain = g_strdup(g_quark_to_string(error->domain));
  failure->code = error->code;
}

static void fill_from_message(struct fb_pipeline_failure *failure, GstMessage *message) {
  GError *error = NULL;
  gchar *details = NULL;
  gst_message_parse_error(message, &error, &details);
  fill_from_error(failure, error);
  failure->details = details;
  GstObject *source = GST_MESSAGE_SRC(message);
  failure->element = gst_object_get_name(source);
  if (GST_IS_ELEMENT(source)) {
    GstElementFactory *factory = gst_element_get_factory(GST_ELEMENT(source));
    if (factory != NULL) failure->factory = g_strdup(GST_OBJECT_NAME(factory));
  }
  g_clear_error(&error);
}

struct fb_pipeline_failure fb_pipeline_take_failure(GstElement *pipeline) {
  struct fb_pipeline_failure failure = {.isFailure = false};
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessageType types = GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT;
  GstMessage *message;
  // The message about a missing decoder precedes the error that it causes.
  while (!failure.isFailure && (message = gst_bus_pop(bus)) != NULL) {
    fb_log_message(message);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      fill_from_message(&failure, message);
    } else if ((GST_MESSAGE_TYPE(message) & types) != 0 &&
               gst_message_has_name(message, "missing-plugin")) {
      const GstStructure *structure = gst_message_get_structure(message);
      g_free(failure.missing);
      failure.missing = g_strdup(gst_structure_get_string(structure, "name"));
    }
    gst_message_unref(message);
  }
  gst_object_unref(bus);
  return failure;
}

void fb_pipeline_failure_clear(struct fb_pipeline_failure *failure) {
  g_free(failure->element);
  g_free(failure->factory);
  g_free(failure->message);
  g_free(failure->details);
  g_free(failure->missing);
  g_free(failure->domain);
  *failure = (struct fb_pipeline_failure){.isFailure = false};
}

// A task that waits, for example for room in a queue, is in the started state.
static void find_started_task(const GValue *item, gpointer isStarted) {
  GstPad *pad = g_value_get_object(item);
  GST_OBJECT_LOCK(pad);
  GstTask *task = GST_PAD_TASK(pad);
  if (task != NULL && gst_task_get_state(task) == GST_TASK_STARTED) *(bool *)isStarted = true;
  GST_OBJECT_UNLOCK(pad);
}

static void check_pads(const GValue *item, gpointer isStarted) {
  GstIterator *pads = gst_element_iterate_pads(g_value_get_object(item));
  while (gst_iterator_foreach(pads, find_started_task, isStarted) == GST_ITERATOR_RESYNC) {
    gst_iterator_resync(pads);
  }
  gst_iterator_free(pads);
}

bool fb_pipeline_is_idle(GstElement *pipeline) {
  bool isStarted = false;
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  while (gst_iterator_foreach(elements, check_pads, &isStarted) == GST_ITERATOR_RESYNC) {
    gst_iterator_resync(elements);
  }
  gst_iterator_free(elements);
  return !isStarted;
}

int fb_pipeline_descriptor(GstElement *pipeline) {
  GstBus *bus = gst_element_get_bus(pipeline);
  GPollFD descriptor;
  gst_bus_get_pollfd(bus, &descriptor);
  gst_object_unref(bus);
  return descriptor.fd;
}

GstElement *fb_pipeline_new(const char *description, struct fb_pipeline_failure *failure) {
  GError *error = NULL;
  *failure = (struct fb_pipeline_failure){.isFailure = false};
  GstElement *pipeline =
      gst_parse_launch_full(description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (error != NULL) {
    fill_from_error(failure, error);
    g_clear_error(&error);
    if (pipeline != NULL) gst_object_unref(pipeline);
    return NULL;
  }
  return gst_object_ref_sink(pipeline);
}

bool fb_pipeline_set_text(GstElement *pipeline, const char *name, const char *property,
                          const char *value) {
  GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  if (element == NULL) return false;
  g_object_set(element, property, value, NULL);
  gst_object_unref(element);
  return true;
}

bool fb_pipeline_push(GstElement *pipeline, const void *bytes, size_t byteCount, uint64_t ptsNs,
                      uint32_t limit) {
  GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), "feed");
  if (element == NULL) return false;
  GstAppSrc *feed = GST_APP_SRC(element);
  bool isPushed = false;
  if (gst_app_src_get_current_level_buffers(feed) < limit) {
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, byteCount, NULL);
    gst_buffer_fill(buffer, 0, bytes, byteCount);
    GST_BUFFER_PTS(buffer) = ptsNs;
    isPushed = gst_app_src_push_buffer(feed, buffer) == GST_FLOW_OK;
  }
  gst_object_unref(element);
  return isPushed;
}

bool fb_pipeline_is_connected(GstElement *pipeline, const char *name) {
  GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  if (element == NULL) return false;
  GstPad *pad = gst_element_get_static_pad(element, "sink");
  bool isConnected = pad != NULL && gst_pad_is_linked(pad);
  if (pad != NULL) gst_object_unref(pad);
  gst_object_unref(element);
  return isConnected;
}

// GStreamer has no class of its own for screens: their elements are sources of video. Others than
// these are known by their description. A node of pipewiresrc can be a desktop or a camera; rfbsrc
// shows the screen of a VNC server.
static const char *const screenSources[] = {"ximagesrc", "pipewiresrc", "rfbsrc", NULL};

static bool describes_screen(GstElementFactory *factory) {
  const char *keys[] = {GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_DESCRIPTION};
  for (size_t index = 0; index < G_N_ELEMENTS(keys); index++) {
    const char *text = gst_element_factory_get_metadata(factory, keys[index]);
    gchar *lower = text != NULL ? g_ascii_strdown(text, -1) : NULL;
    bool isScreen = lower != NULL && strstr(lower, "screen") != NULL;
    g_free(lower);
    if (isScreen) return true;
  }
  return false;
}

static void find_screen_source(const GValue *item, gpointer isFound) {
  GstElementFactory *factory = gst_element_get_factory(g_value_get_object(item));
  if (factory == NULL) return;
  const char *klass = gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS);
  if (klass == NULL || strstr(klass, "Source") == NULL || strstr(klass, "Video") == NULL) return;
  if (g_strv_contains(screenSources, GST_OBJECT_NAME(factory)) || describes_screen(factory)) {
    *(bool *)isFound = true;
  }
}

bool fb_pipeline_captures_screen(GstElement *pipeline) {
  bool isFound = false;
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  while (gst_iterator_foreach(elements, find_screen_source, &isFound) == GST_ITERATOR_RESYNC) {
    gst_iterator_resync(elements);
  }
  gst_iterator_free(elements);
  return isFound;
}

uint64_t fb_pipeline_duration_ns(GstElement *pipeline) {
  gint64 duration;
  bool isKnown = gst_element_query_duration(pipeline, GST_FORMAT_TIME, &duration) && duration > 0;
  return isKnown ? (uint64_t)duration : UINT64_MAX;
}

static const char player[] = "framebus-player";

static gpointer play(gpointer pipeline) {
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  gst_object_unref(pipeline);
  return NULL;
}

bool fb_pipeline_play_apart(GstElement *pipeline) {
  GThread *thread = g_thread_try_new("play", play, gst_object_ref(pipeline), NULL);
  if (thread == NULL) gst_object_unref(pipeline);
  g_object_set_data(G_OBJECT(pipeline), player, thread);
  return thread != NULL;
}

void fb_pipeline_stop(GstElement *pipeline) {
  // First, so that it does not start afterwards.
  GThread *thread = g_object_steal_data(G_OBJECT(pipeline), player);
  if (thread != NULL) g_thread_join(thread);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

void fb_pipeline_free(GstElement *pipeline) {
  fb_pipeline_stop(pipeline);
  gst_object_unref(pipeline);
}

bool fb_pipeline_play(GstElement *pipeline) {
  return gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
}
#endif
