// Notifications: names that processes post and observe.
#include "native.h"

static PyTypeObject *notifications_type, *observation_type;

static void close_notifications(void *handle) { framebus_notifications_close(handle); }
static void close_observation(void *handle) { framebus_observation_close(handle); }

static PyObject *notifications_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"group", "role", NULL};
  PyObject *group;
  const char *role = "host";
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|s:Notifications", names, &group, &role))
    return NULL;
  framebus_group *group_handle = fb_group_handle(group);
  fb_handle *made = group_handle ? (fb_handle *)PyType_GenericAlloc(type, 0) : NULL;
  if (!made) return NULL;
  made->close = close_notifications;
  framebus_notifications *handle = NULL;
  FB_ERROR(error);
  int code = framebus_notifications_open(group_handle, role, &handle, &error);
  made->handle = handle;
  if (code >= 0) return (PyObject *)made;
  Py_DECREF(made);
  return fb_raise(code, &error);
}

static PyObject *notifications_post(PyObject *self, PyObject *name) {
  const char *text = fb_text(name);
  framebus_notifications *handle = text ? fb_handle_begin(self) : NULL;
  if (!handle) return NULL;
  uint64_t total = 0;
  FB_ERROR(error);
  int code = framebus_notifications_post(handle, text, &total, &error);
  fb_handle_end(self);
  return code < 0 ? fb_raise(code, &error) : PyLong_FromUnsignedLongLong(total);
}

static PyObject *notifications_state(PyObject *self, PyObject *name) {
  const char *text = fb_text(name);
  framebus_notifications *handle = text ? fb_handle_begin(self) : NULL;
  if (!handle) return NULL;
  uint64_t state = 0;
  FB_ERROR(error);
  int code = framebus_notifications_get_state(handle, text, &state, &error);
  fb_handle_end(self);
  return code < 0 ? fb_raise(code, &error) : PyLong_FromUnsignedLongLong(state);
}

static PyObject *notifications_set_state(PyObject *self, PyObject *arguments) {
  const char *name;
  PyObject *value;
  uint64_t state;
  if (!PyArg_ParseTuple(arguments, "sO:set_state", &name, &value) ||
      fb_uint64(value, "state", &state) < 0)
    return NULL;
  framebus_notifications *handle = fb_handle_begin(self);
  if (!handle) return NULL;
  FB_ERROR(error);
  int code = framebus_notifications_set_state(handle, name, state, &error);
  fb_handle_end(self);
  return fb_finish(code, &error);
}

static PyObject *take(void *handle, int *code) {
  framebus_delivery delivery = {.size = sizeof delivery};
  FB_ERROR(error);
  *code = framebus_observation_next(handle, 0, NULL, &delivery, &error);
  if (*code < 0) return fb_raise(*code, &error);
  if (*code != FRAMEBUS_OK) return NULL;
  PyObject *made = fb_make(
      "Delivery", "(KKKNNN)", (unsigned long long)delivery.total_count,
      (unsigned long long)delivery.coalesced_count, (unsigned long long)delivery.state,
      delivery.has_poster ? PyLong_FromLong(delivery.poster_pid) : Py_NewRef(Py_None),
      delivery.has_poster ? PyLong_FromUnsignedLong(delivery.poster_uid) : Py_NewRef(Py_None),
      PyBool_FromLong(delivery.is_reset));
  if (!made) *code = FRAMEBUS_ERROR_SYSTEM;
  return made;
}

static PyObject *notifications_observe(PyObject *self, PyObject *name) {
  const char *text = fb_text(name);
  framebus_notifications *handle = text ? fb_handle_begin(self) : NULL;
  if (!handle) return NULL;
  framebus_observation *observation = NULL;
  FB_ERROR(error);
  int code = framebus_observation_open(handle, text, &observation, &error);
  fb_handle_end(self);
  if (code < 0) return fb_raise(code, &error);
  return fb_observation_new(observation_type, observation, close_observation,
                            framebus_observation_descriptor(observation), take);
}

static PyMethodDef methods[] = {
    {"post", notifications_post, METH_O,
     "Posts a name to its observers; returns the number of its posts."},
    {"state", notifications_state, METH_O, "The 64 bits of a name, 0 at first."},
    {"set_state", notifications_set_state, METH_VARARGS,
     "Sets the 64 bits of a name. Notifies nobody: post afterwards."},
    {"observe", notifications_observe, METH_O, "Begins to observe a name."},
    FB_HANDLE_METHODS,
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {FB_HANDLE_PROPERTIES, {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Notifications of a group, as a role: names that processes post and observe. Posts are\n"
     "counted, and those that come faster than they are taken are one delivery."},
    {Py_tp_new, notifications_new},
    {Py_tp_dealloc, fb_handle_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "framebus.Notifications",
    .basicsize = sizeof(fb_handle),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int fb_notifications_init(PyObject *module) {
  notifications_type = fb_add_type(module, &spec);
  observation_type = fb_observation_type(
      module, "framebus.Observation",
      "Deliveries of one notification. Iterating waits for each; framebus.deliveries does so in\n"
      "asyncio.");
  return notifications_type && observation_type ? 0 : -1;
}
