// Semaphores of a group.
#include "native.h"

static PyTypeObject *semaphore_type;

static void close_semaphore(void *handle) { framebus_semaphore_close(handle); }

static PyObject *semaphore_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"group", "name", "create", "recoverable", NULL};
  PyObject *group, *create = Py_None;
  const char *name;
  int recoverable = 0, code;
  uint32_t value = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "Os|$Op:Semaphore", names, &group, &name,
                                   &create, &recoverable) ||
      (create != Py_None && fb_uint32(create, "create", &value) < 0))
    return NULL;
  framebus_group *group_handle = fb_group_handle(group);
  fb_handle *made = group_handle ? (fb_handle *)PyType_GenericAlloc(type, 0) : NULL;
  if (!made) return NULL;
  made->close = close_semaphore;
  framebus_semaphore *handle = NULL;
  FB_ERROR(error);
  if (create == Py_None)
    code = framebus_semaphore_open(group_handle, name, &handle, &error);
  else
    code = framebus_semaphore_create(group_handle, name, value, (uint32_t)recoverable, &handle,
                                     &error);
  made->handle = handle;
  if (code >= 0) return (PyObject *)made;
  Py_DECREF(made);
  return fb_raise(code, &error);
}

typedef struct {
  framebus_semaphore *handle;
  uint64_t deadline_ns;
  framebus_error error;
} acquire_call;

static int wait_for_permit(void *context, framebus_stop *stop) {
  acquire_call *call = context;
  return framebus_semaphore_wait(call->handle, call->deadline_ns, stop, &call->error);
}

static PyObject *acquire(PyObject *self, uint64_t deadline) {
  acquire_call call = {.handle = fb_handle_begin(self), .deadline_ns = deadline};
  if (!call.handle) return NULL;
  call.error.size = sizeof call.error;
  int code = framebus_semaphore_wait(call.handle, 0, NULL, &call.error), status = 0;
  if (code == FRAMEBUS_TIMED_OUT && deadline != 0) {
    fb_wait wait = {wait_for_permit, &call, NULL};
    status = fb_wait_in(&wait, &code);
    // A permit that came together with the interrupt.
    if (status < 0 && code == FRAMEBUS_OK) framebus_semaphore_post(call.handle, NULL);
  }
  fb_handle_end(self);
  if (status < 0) return NULL;
  return code < 0 ? fb_raise(code, &call.error) : PyBool_FromLong(code == FRAMEBUS_OK);
}

static PyObject *semaphore_acquire(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                   PyObject *names) {
  uint64_t deadline;
  if (fb_timeout_from(arguments, count, names, "acquire", &deadline) < 0) return NULL;
  return acquire(self, deadline);
}

static PyObject *semaphore_release(PyObject *self, PyObject *unused) {
  (void)unused;
  framebus_semaphore *handle = fb_handle_begin(self);
  if (!handle) return NULL;
  FB_ERROR(error);
  int code = framebus_semaphore_post(handle, &error);
  fb_handle_end(self);
  return fb_finish(code, &error);
}

static PyObject *semaphore_value(PyObject *self, void *unused) {
  (void)unused;
  framebus_semaphore *handle = fb_handle_begin(self);
  if (!handle) return NULL;
  uint32_t value = 0;
  FB_ERROR(error);
  int code = framebus_semaphore_get_value(handle, &value, &error);
  fb_handle_end(self);
  return code < 0 ? fb_raise(code, &error) : PyLong_FromUnsignedLong(value);
}

static PyObject *semaphore_enter(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *acquired = acquire(self, FRAMEBUS_NEVER);
  if (!acquired) return NULL;
  Py_DECREF(acquired);
  return Py_NewRef(self);
}

static PyObject *semaphore_remove(PyObject *type, PyObject *arguments) {
  (void)type;
  PyObject *group;
  const char *name;
  if (!PyArg_ParseTuple(arguments, "Os:remove", &group, &name)) return NULL;
  framebus_group *group_handle = fb_group_handle(group);
  if (!group_handle) return NULL;
  FB_ERROR(error);
  return fb_finish(framebus_semaphore_remove(group_handle, name, &error), &error);
}

static PyMethodDef methods[] = {
    {"acquire", FB_METHOD(semaphore_acquire), METH_FASTCALL | METH_KEYWORDS,
     "Takes a permit; False if none came within `timeout` seconds."},
    {"release", semaphore_release, METH_NOARGS, "Gives a permit."},
    {"remove", semaphore_remove, METH_VARARGS | METH_STATIC,
     "Removes the semaphore of a group and name; waits for it end."},
    {"close", fb_handle_close, METH_NOARGS, "Closes it: at once, or after the waits in it."},
    {"__enter__", semaphore_enter, METH_NOARGS, NULL},
    {"__exit__", semaphore_release, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"value", semaphore_value, NULL, "Permits that can be taken now.", NULL},
    FB_HANDLE_PROPERTIES,
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "A semaphore of a group, opened, or made with `create` permits. `with semaphore:` holds\n"
     "one. A recoverable one gives back the permits of processes that die."},
    {Py_tp_new, semaphore_new},
    {Py_tp_dealloc, fb_handle_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "framebus.Semaphore",
    .basicsize = sizeof(fb_handle),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int fb_semaphore_init(PyObject *module) {
  semaphore_type = fb_add_type(module, &spec);
  return semaphore_type ? 0 : -1;
}
