// A publisher: creates a stream, and loans the slots of its frames.
#include "native.h"

static PyTypeObject *publisher_type;

const fb_word fb_end_words[] = {{"none", FRAMEBUS_END_NONE},
                                {"ended", FRAMEBUS_END_ENDED},
                                {"stopped", FRAMEBUS_END_STOPPED},
                                {"failed", FRAMEBUS_END_FAILED},
                                {NULL, 0}};

static PyObject *publisher_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"group",           "name",      "format",        "content",
                          "ring_depth",      "loans",     "slot_bytes",    "pool_bytes",
                          "hold_quota",      "lossless",  "checksums",     "seats_per_user",
                          NULL};
  PyObject *group, *format, *content = NULL;
  const char *name;
  framebus_publisher_options options = FRAMEBUS_PUBLISHER_OPTIONS_INIT;
  int lossless = 0, checksums = 0;
  unsigned long long slot_bytes = 0, pool_bytes = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OsO|$OIIKKIppI:Publisher", names, &group,
                                   &name, &format, &content, &options.ring_depth,
                                   &options.maximum_loans, &slot_bytes, &pool_bytes,
                                   &options.hold_quota, &lossless, &checksums,
                                   &options.seats_per_user))
    return NULL;
  options.slot_bytes = slot_bytes;
  options.pool_bytes = pool_bytes;
  options.allows_lossless = (uint32_t)lossless;
  options.checksums = (uint32_t)checksums;
  framebus_group *group_handle = fb_group_handle(group);
  if (!group_handle || !fb_format_check(format)) return NULL;
  if (content && fb_value_of(content, fb_content_words, "content", &options.content) < 0)
    return NULL;
  fb_publisher *publisher = (fb_publisher *)PyType_GenericAlloc(type, 0);
  if (!publisher) return NULL;
  publisher->format = (fb_format *)Py_NewRef(format);
  FB_ERROR(error);
  int code;
  Py_BEGIN_ALLOW_THREADS
  code = framebus_publisher_open(group_handle, name, &publisher->format->c, &options,
                                 &publisher->handle, &error);
  Py_END_ALLOW_THREADS
  if (code >= 0) return (PyObject *)publisher;
  Py_DECREF(publisher);
  return fb_raise(code, &error);
}

int fb_publisher_check(fb_publisher *publisher) {
  if (publisher->is_busy)
    return fb_raise_busy("publisher");
  if (publisher->handle && !publisher->is_closing) return 0;
  fb_raise_text(FRAMEBUS_ERROR_HANDLE, "the publisher is closed; make another");
  return -1;
}

void fb_publisher_end(fb_publisher *publisher) {
  if (!publisher->handle) return;
  publisher->is_closing = true;
  if (publisher->is_busy) {
    // The waiting thread ends the stream.
    if (publisher->stop) framebus_stop_raise(publisher->stop);
    return;
  }
  for (int index = 0; index < FB_MAXIMUM_LOANS; index++)
    if (publisher->loans[index] && publisher->loans[index]->memory.exports > 0) return;
  // Its loans' memory goes, so that nothing may refer to it any more.
  for (int index = 0; index < FB_MAXIMUM_LOANS; index++)
    if (publisher->loans[index]) {
      publisher->loans[index]->memory.is_ended = true;
      fb_memory_remove(&publisher->loans[index]->memory);
    }
  framebus_publisher *handle = publisher->handle;
  publisher->handle = NULL;
  framebus_publisher_close(handle, publisher->reason, NULL);
}

static void publisher_dealloc(PyObject *self) {
  fb_publisher *publisher = (fb_publisher *)self;
  if (publisher->handle && !publisher->is_closing) publisher->reason = FRAMEBUS_END_NONE;
  fb_publisher_end(publisher);
  Py_XDECREF((PyObject *)publisher->format);
  fb_free(self);
}

static PyObject *publisher_close(PyObject *self, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"reason", NULL};
  PyObject *reason = NULL;
  uint32_t value = FRAMEBUS_END_ENDED;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:close", names, &reason) ||
      (reason && fb_value_of(reason, fb_end_words, "reason", &value) < 0))
    return NULL;
  fb_publisher *publisher = (fb_publisher *)self;
  if (!publisher->is_closing) publisher->reason = value;
  fb_publisher_end(publisher);
  Py_RETURN_NONE;
}

static PyObject *publisher_exit(PyObject *self, PyObject *arguments) {
  fb_publisher *publisher = (fb_publisher *)self;
  bool failed = PyTuple_Size(arguments) > 0 && PyTuple_GetItem(arguments, 0) != Py_None;
  if (!publisher->is_closing) publisher->reason = failed ? FRAMEBUS_END_FAILED : FRAMEBUS_END_ENDED;
  fb_publisher_end(publisher);
  Py_RETURN_NONE;
}

