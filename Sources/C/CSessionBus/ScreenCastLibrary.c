#include "ScreenCastLibrary.h"

#include <dlfcn.h>
#include <stddef.h>

bool screencast_load(struct screencast_library *library) {
  static const struct {
    const char *name;
    size_t offset;
  } functions[] = {
      {"sd_bus_open_user", offsetof(struct screencast_library, open_user)},
      {"sd_bus_is_ready", offsetof(struct screencast_library, is_ready)},
      {"sd_bus_get_unique_name", offsetof(struct screencast_library, get_unique_name)},
      {"sd_bus_get_fd", offsetof(struct screencast_library, get_fd)},
      {"sd_bus_get_events", offsetof(struct screencast_library, get_events)},
      {"sd_bus_get_timeout", offsetof(struct screencast_library, get_timeout)},
      {"sd_bus_process", offsetof(struct screencast_library, process)},
      {"sd_bus_message_new_method_call", offsetof(struct screencast_library, new_call)},
      {"sd_bus_message_append", offsetof(struct screencast_library, append)},
      {"sd_bus_message_open_container", offsetof(struct screencast_library, open_container)},
      {"sd_bus_message_close_container", offsetof(struct screencast_library, close_container)},
      {"sd_bus_call_async", offsetof(struct screencast_library, call_async)},
      {"sd_bus_match_signal_async", offsetof(struct screencast_library, match_signal_async)},
      {"sd_bus_message_read", offsetof(struct screencast_library, read)},
      {"sd_bus_message_enter_container", offsetof(struct screencast_library, enter_container)},
      {"sd_bus_message_exit_container", offsetof(struct screencast_library, exit_container)},
      {"sd_bus_message_skip", offsetof(struct screencast_library, skip)},
      {"sd_bus_message_peek_type", offsetof(struct screencast_library, peek_type)},
      {"sd_bus_message_get_sender", offsetof(struct screencast_library, get_sender)},
      {"sd_bus_message_get_error", offsetof(struct screencast_library, get_error)},
      {"sd_bus_message_unref", offsetof(struct screencast_library, unref_message)},
      {"sd_bus_slot_unref", offsetof(struct screencast_library, unref_slot)},
      {"sd_bus_close_unref", offsetof(struct screencast_library, close)},
  };
  void *handle = dlopen(session_bus_library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == NULL) return false;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *found = dlsym(handle, functions[i].name);
    if (found == NULL) return false;
    // POSIX requires that a function's address survives this conversion (dlsym(3)).
    *(void **)((char *)library + functions[i].offset) = found;
  }
  return true;
}
