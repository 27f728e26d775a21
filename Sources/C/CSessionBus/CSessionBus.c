#include "CSessionBus.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "SessionBusLibrary.h"

struct library {
  int (*open_user)(sd_bus **bus);
  int (*set_timeout)(sd_bus *bus, uint64_t microseconds);
  int (*call)(sd_bus *bus, const char *destination, const char *path, const char *interface,
              const char *member, sd_bus_error *error, sd_bus_message **reply, const char *types,
              ...);
  int (*read)(sd_bus_message *message, const char *types, ...);
  sd_bus_message *(*unref)(sd_bus_message *message);
  sd_bus *(*close)(sd_bus *bus);
  void (*free_error)(sd_bus_error *error);
};

struct session_inhibition {
  struct library library;
  sd_bus *bus;
  uint32_t cookie;
  char failure[256];
};

static const char *const service = "org.freedesktop.ScreenSaver";
static const char *const path = "/org/freedesktop/ScreenSaver";
static const uint64_t timeout_microseconds = 10000000, last_timeout_microseconds = 1000000;

/// Never unloaded: the library keeps memory for each thread.
static int load(struct library *library) {
  void *handle = dlopen(session_bus_library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == NULL) return 0;
  // POSIX requires that a function's address survives this conversion (dlsym(3)).
  *(void **)&library->open_user = dlsym(handle, "sd_bus_open_user");
  *(void **)&library->set_timeout = dlsym(handle, "sd_bus_set_method_call_timeout");
  *(void **)&library->call = dlsym(handle, "sd_bus_call_method");
  *(void **)&library->read = dlsym(handle, "sd_bus_message_read");
  *(void **)&library->unref = dlsym(handle, "sd_bus_message_unref");
  *(void **)&library->close = dlsym(handle, "sd_bus_flush_close_unref");
  *(void **)&library->free_error = dlsym(handle, "sd_bus_error_free");
  return library->open_user && library->set_timeout && library->call && library->read &&
         library->unref && library->close && library->free_error;
}

static void fail(struct session_inhibition *inhibition, const char *what, const char *why) {
  snprintf(inhibition->failure, sizeof inhibition->failure, "%s: %s", what, why);
}

static void inhibit(struct session_inhibition *inhibition, const char *application,
                    const char *reason) {
  struct library *library = &inhibition->library;
  if (!load(library)) return fail(inhibition, session_bus_library, "the library cannot be loaded");
  int result = library->open_user(&inhibition->bus);
  if (result < 0) {
    inhibition->bus = NULL;
    return fail(inhibition, "no session bus",
                result == -ENOMEDIUM ? "no address" : strerror(-result));
  }
  library->set_timeout(inhibition->bus, timeout_microseconds);
  sd_bus_error error = {NULL, NULL, 0};
  sd_bus_message *reply = NULL;
  result = library->call(inhibition->bus, service, path, service, "Inhibit", &error, &reply, "ss",
                         application, reason);
  if (result < 0) {
    fail(inhibition, service, error.message ? error.message : strerror(-result));
  } else if (library->read(reply, "u", &inhibition->cookie) < 0) {
    fail(inhibition, service, "its answer has no cookie");
  }
  library->free_error(&error);
  library->unref(reply);
}

struct session_inhibition *session_inhibit_saver(const char *application, const char *reason) {
  struct session_inhibition *inhibition = calloc(1, sizeof *inhibition);
  if (inhibition != NULL) inhibit(inhibition, application, reason);
  return inhibition;
}

const char *session_inhibition_failure(const struct session_inhibition *inhibition) {
  return inhibition->failure[0] ? inhibition->failure : NULL;
}

void session_inhibition_end(struct session_inhibition *inhibition) {
  struct library *library = &inhibition->library;
  if (inhibition->bus != NULL) {
    if (!inhibition->failure[0]) {
      library->set_timeout(inhibition->bus, last_timeout_microseconds);
      // A failure is of no interest: the service sees that the connection goes.
      library->call(inhibition->bus, service, path, service, "UnInhibit", NULL, NULL, "u",
                    inhibition->cookie);
    }
    library->close(inhibition->bus);
  }
  free(inhibition);
}
