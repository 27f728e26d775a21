// Settings: typed values that all members of a group see at once.
#include "native.h"

#include <stdlib.h>
#include <string.h>

static PyTypeObject *settings_type, *observation_type;

static void close_settings(void *handle) { framebus_settings_close(handle); }
static void close_observation(void *handle) { framebus_settings_observation_close(handle); }

static PyObject *settings_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"group", "suite", NULL};
  PyObject *group;
  const char *suite = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|z:Settings", names, &group, &suite))
    return NULL;
  framebus_group *group_handle = fb_group_handle(group);
  fb_handle *made = group_handle ? (fb_handle *)PyType_GenericAlloc(type, 0) : NULL;
  if (!made) return NULL;
  made->close = close_settings;
  framebus_settings *handle = NULL;
  FB_ERROR(error);
  int code = framebus_settings_open(group_handle, suite, &handle, &error);
  made->handle = handle;
  if (code >= 0) return (PyObject *)made;
  Py_DECREF(made);
  return fb_raise(code, &error);
}

/// Text or bytes of any length.
static PyObject *read_bytes(framebus_settings *settings, const char *key, bool is_text) {
  size_t capacity = 256, length = 0;
  PyObject *result = NULL;
  while (true) {
    char *buffer = malloc(capacity);
    if (!buffer) return PyErr_NoMemory();
    FB_ERROR(error);
    int code = is_text
                   ? framebus_settings_get_text(settings, key, buffer, capacity, &length, &error)
                   : framebus_settings_get_bytes(settings, key, buffer, capacity, &length, &error);
    // Another process may make it longer in between.
    bool is_short = code == FRAMEBUS_ERROR_LIMIT && length >= capacity - 1;
    if (code == FRAMEBUS_OK)
      result = is_text ? PyUnicode_DecodeUTF8(buffer, (Py_ssize_t)length, "replace")
                       : PyBytes_FromStringAndSize(buffer, (Py_ssize_t)length);
    else if (!is_short)
      fb_raise(code, &error);
    free(buffer);
    if (!is_short) return result;
    capacity = length + 256;
  }
}

static PyObject *read_value(framebus_settings *settings, const char *key) {
  uint32_t type;
  FB_ERROR(error);
  int code = framebus_settings_get_type(settings, key, &type, &error), boolean = 0;
  int64_t integer = 0;
  double number = 0;
  if (code < 0) return fb_raise(code, &error);
  switch (type) {
    case FRAMEBUS_TYPE_BOOL:
      code = framebus_settings_get_bool(settings, key, &boolean, &error);
      return code < 0 ? fb_raise(code, &error) : PyBool_FromLong(boolean);
    case FRAMEBUS_TYPE_INTEGER:
      code = framebus_settings_get_integer(settings, key, &integer, &error);
      return code < 0 ? fb_raise(code, &error) : PyLong_FromLongLong(integer);
    case FRAMEBUS_TYPE_DOUBLE:
      code = framebus_settings_get_double(settings, key, &number, &error);
      return code < 0 ? fb_raise(code, &error) : PyFloat_FromDouble(number);
    case FRAMEBUS_TYPE_TEXT: return read_bytes(settings, key, true);
    case FRAMEBUS_TYPE_BYTES: return read_bytes(settings, key, false);
    default:
      return fb_raise_text(FRAMEBUS_ERROR_TYPE,
                           "the setting is a date, URL, array or dictionary, which Python cannot "
                           "read; use framebus defaults read");
  }
}

static PyObject *settings_subscript(PyObject *self, PyObject *name) {
  const char *key = fb_text(name);
  framebus_settings *handle = key ? fb_handle_begin(self) : NULL;
  if (!handle) return NULL;
  PyObject *value = read_value(handle, key);
  fb_handle_end(self);
  return value;
}

static int store(framebus_settings *settings, const char *key, PyObject *value, int *code,
                 framebus_error *error) {
  // Writing may wait for other processes.
  if (PyBool_Check(value)) {
    int boolean = value == Py_True;
    Py_BEGIN_ALLOW_THREADS
    *code = framebus_settings_set_bool(settings, key, boolean, error);
    Py_END_ALLOW_THREADS
  } else if (PyLong_Check(value)) {
    int64_t integer;
    if (fb_int64(value, "value", &integer) < 0) return -1;
    Py_BEGIN_ALLOW_THREADS
    *code = framebus_settings_set_integer(settings, key, integer, error);
    Py_END_ALLOW_THREADS
  } else if (PyFloat_Check(value)) {
    double number = PyFloat_AsDouble(value);
    Py_BEGIN_ALLOW_THREADS
    *code = framebus_settings_set_double(settings, key, number, error);
    Py_END_ALLOW_THREADS
  } else if (PyUnicode_Check(value)) {
    const char *text = fb_text(value);
    if (!text) return -1;
    Py_BEGIN_ALLOW_THREADS
    *code = framebus_settings_set_text(settings, key, text, error);
    Py_END_ALLOW_THREADS
  } else {
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0) {
      PyErr_Clear();
      PyErr_Format(PyExc_TypeError, "a setting is bool, int, float, str or bytes, and not %R",
                   Py_TYPE(value));
      return -1;
    }
    Py_BEGIN_ALLOW_THREADS
    *code = framebus_settings_set_bytes(settings, key, view.buf, (size_t)view.len, error);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
  }
  return 0;
}

