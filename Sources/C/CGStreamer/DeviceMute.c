#include "CDeviceMute.h"

#include <stddef.h>

#if __has_include(<gst/gst.h>) && __has_include(<pulse/pulseaudio.h>)
#include <dlfcn.h>
#include <pulse/pulseaudio.h>
#include <stdlib.h>
#include <string.h>

/// The functions of libpulse in use. No program links it: only sound captures need it.
#define FUNCTIONS(use)                                                                             \
  use(pa_mainloop_new) use(pa_mainloop_free) use(pa_mainloop_get_api) use(pa_mainloop_iterate)     \
  use(pa_context_new) use(pa_context_connect) use(pa_context_disconnect) use(pa_context_unref)     \
  use(pa_context_get_state) use(pa_context_get_source_info_by_name)                                \
  use(pa_context_get_sink_info_by_index) use(pa_operation_get_state) use(pa_operation_unref)

struct fb_device_mute {
  void *library;
#define DECLARE(name) __typeof__(&name) name;
  FUNCTIONS(DECLARE)
  char *source;
  pa_mainloop *loop;
  pa_context *context;
  pa_operation *question;
  enum fb_mute answer;
};

static bool load(struct fb_device_mute *mute) {
  mute->library = dlopen("libpulse.so.0", RTLD_NOW | RTLD_LOCAL);
  if (mute->library == NULL) return false;
#define FIND(name)                                                                                 \
  *(void **)&mute->name = dlsym(mute->library, #name);                                             \
  if (mute->name == NULL) return false;
  FUNCTIONS(FIND)
  return true;
}

static void disconnect(struct fb_device_mute *mute) {
  if (mute->question != NULL) mute->pa_operation_unref(mute->question);
  mute->question = NULL;
  if (mute->context != NULL) {
    mute->pa_context_disconnect(mute->context);
    mute->pa_context_unref(mute->context);
  }
  mute->context = NULL;
  mute->answer = FB_MUTE_UNKNOWN;
}

struct fb_device_mute *fb_device_mute_new(const char *source) {
  struct fb_device_mute *mute = calloc(1, sizeof *mute);
  if (mute == NULL) return NULL;
  mute->source = strdup(source);
  if (mute->source == NULL || !load(mute) || (mute->loop = mute->pa_mainloop_new()) == NULL) {
    fb_device_mute_free(mute);
    return NULL;
  }
  return mute;
}

void fb_device_mute_free(struct fb_device_mute *mute) {
  if (mute->loop != NULL) {
    disconnect(mute);
    mute->pa_mainloop_free(mute->loop);
  }
  if (mute->library != NULL) dlclose(mute->library);
  free(mute->source);
  free(mute);
}

static bool is_zero(const pa_cvolume *volume) {
  for (unsigned i = 0; i < volume->channels && i < PA_CHANNELS_MAX; i++)
    if (volume->values[i] != PA_VOLUME_MUTED) return false;
  return volume->channels > 0;
}

static void take_sink(pa_context *context, const pa_sink_info *info, int end, void *data) {
  (void)context;
  struct fb_device_mute *mute = data;
  if (end != 0 || info == NULL) return;
  mute->answer = info->mute || is_zero(&info->volume) ? FB_MUTE_MONITORED_SINK : FB_MUTE_AUDIBLE;
}

static void take_source(pa_context *context, const pa_source_info *info, int end, void *data) {
  struct fb_device_mute *mute = data;
  if (end != 0 || info == NULL) return;
  if (info->mute || is_zero(&info->volume)) {
    mute->answer = FB_MUTE_SOURCE;
  } else if (info->monitor_of_sink == PA_INVALID_INDEX) {
    mute->answer = FB_MUTE_AUDIBLE;
  } else {
    // The previous answer stays until this one arrives.
    pa_operation *question = mute->pa_context_get_sink_info_by_index(
        context, info->monitor_of_sink, take_sink, mute);
    if (question != NULL) mute->pa_operation_unref(question);
  }
}

static void ask(struct fb_device_mute *mute) {
  if (mute->question != NULL) {
    if (mute->pa_operation_get_state(mute->question) == PA_OPERATION_RUNNING) return;
    mute->pa_operation_unref(mute->question);
  }
  mute->question =
      mute->pa_context_get_source_info_by_name(mute->context, mute->source, take_source, mute);
}

enum fb_mute fb_device_mute_poll(struct fb_device_mute *mute) {
  if (mute->context == NULL) {
    mute->context = mute->pa_context_new(mute->pa_mainloop_get_api(mute->loop), "framebus");
    if (mute->context == NULL) return FB_MUTE_UNKNOWN;
    // The capture's own connection starts a server if need be.
    if (mute->pa_context_connect(mute->context, NULL, PA_CONTEXT_NOAUTOSPAWN, NULL) < 0)
      disconnect(mute);
  }
  // Bounded, whatever the server sends.
  for (unsigned i = 0; i < 64 && mute->pa_mainloop_iterate(mute->loop, 0, NULL) > 0; i++) {
  }
  if (mute->context == NULL) return FB_MUTE_UNKNOWN;
  pa_context_state_t state = mute->pa_context_get_state(mute->context);
  if (state == PA_CONTEXT_READY) ask(mute);
  else if (!PA_CONTEXT_IS_GOOD(state)) disconnect(mute);
  return mute->answer;
}
#else
struct fb_device_mute *fb_device_mute_new(const char *source) {
  (void)source;
  return NULL;
}
void fb_device_mute_free(struct fb_device_mute *mute) { (void)mute; }
enum fb_mute fb_device_mute_poll(struct fb_device_mute *mute) {
  (void)mute;
  return FB_MUTE_UNKNOWN;
}
#endif