/// What was put off while this thread waited.
static void settle(fb_publisher *publisher) {
  publisher->is_busy = false;
  while (publisher->abandoned_count > 0)
    framebus_loan_abandon(publisher->abandoned[--publisher->abandoned_count]);
  if (publisher->is_closing) fb_publisher_end(publisher);
}

// ---- Loans

typedef struct {
  fb_publisher *publisher;
  uint64_t deadline_ns;
  framebus_slot slot;
  framebus_error error;
} loan_call;

static int wait_for_loan(void *context, framebus_stop *stop) {
  loan_call *call = context;
  return framebus_publisher_loan(call->publisher->handle, call->deadline_ns, stop, &call->slot,
                                 &call->error);
}

/// Waits for lossless subscribers. Returns NULL with an exception.
static PyObject *wait_and_loan(fb_publisher *publisher, uint64_t deadline) {
  loan_call call = {.publisher = publisher, .deadline_ns = deadline, .slot = FRAMEBUS_SLOT_INIT};
  call.error.size = sizeof call.error;
  fb_wait wait = {wait_for_loan, &call, &publisher->stop};
  int code;
  publisher->is_busy = true;
  int status = fb_wait_in(&wait, &code);
  if (code == FRAMEBUS_OK && (status < 0 || publisher->is_closing))
    framebus_loan_abandon(call.slot.loan);
  settle(publisher);
  if (status < 0) return NULL;
  if (publisher->is_closing)
    return fb_raise_text(FRAMEBUS_ERROR_HANDLE, "the publisher was closed during the wait");
  if (code == FRAMEBUS_TIMED_OUT) return fb_raise_timeout();
  return code == FRAMEBUS_OK ? fb_loan_new(publisher, &call.slot) : fb_raise(code, &call.error);
}

static PyObject *take_loan(fb_publisher *publisher, uint64_t deadline) {
  if (fb_publisher_check(publisher) < 0) return NULL;
  framebus_slot slot;
  slot.size = sizeof slot;
  FB_ERROR(error);
  int code = framebus_publisher_loan(publisher->handle, 0, NULL, &slot, &error);
  if (code == FRAMEBUS_OK) return fb_loan_new(publisher, &slot);
  if (code == FRAMEBUS_ERROR_BACKPRESSURE && deadline != 0)
    return wait_and_loan(publisher, deadline);
  return fb_raise(code, &error);
}

static PyObject *publisher_loan(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                PyObject *names) {
  uint64_t deadline;
  if (fb_timeout_from(arguments, count, names, "loan", &deadline) < 0) return NULL;
  return take_loan((fb_publisher *)self, deadline);
}

static PyObject *publisher_publish(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                   PyObject *names) {
  if (count != 1) {
    PyErr_SetString(PyExc_TypeError, "publish takes the data, then keywords");
    return NULL;
  }
  PyObject *loan = take_loan((fb_publisher *)self, FRAMEBUS_NEVER);
  if (!loan) return NULL;
  PyObject *sequence = fb_loan_publish_copy(loan, arguments[0], arguments + 1, names);
  Py_DECREF(loan);
  return sequence;
}

// ---- State

static PyObject *publisher_set_format(PyObject *self, PyObject *object) {
  fb_publisher *publisher = (fb_publisher *)self;
  if (fb_publisher_check(publisher) < 0) return NULL;
  fb_format *format = fb_format_check(object);
  if (!format) return NULL;
  FB_ERROR(error);
  int code = framebus_publisher_set_format(publisher->handle, &format->c, &error);
  if (code < 0) return fb_raise(code, &error);
  PyObject *former = (PyObject *)publisher->format;
  publisher->format = (fb_format *)Py_NewRef(object);
  Py_DECREF(former);
  Py_RETURN_NONE;
}

static PyObject *publisher_pause(PyObject *self, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"reason", NULL};
  PyObject *reason = NULL;
  uint32_t value = FRAMEBUS_PAUSE_REQUESTED;
  fb_publisher *publisher = (fb_publisher *)self;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:pause", names, &reason) ||
      (reason && fb_value_of(reason, fb_pause_words, "reason", &value) < 0) ||
      fb_publisher_check(publisher) < 0)
    return NULL;
  FB_ERROR(error);
  return fb_finish(framebus_publisher_pause(publisher->handle, value, &error), &error);
}

static PyObject *publisher_resume(PyObject *self, PyObject *unused) {
  (void)unused;
  fb_publisher *publisher = (fb_publisher *)self;
  if (fb_publisher_check(publisher) < 0) return NULL;
  FB_ERROR(error);
  return fb_finish(framebus_publisher_resume(publisher->handle, &error), &error);
}

static PyObject *publisher_set_application(PyObject *self, PyObject *object) {
  fb_publisher *publisher = (fb_publisher *)self;
  if (fb_publisher_check(publisher) < 0) return NULL;
  const char *text = object == Py_None ? NULL : fb_text(object);
  if (!text && object != Py_None) return NULL;
  FB_ERROR(error);
  return fb_finish(framebus_publisher_set_application(publisher->handle, text, &error), &error);
}