static int settings_assign(PyObject *self, PyObject *name, PyObject *value) {
  const char *key = fb_text(name);
  framebus_settings *handle = key ? fb_handle_begin(self) : NULL;
  if (!handle) return -1;
  FB_ERROR(error);
  int code = FRAMEBUS_OK, status = 0;
  if (value) {
    status = store(handle, key, value, &code, &error);
  } else {
    uint32_t type;
    code = framebus_settings_get_type(handle, key, &type, &error);
    if (code >= 0) {
      Py_BEGIN_ALLOW_THREADS
      code = framebus_settings_remove(handle, key, &error);
      Py_END_ALLOW_THREADS
    }
  }
  fb_handle_end(self);
  if (status == 0 && code < 0) fb_raise(code, &error);
  return status < 0 || code < 0 ? -1 : 0;
}

static int settings_contains(PyObject *self, PyObject *name) {
  const char *key = fb_text(name);
  framebus_settings *handle = key ? fb_handle_begin(self) : NULL;
  if (!handle) return -1;
  uint32_t type;
  FB_ERROR(error);
  int code = framebus_settings_get_type(handle, key, &type, &error);
  fb_handle_end(self);
  if (code == FRAMEBUS_ERROR_NOT_FOUND) return 0;
  if (code >= 0) return 1;
  fb_raise(code, &error);
  return -1;
}

static PyObject *settings_get(PyObject *self, PyObject *arguments) {
  PyObject *name, *fallback = Py_None;
  if (!PyArg_ParseTuple(arguments, "U|O:get", &name, &fallback)) return NULL;
  int is_set = settings_contains(self, name);
  if (is_set < 0) return NULL;
  return is_set ? settings_subscript(self, name) : Py_NewRef(fallback);
}

static PyObject *settings_synchronize(PyObject *self, PyObject *unused) {
  (void)unused;
  framebus_settings *handle = fb_handle_begin(self);
  if (!handle) return NULL;
  FB_ERROR(error);
  int code;
  Py_BEGIN_ALLOW_THREADS
  code = framebus_settings_synchronize(handle, &error);
  Py_END_ALLOW_THREADS
  fb_handle_end(self);
  return fb_finish(code, &error);
}

static PyObject *take(void *handle, int *code) {
  char key[FRAMEBUS_MAXIMUM_KEY_BYTES + 1];
  FB_ERROR(error);
  *code = framebus_settings_observation_next(handle, 0, NULL, key, sizeof key, &error);
  if (*code < 0) return fb_raise(*code, &error);
  if (*code != FRAMEBUS_OK) return NULL;
  PyObject *made = PyUnicode_DecodeUTF8(key, (Py_ssize_t)strlen(key), "replace");
  if (!made) *code = FRAMEBUS_ERROR_SYSTEM;
  return made;
}

static PyObject *settings_observe(PyObject *self, PyObject *arguments) {
  const char *key = NULL;
  if (!PyArg_ParseTuple(arguments, "|z:observe", &key)) return NULL;
  framebus_settings *handle = fb_handle_begin(self);
  if (!handle) return NULL;
  framebus_settings_observation *observation = NULL;
  FB_ERROR(error);
  int code = framebus_settings_observe(handle, key, &observation, &error);
  fb_handle_end(self);
  if (code < 0) return fb_raise(code, &error);
  return fb_observation_new(observation_type, observation, close_observation,
                            framebus_settings_observation_descriptor(observation), take);
}

static PyMethodDef methods[] = {
    {"get", settings_get, METH_VARARGS, "The value of a key, or a fallback (None)."},
    {"synchronize", settings_synchronize, METH_NOARGS,
     "Waits until all changes survive a power cut."},
    {"observe", settings_observe, METH_VARARGS, "Begins to observe a key, or None for every key."},
    FB_HANDLE_METHODS,
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {FB_HANDLE_PROPERTIES, {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Settings of a group: `settings[key]`, of bool, int, float, str and bytes. A change is\n"
     "atomic, and all members see it at once. Secrets are refused."},
    {Py_tp_new, settings_new},
    {Py_tp_dealloc, fb_handle_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_mp_subscript, settings_subscript},
    {Py_mp_ass_subscript, settings_assign},
    {Py_sq_contains, settings_contains},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "framebus.Settings",
    .basicsize = sizeof(fb_handle),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int fb_settings_init(PyObject *module) {
  settings_type = fb_add_type(module, &spec);
  observation_type = fb_observation_type(
      module, "framebus.SettingsObservation",
      "Keys whose values changed. Iterating waits for each; framebus.deliveries does in asyncio.");
  return settings_type && observation_type ? 0 : -1;
}
