// Results of the library as exceptions of framebus._errors.
#include "native.h"

static PyObject *make_error;

int fb_errors_init(void) {
  PyObject *module = PyImport_ImportModule("framebus._errors");
  if (!module) return -1;
  make_error = PyObject_GetAttrString(module, "make");
  Py_DECREF(module);
  return make_error ? 0 : -1;
}

static PyObject *raise(int code, const char *text, int system_error) {
  PyObject *error = PyObject_CallFunction(make_error, "isi", code, text, system_error);
  if (error) {
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
  }
  return NULL;
}

PyObject *fb_raise(int code, const framebus_error *error) {
  bool has_text = error && error->message[0];
  return raise(code, has_text ? error->message : framebus_strerror(code),
               error && error->code == code ? error->system_error : 0);
}

PyObject *fb_raise_text(int code, const char *text) { return raise(code, text, 0); }

PyObject *fb_raise_timeout(void) {
  return raise(FRAMEBUS_TIMED_OUT, "timed out: nothing came before the deadline", 0);
}
