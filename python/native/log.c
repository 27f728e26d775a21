// The log of this process: lines that outlive it, merged for all members of the group.
#include "native.h"

#include <stdlib.h>

static PyTypeObject *log_type;

static const fb_word level_words[] = {
    {"trace", FRAMEBUS_LOG_TRACE},       {"debug", FRAMEBUS_LOG_DEBUG},
    {"info", FRAMEBUS_LOG_INFO},         {"notice", FRAMEBUS_LOG_NOTICE},
    {"warning", FRAMEBUS_LOG_WARNING},   {"error", FRAMEBUS_LOG_ERROR},
    {"critical", FRAMEBUS_LOG_CRITICAL}, {NULL, 0}};

/// Without a deadline of the caller's: lines stay in memory that the next log saves.
static void close_log(void *handle) { framebus_log_close(handle, 0, NULL); }

static PyObject *log_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"group", "role", "level", NULL};
  PyObject *group, *level = NULL;
  const char *role = "host";
  uint32_t minimum = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|sO:Log", names, &group, &role, &level) ||
      (level && fb_value_of(level, level_words, "level", &minimum) < 0))
    return NULL;
  framebus_group *group_handle = fb_group_handle(group);
  fb_handle *made = group_handle ? (fb_handle *)PyType_GenericAlloc(type, 0) : NULL;
  if (!made) return NULL;
  made->close = close_log;
  framebus_log *handle = NULL;
  FB_ERROR(error);
  int code = framebus_log_open(group_handle, role, minimum, &handle, &error);
  made->handle = handle;
  if (code >= 0) return (PyObject *)made;
  Py_DECREF(made);
  return fb_raise(code, &error);
}

static Py_ssize_t read_fields(PyObject *dictionary, framebus_log_field **fields) {
  Py_ssize_t count = 0, position = 0;
  *fields = NULL;
  if (!dictionary || dictionary == Py_None) return 0;
  if (!PyDict_Check(dictionary)) {
    PyErr_SetString(PyExc_TypeError, "fields is not a dict of str");
    return -1;
  }
  *fields = calloc((size_t)PyDict_Size(dictionary) + 1, sizeof **fields);
  PyObject *key, *value;
  while (*fields && PyDict_Next(dictionary, &position, &key, &value)) {
    framebus_log_field *field = *fields + count++;
    field->key = fb_text(key);
    field->value = field->key ? fb_text(value) : NULL;
    if (!field->value) return -1;
  }
  return count;
}

static PyObject *log_append(PyObject *self, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"level", "message", "label", "fields", NULL};
  PyObject *level, *dictionary = NULL;
  const char *message, *label = NULL;
  uint32_t value;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "Os|zO:append", names, &level, &message,
                                   &label, &dictionary) ||
      fb_value_of(level, level_words, "level", &value) < 0)
    return NULL;
  framebus_log_field *fields;
  Py_ssize_t count = read_fields(dictionary, &fields);
  framebus_log *handle = count < 0 ? NULL : fb_handle_begin(self);
  PyObject *result = NULL;
  if (handle) {
    FB_ERROR(error);
    int code =
        framebus_log_append(handle, value, label, message, fields, (size_t)count, &error);
    fb_handle_end(self);
    result = fb_finish(code, &error);
  }
  free(fields);
  return result;
}

static PyObject *log_writes(PyObject *self, PyObject *level) {
  uint32_t value;
  if (fb_value_of(level, level_words, "level", &value) < 0) return NULL;
  framebus_log *handle = fb_handle_begin(self);
  if (!handle) return NULL;
  int code = framebus_log_writes(handle, value);
  fb_handle_end(self);
  return code < 0 ? fb_raise(code, NULL) : PyBool_FromLong(code);
}

static PyObject *log_flush(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                           PyObject *names) {
  uint64_t deadline;
  if (fb_timeout_from(arguments, count, names, "flush", &deadline) < 0) return NULL;
  framebus_log *handle = fb_handle_begin(self);
  if (!handle) return NULL;
  FB_ERROR(error);
  int code;
  Py_BEGIN_ALLOW_THREADS
  code = framebus_log_flush(handle, deadline, &error);
  Py_END_ALLOW_THREADS
  fb_handle_end(self);
  return code == FRAMEBUS_TIMED_OUT ? fb_raise_timeout() : fb_finish(code, &error);
}

/// Closes the log here, unless another thread uses it: that one does without waiting.
static PyObject *log_close(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                           PyObject *names) {
  uint64_t deadline = framebus_after_ns(1000000000);
  if (count + (names ? PyTuple_Size(names) : 0) > 0 &&
      fb_timeout_from(arguments, count, names, "close", &deadline) < 0)
    return NULL;
  fb_handle *object = (fb_handle *)self;
  framebus_log *handle = object->handle;
  object->is_closing = true;
  if (!handle || object->uses > 0) Py_RETURN_NONE;
  object->handle = NULL;
  FB_ERROR(error);
  int code;
  Py_BEGIN_ALLOW_THREADS
  code = framebus_log_close(handle, deadline, &error);
  Py_END_ALLOW_THREADS
  return code == FRAMEBUS_TIMED_OUT ? fb_raise_timeout() : fb_finish(code, &error);
}

static PyObject *log_exit(PyObject *self, PyObject *unused) {
  (void)unused;
  return log_close(self, NULL, 0, NULL);
}

static PyMethodDef methods[] = {
    {"append", FB_METHOD(log_append), METH_VARARGS | METH_KEYWORDS,
     "Appends a line, without a system call. fields: a dict of str beside the message."},
    {"writes", log_writes, METH_O, "Whether lines of a level are written."},
    {"flush", FB_METHOD(log_flush), METH_FASTCALL | METH_KEYWORDS,
     "Waits until all lines survive a power cut, up to `timeout` seconds."},
    {"close", FB_METHOD(log_close), METH_FASTCALL | METH_KEYWORDS,
     "Saves all lines, in up to `timeout` seconds (1), and ends the log."},
    {"__enter__", fb_handle_enter, METH_NOARGS, NULL},
    {"__exit__", log_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {FB_HANDLE_PROPERTIES, {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "The log of this process, as a role, of lines from a level on ('info'). Members of the\n"
     "group can read a line when append returns, even if the process then dies."},
    {Py_tp_new, log_new},
    {Py_tp_dealloc, fb_handle_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "framebus.Log",
    .basicsize = sizeof(fb_handle),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int fb_log_init(PyObject *module) {
  log_type = fb_add_type(module, &spec);
  return log_type ? 0 : -1;
}
