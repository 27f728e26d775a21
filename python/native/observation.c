// Observations: deliveries that are waited for by a descriptor.
#include "native.h"

#include <sys/eventfd.h>
#include <unistd.h>

PyObject *fb_observation_new(PyTypeObject *type, void *handle, void (*close)(void *),
                             int descriptor, PyObject *(*take)(void *, int *)) {
  fb_observation *made = (fb_observation *)PyType_GenericAlloc(type, 0);
  if (!made) {
    close(handle);
    return NULL;
  }
  made->base.handle = handle;
  made->base.close = close;
  made->descriptor = descriptor;
  made->take = take;
  made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (made->wake >= 0 && descriptor >= 0) return (PyObject *)made;
  if (descriptor < 0)
    fb_raise(descriptor, NULL);
  else
    PyErr_SetFromErrno(PyExc_OSError);
  Py_DECREF(made);
  return NULL;
}

static void observation_dealloc(PyObject *self) {
  int wake = ((fb_observation *)self)->wake;
  if (wake > 0) close(wake);
  fb_handle_dealloc(self);
}

static PyObject *observation_close(PyObject *self, PyObject *unused) {
  fb_observation *observation = (fb_observation *)self;
  PyObject *result = fb_handle_close(self, unused);
  if (observation->is_busy) eventfd_write(observation->wake, 1);
  return result;
}

static PyObject *wait_until(fb_observation *observation, uint64_t deadline) {
  PyObject *delivery;
  int code;
  while (!(delivery = observation->take(observation->base.handle, &code)) &&
         code == FRAMEBUS_TIMED_OUT) {
    if (deadline != FRAMEBUS_NEVER && deadline <= framebus_now_ns()) return fb_raise_timeout();
    if (PyErr_CheckSignals() < 0 || fb_poll(observation->descriptor, observation->wake, deadline,
                                            &observation->is_busy) < 0)
      return NULL;
    if (observation->base.is_closing)
      return fb_raise_text(FRAMEBUS_ERROR_HANDLE, "the observation was closed during the wait");
  }
  return delivery;
}

static PyObject *receive(PyObject *self, uint64_t deadline) {
  fb_observation *observation = (fb_observation *)self;
  if (observation->is_busy) {
    fb_raise_busy("observation");
    return NULL;
  }
  if (!fb_handle_begin(self)) return NULL;
  PyObject *delivery = wait_until(observation, deadline);
  fb_handle_end(self);
  return delivery;
}

static PyObject *observation_receive(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                     PyObject *names) {
  uint64_t deadline;
  if (fb_timeout_from(arguments, count, names, "receive", &deadline) < 0) return NULL;
  return receive(self, deadline);
}

static PyObject *observation_next(PyObject *self) { return receive(self, FRAMEBUS_NEVER); }

static PyObject *observation_poll(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *delivery = receive(self, 0);
  if (delivery || !PyErr_ExceptionMatches(PyExc_TimeoutError)) return delivery;
  PyErr_Clear();
  Py_RETURN_NONE;
}

static PyObject *observation_fileno(PyObject *self, PyObject *unused) {
  (void)unused;
  if (!fb_handle_begin(self)) return NULL;
  fb_handle_end(self);
  return PyLong_FromLong(((fb_observation *)self)->descriptor);
}

static PyMethodDef methods[] = {
    {"receive", FB_METHOD(observation_receive), METH_FASTCALL | METH_KEYWORDS,
     "The next delivery, within `timeout` seconds."},
    {"poll", observation_poll, METH_NOARGS, "A delivery if there is one, else None."},
    {"fileno", observation_fileno, METH_NOARGS,
     "A descriptor for select and event loops, readable while there may be a delivery."},
    {"close", observation_close, METH_NOARGS, "Ends it; any thread may call it."},
    {"__enter__", fb_handle_enter, METH_NOARGS, NULL},
    {"__exit__", observation_close, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {FB_HANDLE_PROPERTIES, {NULL, NULL, NULL, NULL, NULL}};

PyTypeObject *fb_observation_type(PyObject *module, const char *name, const char *doc) {
  PyType_Slot slots[] = {
      {Py_tp_doc, (void *)doc},
      {Py_tp_dealloc, observation_dealloc},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_tp_iter, PyObject_SelfIter},
      {Py_tp_iternext, observation_next},
      {0, NULL},
  };
  PyType_Spec spec = {
      .name = name,
      .basicsize = sizeof(fb_observation),
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
      .slots = slots,
  };
  return fb_add_type(module, &spec);
}
