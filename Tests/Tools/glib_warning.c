// Preloaded into a program, makes GLib report a failed assertion each time an element changes its
// state.
//
// cc -shared -fPIC -o glib_warning.so glib_warning.c -ldl
#define _GNU_SOURCE
#include <dlfcn.h>

typedef void *element;

int gst_element_set_state(element it, int state) {
  int (*next)(element, int) = (int (*)(element, int))dlsym(RTLD_NEXT, "gst_element_set_state");
  void (*log)(const char *, int, const char *, ...) =
      (void (*)(const char *, int, const char *, ...))dlsym(RTLD_DEFAULT, "g_log");
  if (log) log("Preloaded", 1 << 3, "%s", "an assertion failed");
  return next(it, state);
}
