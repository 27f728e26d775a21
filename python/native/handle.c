// The common part of objects over one handle of the library.
#include "native.h"

void *fb_handle_begin(PyObject *self) {
  fb_handle *object = (fb_handle *)self;
  if (object->handle && !object->is_closing) {
    object->uses++;
    return object->handle;
  }
  fb_raise_text(FRAMEBUS_ERROR_HANDLE, "it is closed; open it again");
  return NULL;
}

static void end_handle(fb_handle *object) {
  void *handle = object->handle;
  object->handle = NULL;
  if (handle) object->close(handle);
}

void fb_handle_end(PyObject *self) {
  fb_handle *object = (fb_handle *)self;
  if (--object->uses == 0 && object->is_closing) end_handle(object);
}

void fb_handle_dealloc(PyObject *self) {
  end_handle((fb_handle *)self);
  fb_free(self);
}

PyObject *fb_handle_close(PyObject *self, PyObject *unused) {
  (void)unused;
  fb_handle *object = (fb_handle *)self;
  object->is_closing = true;
  if (object->uses == 0) end_handle(object);
  Py_RETURN_NONE;
}

PyObject *fb_handle_enter(PyObject *self, PyObject *unused) {
  (void)unused;
  return Py_NewRef(self);
}

PyObject *fb_handle_closed(PyObject *self, void *unused) {
  (void)unused;
  fb_handle *object = (fb_handle *)self;
  return PyBool_FromLong(!object->handle || object->is_closing);
}

PyObject *fb_finish(int code, const framebus_error *error) {
  if (code < 0) return fb_raise(code, error);
  Py_RETURN_NONE;
}
