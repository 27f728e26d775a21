#define _GNU_SOURCE
#include "CPipeWire.h"

#if __has_include(<pipewire/pipewire.h>)
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include "PipeWireLibrary.h"

static struct fb_pipewire_library library;
static bool isLoaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
#define FUNCTION(name) {"pw_" #name, offsetof(struct fb_pipewire_library, name)}
  static const struct {
    const char *name;
    size_t offset;
  } functions[] = {
      FUNCTION(init),
      FUNCTION(loop_new),
      FUNCTION(loop_destroy),
      FUNCTION(context_new),
      FUNCTION(context_destroy),
      FUNCTION(context_connect),
      FUNCTION(context_connect_fd),
      FUNCTION(core_disconnect),
      FUNCTION(core_get_client),
      FUNCTION(core_steal_fd),
      FUNCTION(proxy_destroy),
      FUNCTION(properties_new),
      FUNCTION(stream_new),
      FUNCTION(stream_destroy),
      FUNCTION(stream_add_listener),
      FUNCTION(stream_connect),
      FUNCTION(stream_update_params),
      FUNCTION(stream_dequeue_buffer),
      FUNCTION(stream_queue_buffer),
      FUNCTION(stream_set_active),
      FUNCTION(stream_trigger_process),
      FUNCTION(stream_get_state),
      FUNCTION(stream_get_node_id),
      FUNCTION(stream_get_time_n),
      FUNCTION(thread_loop_new),
      FUNCTION(thread_loop_destroy),
      FUNCTION(thread_loop_get_loop),
      FUNCTION(thread_loop_start),
      FUNCTION(thread_loop_stop),
      FUNCTION(thread_loop_lock),
      FUNCTION(thread_loop_unlock),
  };
#undef FUNCTION
  // Never unloaded: its plugins have threads and memory of their own.
  void *handle = dlopen("libpipewire-0.3.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == NULL) return;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *found = dlsym(handle, functions[i].name);
    if (found == NULL) return;
    // POSIX requires that a function's address survives this conversion (dlsym(3)).
    *(void **)((char *)&library + functions[i].offset) = found;
  }
  library.init(NULL, NULL);
  isLoaded = true;
}

const struct fb_pipewire_library *fb_pipewire_library(void) {
  pthread_once(&once, load);
  return isLoaded ? &library : NULL;
}

const char *fb_pipewire_load(void) {
  return fb_pipewire_library() != NULL ? NULL : "libpipewire-0.3.so.0 cannot be loaded";
}
#endif
