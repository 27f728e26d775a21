// A group, and the streams of its publishers.
#include "native.h"

#include <stdlib.h>

static PyTypeObject *group_type;

const fb_word fb_content_words[] = {{"other", FRAMEBUS_CONTENT_OTHER},
                                    {"screen", FRAMEBUS_CONTENT_SCREEN},
                                    {"window", FRAMEBUS_CONTENT_WINDOW},
                                    {NULL, 0}};
const fb_word fb_pause_words[] = {{"none", FRAMEBUS_PAUSE_NONE},
                                  {"requested", FRAMEBUS_PAUSE_REQUESTED},
                                  {"transition", FRAMEBUS_PAUSE_TRANSITION},
                                  {"unavailable", FRAMEBUS_PAUSE_UNAVAILABLE},
                                  {NULL, 0}};
static const fb_word states[] = {{"starting", FRAMEBUS_STATE_STARTING},
                                 {"live", FRAMEBUS_STATE_LIVE},
                                 {"paused", FRAMEBUS_STATE_PAUSED},
                                 {"finished", FRAMEBUS_STATE_FINISHED},
                                 {"silent", FRAMEBUS_STATE_SILENT},
                                 {NULL, 0}};

framebus_group *fb_group_handle(PyObject *object) {
  int is_group = PyObject_IsInstance(object, (PyObject *)group_type);
  if (is_group < 0) return NULL;
  if (!is_group) {
    PyErr_Format(PyExc_TypeError, "group is %R; use a framebus.Group", object);
    return NULL;
  }
  framebus_group *handle = ((fb_group *)object)->handle;
  if (!handle) fb_raise_text(FRAMEBUS_ERROR_HANDLE, "the group is closed; open it again");
  return handle;
}

static PyObject *group_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"id", "root", NULL};
  const char *id = NULL, *root = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|zz:Group", names, &id, &root))
    return NULL;
  if (!root) root = getenv("FRAMEBUS_HOME");
  if (root && !root[0]) root = NULL;
  fb_group *group = (fb_group *)PyType_GenericAlloc(type, 0);
  if (!group) return NULL;
  FB_ERROR(error);
  int code = framebus_group_open(id, root, &group->handle, &error);
  if (code >= 0) return (PyObject *)group;
  Py_DECREF(group);
  return fb_raise(code, &error);
}

static void close_group(fb_group *group) {
  if (group->handle) framebus_group_close(group->handle);
  group->handle = NULL;
}

static void group_dealloc(PyObject *self) {
  close_group((fb_group *)self);
  fb_free(self);
}

static PyObject *group_close(PyObject *self, PyObject *unused) {
  (void)unused;
  close_group((fb_group *)self);
  Py_RETURN_NONE;
}

static PyObject *format_of(framebus_streams *streams, size_t index) {
  framebus_format format = {.size = sizeof format};
  FB_ERROR(error);
  int code = framebus_streams_format(streams, index, &format, &error);
  if (code == FRAMEBUS_ERROR_NOT_FOUND) Py_RETURN_NONE;
  return code < 0 ? fb_raise(code, &error) : fb_format_new(&format);
}

static PyObject *status_of(framebus_streams *streams, size_t index) {
  framebus_stream_status status = {.size = sizeof status};
  FB_ERROR(error);
  int code = framebus_streams_get(streams, index, &status, &error);
  if (code < 0) return fb_raise(code, &error);
  PyObject *format = format_of(streams, index);
  if (!format) return NULL;
  return fb_make("StreamStatus", "(sNNNNsIiKKKK)", status.name, fb_word_of(status.state, states),
                 fb_word_of(status.pause_reason, fb_pause_words),
                 fb_word_of(status.content, fb_content_words), format, status.application,
                 status.subscriber_count, status.publisher_pid,
                 (unsigned long long)status.generation,
                 (unsigned long long)status.published_count,
                 (unsigned long long)status.published_bytes,
                 (unsigned long long)status.memory_bytes);
}

static PyObject *group_streams(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                               PyObject *names) {
  uint64_t deadline;
  framebus_group *handle = fb_group_handle(self);
  if (!handle || fb_timeout_from(arguments, count, names, "streams", &deadline) < 0) return NULL;
  if (deadline == FRAMEBUS_NEVER) deadline = framebus_after_ns(1000000000);
  framebus_streams *streams = NULL;
  FB_ERROR(error);
  int code;
  Py_BEGIN_ALLOW_THREADS
  code = framebus_streams_open(handle, deadline, &streams, &error);
  Py_END_ALLOW_THREADS
  if (code < 0) return fb_raise(code, &error);
  int found = framebus_streams_count(streams);
  PyObject *list = found < 0 ? fb_raise(found, NULL) : PyList_New(0);
  for (int index = 0; list && index < found; index++) {
    PyObject *status = status_of(streams, (size_t)index);
    if (!status || PyList_Append(list, status) < 0) {
      Py_DECREF(list);
      list = NULL;
    }
    Py_XDECREF(status);
  }
  framebus_streams_close(streams);
  return list;
}

static PyMethodDef methods[] = {
    {"close", group_close, METH_NOARGS, "Closes the group. What was opened in it stays open."},
    {"streams", FB_METHOD(group_streams), METH_FASTCALL | METH_KEYWORDS,
     "Asks all publishers for their state, for up to `timeout` seconds (1)."},
    {"__enter__", fb_handle_enter, METH_NOARGS, NULL},
    {"__exit__", group_close, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "A group that `framebus group create` made: group.local.framebus, or the one of an ID.\n"
     "root is the directory of all groups: else $FRAMEBUS_HOME, or the usual ones."},
    {Py_tp_new, group_new},
    {Py_tp_dealloc, group_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "framebus.Group",
    .basicsize = sizeof(fb_group),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

int fb_group_init(PyObject *module) {
  group_type = fb_add_type(module, &spec);
  return group_type ? 0 : -1;
}
