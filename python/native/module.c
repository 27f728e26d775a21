// The module framebus._native.
#include "native.h"

PyTypeObject *fb_add_type(PyObject *module, PyType_Spec *spec) {
  PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(spec);
  if (!type || PyModule_AddType(module, type) < 0) return NULL;
  return type;
}

void fb_free(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

int fb_raise_busy(const char *what) {
  PyErr_Format(PyExc_RuntimeError,
               "another thread waits in this %s; use one thread for it, or a lock", what);
  return -1;
}

static PyObject *now_ns(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return PyLong_FromUnsignedLongLong(framebus_now_ns());
}

static PyMethodDef functions[] = {
    {"now_ns", now_ns, METH_NOARGS, "CLOCK_MONOTONIC in nanoseconds, the clock of all frames."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "framebus._native", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__native(void) {
  uint32_t version = framebus_abi_version();
  if (version >> 16 != FRAMEBUS_ABI_VERSION >> 16 || version < FRAMEBUS_ABI_VERSION) {
    PyErr_Format(PyExc_ImportError,
                 "libframebus.so has version %u.%u, and framebus needs %u.%u; install both anew",
                 version >> 16, version & 0xffff, FRAMEBUS_ABI_VERSION >> 16,
                 FRAMEBUS_ABI_VERSION & 0xffff);
    return NULL;
  }
  PyObject *module = PyModule_Create(&definition);
  if (!module) return NULL;
  if (fb_errors_init() < 0 || fb_memory_init() < 0 || fb_plane_init(module) < 0 ||
      fb_format_init(module) < 0 || fb_frame_init(module) < 0 || fb_group_init(module) < 0 ||
      fb_publisher_init(module) < 0 || fb_loan_init(module) < 0 ||
      fb_subscriber_init(module) < 0 || fb_notifications_init(module) < 0 ||
      fb_settings_init(module) < 0 || fb_log_init(module) < 0 || fb_semaphore_init(module) < 0 ||
      fb_secret_init(module) < 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