typedef struct {
  fb_publisher *publisher;
  uint64_t deadline_ns;
  framebus_error error;
} subscriber_call;

static int wait_for_subscriber(void *context, framebus_stop *stop) {
  subscriber_call *call = context;
  return framebus_publisher_wait(call->publisher->handle, call->deadline_ns, stop, &call->error);
}

static PyObject *publisher_wait(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                PyObject *names) {
  fb_publisher *publisher = (fb_publisher *)self;
  subscriber_call call = {.publisher = publisher};
  call.error.size = sizeof call.error;
  if (fb_timeout_from(arguments, count, names, "wait", &call.deadline_ns) < 0 ||
      fb_publisher_check(publisher) < 0)
    return NULL;
  int code = framebus_publisher_wait(publisher->handle, 0, NULL, &call.error), status = 0;
  if (code == FRAMEBUS_TIMED_OUT && call.deadline_ns != 0) {
    fb_wait wait = {wait_for_subscriber, &call, &publisher->stop};
    publisher->is_busy = true;
    status = fb_wait_in(&wait, &code);
    settle(publisher);
  }
  if (status < 0) return NULL;
  if (publisher->is_closing)
    return fb_raise_text(FRAMEBUS_ERROR_HANDLE, "the publisher was closed during the wait");
  return code < 0 ? fb_raise(code, &call.error) : PyBool_FromLong(code == FRAMEBUS_OK);
}

static PyObject *publisher_fileno(PyObject *self, PyObject *unused) {
  (void)unused;
  fb_publisher *publisher = (fb_publisher *)self;
  if (fb_publisher_check(publisher) < 0) return NULL;
  int descriptor = framebus_publisher_descriptor(publisher->handle);
  return descriptor < 0 ? fb_raise(descriptor, NULL) : PyLong_FromLong(descriptor);
}

static PyObject *publisher_status(PyObject *self, PyObject *unused) {
  (void)unused;
  fb_publisher *publisher = (fb_publisher *)self;
  if (fb_publisher_check(publisher) < 0) return NULL;
  framebus_publisher_status status = {.size = sizeof status};
  FB_ERROR(error);
  int code = framebus_publisher_get_status(publisher->handle, &status, &error);
  if (code < 0) return fb_raise(code, &error);
  return fb_make("PublisherStatus", "(KKIIIINd)", (unsigned long long)status.published_count,
                 (unsigned long long)status.join_count, status.subscriber_count, status.loan_count,
                 status.demanded_width, status.demanded_height,
                 fb_rate_object(status.demanded_rate_numerator, status.demanded_rate_denominator),
                 status.highest_utilization);
}

static PyObject *publisher_closed(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(!((fb_publisher *)self)->handle || ((fb_publisher *)self)->is_closing);
}

static PyObject *publisher_format(PyObject *self, void *unused) {
  (void)unused;
  return Py_NewRef((PyObject *)((fb_publisher *)self)->format);
}

static PyMethodDef methods[] = {
    {"loan", FB_METHOD(publisher_loan), METH_FASTCALL | METH_KEYWORDS,
     "Loans a slot. Waits for lossless subscribers up to `timeout` seconds, for nothing else."},
    {"publish", FB_METHOD(publisher_publish), METH_FASTCALL | METH_KEYWORDS,
     "Copies a buffer or array into a slot, publishes it, and returns its number."},
    {"set_format", publisher_set_format, METH_O, "The format of frames loaned from now on."},
    {"pause", FB_METHOD(publisher_pause), METH_VARARGS | METH_KEYWORDS,
     "Announces that no frames follow until resume."},
    {"resume", publisher_resume, METH_NOARGS, "Ends a pause."},
    {"set_application", publisher_set_application, METH_O,
     "Names the application that the frames show; None for none."},
    {"wait", FB_METHOD(publisher_wait), METH_FASTCALL | METH_KEYWORDS,
     "Waits for a subscriber; False after `timeout` seconds without one."},
    {"fileno", publisher_fileno, METH_NOARGS,
     "A descriptor, readable after a subscriber came or left, until status() is called."},
    {"status", publisher_status, METH_NOARGS, "Figures of the stream, and what is demanded."},
    {"close", FB_METHOD(publisher_close), METH_VARARGS | METH_KEYWORDS,
     "Ends the stream: at once, or with the last view of a loan. Any thread may call it."},
    {"__enter__", fb_handle_enter, METH_NOARGS, NULL},
    {"__exit__", publisher_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", publisher_closed, NULL, "Whether close was called.", NULL},
    {"format", publisher_format, NULL, "The format of the next loan.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Creates a stream. As a context manager it ends the stream, as failed after an exception.\n"
     "One thread uses it at a time."},
    {Py_tp_new, publisher_new},
    {Py_tp_dealloc, publisher_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "framebus.Publisher",
    .basicsize = sizeof(fb_publisher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

int fb_publisher_init(PyObject *module) {
  publisher_type = fb_add_type(module, &spec);
  return publisher_type ? 0 : -1;
}
