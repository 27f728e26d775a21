// A subscriber: receives the frames of a stream in place.
#include "native.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct {
  PyObject_HEAD
  framebus_subscriber *handle;
  /// The format of the frame received last.
  fb_format *format;
  uint64_t generation;
  uint64_t format_epoch;
  /// Of the library; -1 if it waits without one.
  int descriptor;
  /// An eventfd that ends the wait of another thread on the descriptor.
  int wake;
  /// Ends the wait of another thread without one.
  framebus_stop *stop;
  bool is_busy;
  bool is_closing;
  bool is_finished;
} subscriber;

static PyTypeObject *subscriber_type;

static const fb_word policies[] = {{"latest", FRAMEBUS_POLICY_LATEST},
                                   {"keep-latest", FRAMEBUS_POLICY_KEEP_LATEST},
                                   {"lossless", FRAMEBUS_POLICY_LOSSLESS},
                                   {"every-nth", FRAMEBUS_POLICY_EVERY_NTH},
                                   {"key-frames", FRAMEBUS_POLICY_KEY_FRAMES},
                                   {NULL, 0}};
static const fb_word starts[] = {{"newest", FRAMEBUS_START_NEWEST},
                                 {"next", FRAMEBUS_START_NEXT},
                                 {"oldest", FRAMEBUS_START_OLDEST},
                                 {"key-frame", FRAMEBUS_START_KEY_FRAME},
                                 {NULL, 0}};

static const fb_word waits[] = {{"descriptor", FRAMEBUS_WAIT_DESCRIPTOR},
                                {"futex", FRAMEBUS_WAIT_FUTEX},
                                {"spin", FRAMEBUS_WAIT_SPIN},
                                {NULL, 0}};

/// The loop variable, the next frame, and two to keep.
enum { USUAL_LEASES = 4 };
/// A signal does not end a sleep on a futex: how long Python's handlers may have to wait.
enum { SLICE_NS = 50000000 };

typedef struct {
  framebus_group *group;
  const char *name;
  framebus_subscriber_options options;
  uint64_t deadline_ns;
  framebus_subscriber *handle;
  framebus_error error;
} open_call;

static int open_subscriber(void *context, framebus_stop *stop) {
  open_call *call = context;
  return framebus_subscriber_open(call->group, call->name, &call->options, call->deadline_ns, stop,
                                  &call->handle, &call->error);
}

static int read_arguments(PyObject *arguments, PyObject *keywords, open_call *call) {
  static char *names[] = {"group",          "name",   "policy",           "count",  "start",
                          "lossless_limit", "leases", "verify_checksums", "timeout", "wait",
                          NULL};
  PyObject *group, *policy = NULL, *start = NULL, *timeout = NULL, *wait = NULL;
  double limit = 10;
  int verifies = 0;
  framebus_subscriber_options *options = &call->options;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "Os|$OIOdIpOO:Subscriber", names, &group,
                                   &call->name, &policy, &options->policy_count, &start, &limit,
                                   &options->leases, &verifies, &timeout, &wait))
    return -1;
  if (!(limit > 0 && limit < 1e9)) {
    PyErr_SetString(PyExc_ValueError, "lossless_limit must be a number of seconds above 0");
    return -1;
  }
  options->lossless_limit_ns = (uint64_t)(limit * 1e9);
  options->verifies_checksums = (uint32_t)verifies;
  call->group = fb_group_handle(group);
  call->deadline_ns = 0;
  if (!call->group || (timeout && fb_deadline(timeout, &call->deadline_ns) < 0) ||
      (policy && fb_value_of(policy, policies, "policy", &options->policy) < 0) ||
      (start && fb_value_of(start, starts, "start", &options->start) < 0) ||
      (wait && fb_value_of(wait, waits, "wait", &options->wait) < 0))
    return -1;
  return 0;
}

static PyObject *subscriber_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  open_call call = {.options = FRAMEBUS_SUBSCRIBER_OPTIONS_INIT};
  call.error.size = sizeof call.error;
  call.error.message[0] = 0;
  call.options.wait = FRAMEBUS_WAIT_DESCRIPTOR;
  call.options.leases = USUAL_LEASES;
  if (read_arguments(arguments, keywords, &call) < 0) return NULL;
  subscriber *made = (subscriber *)PyType_GenericAlloc(type, 0);
  if (!made) return NULL;
  made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (made->wake < 0) PyErr_SetFromErrno(PyExc_OSError);
  fb_wait wait = {open_subscriber, &call, NULL};
  int code = FRAMEBUS_OK;
  int status = made->wake < 0 ? -1 : fb_wait_in(&wait, &code);
  made->handle = call.handle;
  if (status == 0 && code == FRAMEBUS_OK) {
    made->descriptor = -1;
    if (call.options.wait == FRAMEBUS_WAIT_DESCRIPTOR)
      code = made->descriptor = framebus_subscriber_descriptor(made->handle);
    else
      code = framebus_stop_open(&made->stop, &call.error);
    if (code >= 0) return (PyObject *)made;
  }
  Py_DECREF(made);
  if (status < 0) return NULL;
  return code == FRAMEBUS_TIMED_OUT ? fb_raise_timeout() : fb_raise(code, &call.error);
}

static void end(subscriber *subscriber) {
  if (!subscriber->handle) return;
  subscriber->is_closing = true;
  if (subscriber->is_busy) {
    // The waiting thread closes it.
    if (subscriber->stop) framebus_stop_raise(subscriber->stop);
    eventfd_write(subscriber->wake, 1);
    return;
  }
  framebus_subscriber_close(subscriber->handle);
  subscriber->handle = NULL;
  if (subscriber->stop) framebus_stop_close(subscriber->stop);
  subscriber->stop = NULL;
}

static void subscriber_dealloc(PyObject *self) {
  subscriber *subscriber_ = (subscriber *)self;
  end(subscriber_);
  if (subscriber_->wake > 0) close(subscriber_->wake);
  Py_XDECREF((PyObject *)subscriber_->format);
  fb_free(self);
}

static PyObject *subscriber_close(PyObject *self, PyObject *unused) {
  (void)unused;
  end((subscriber *)self);
  Py_RETURN_NONE;
}

static int check(subscriber *subscriber) {
  if (subscriber->is_busy) return fb_raise_busy("subscriber");
  if (subscriber->handle && !subscriber->is_closing) return 0;
  fb_raise_text(FRAMEBUS_ERROR_HANDLE, "the subscriber is closed; make another");
  return -1;
}

// ---- Receiving

static int learn_format(subscriber *subscriber, const framebus_frame *info) {
  framebus_format format = {.size = sizeof format};
  FB_ERROR(error);
  int code = framebus_lease_format(info->lease, &format, &error);
  if (code < 0) {
    fb_raise(code, &error);
    return -1;
  }
  PyObject *made = fb_format_new(&format), *former = (PyObject *)subscriber->format;
  if (!made) return -1;
  subscriber->format = (fb_format *)made;
  subscriber->generation = info->generation;
  subscriber->format_epoch = info->format_epoch;
  Py_XDECREF(former);
  return 0;
}

/// The frame that the library gave; NULL with an exception, and then *code is below 0.
static inline PyObject *take(subscriber *subscriber, const framebus_frame *info, int *code) {
  bool is_new = !subscriber->format || info->format_epoch != subscriber->format_epoch ||
                info->generation != subscriber->generation;
  PyObject *frame = NULL;
  if (is_new && learn_format(subscriber, info) < 0)
    framebus_lease_release(info->lease);
  else
    frame = fb_frame_new(info, subscriber->format);
  if (!frame) *code = FRAMEBUS_ERROR_SYSTEM;
  return frame;
}

/// What is not a frame: NULL, with an exception if the code is below 0.
static PyObject *note(subscriber *subscriber, int code, const framebus_error *error) {
  subscriber->is_finished = code == FRAMEBUS_FINISHED;
  if (code == FRAMEBUS_ERROR_LIMIT)
    return fb_raise_text(code, "all leases are in use: release frames and delete arrays of them, "
                               "or raise Subscriber's `leases`");
  return code < 0 ? fb_raise(code, error) : NULL;
}

/// Polls once. Sets *code; returns the frame if there is one, else NULL, with an exception if
/// *code is below 0.
static inline PyObject *poll_once(subscriber *subscriber, int *code) {
  framebus_frame info;
  info.size = sizeof info;
  FB_ERROR(error);
  *code = framebus_subscriber_next(subscriber->handle, 0, NULL, &info, &error);
  return *code == FRAMEBUS_OK ? take(subscriber, &info, code) : note(subscriber, *code, &error);
}

/// The same after a sleep in the library, until the deadline or the end of a slice of time.
static PyObject *sleep_once(subscriber *subscriber, uint64_t deadline, int *code) {
  framebus_frame info;
  info.size = sizeof info;
  FB_ERROR(error);
  uint64_t slice = framebus_after_ns(SLICE_NS);
  subscriber->is_busy = true;
  Py_BEGIN_ALLOW_THREADS
  *code = framebus_subscriber_next(subscriber->handle, deadline < slice ? deadline : slice,
                                   subscriber->stop, &info, &error);
  Py_END_ALLOW_THREADS
  subscriber->is_busy = false;
  return *code == FRAMEBUS_OK ? take(subscriber, &info, code) : note(subscriber, *code, &error);
}

static PyObject *subscriber_poll(PyObject *self, PyObject *unused) {
  (void)unused;
  int code;
  if (check((subscriber *)self) < 0) return NULL;
  PyObject *frame = poll_once((subscriber *)self, &code);
  if (frame || code < 0) return frame;
  Py_RETURN_NONE;
}

/// Ends a wait in which another thread called close. Returns -1 with an exception if one did.
static int settle(subscriber *subscriber) {
  if (!subscriber->is_closing) return 0;
  end(subscriber);
  if (!PyErr_Occurred())
    fb_raise_text(FRAMEBUS_ERROR_HANDLE, "the subscriber was closed during the wait");
  return -1;
}

/// The next frame; NULL without an exception at the end of the stream.
static PyObject *receive(subscriber *subscriber, uint64_t deadline) {
  int code;
  if (check(subscriber) < 0) return NULL;
  PyObject *frame = poll_once(subscriber, &code);
  while (!frame && code == FRAMEBUS_TIMED_OUT) {
    if (deadline != FRAMEBUS_NEVER && deadline <= framebus_now_ns()) return fb_raise_timeout();
    // A handler that came before the sleep would not end it.
    if (PyErr_CheckSignals() < 0) return NULL;
    if (subscriber->descriptor < 0) {
      frame = sleep_once(subscriber, deadline, &code);
    } else if (fb_poll(subscriber->descriptor, subscriber->wake, deadline,
                       &subscriber->is_busy) < 0) {
      settle(subscriber);
      return NULL;
    }
    if (settle(subscriber) < 0) {
      Py_XDECREF(frame);
      return NULL;
    }
    if (subscriber->descriptor >= 0) frame = poll_once(subscriber, &code);
  }
  return frame;
}

static PyObject *subscriber_receive(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                    PyObject *names) {
  uint64_t deadline;
  if (fb_timeout_from(arguments, count, names, "receive", &deadline) < 0) return NULL;
  PyObject *frame = receive((subscriber *)self, deadline);
  if (frame || PyErr_Occurred()) return frame;
  Py_RETURN_NONE;
}

static PyObject *subscriber_next(PyObject *self) {
  return receive((subscriber *)self, FRAMEBUS_NEVER);
}

// ---- State

static PyObject *subscriber_fileno(PyObject *self, PyObject *unused) {
  (void)unused;
  subscriber *subscriber_ = (subscriber *)self;
  if (subscriber_->handle && subscriber_->descriptor < 0) {
    PyErr_SetString(PyExc_ValueError,
                    "the subscriber waits without a descriptor; make it with wait='descriptor'");
    return NULL;
  }
  if (subscriber_->handle) return PyLong_FromLong(subscriber_->descriptor);
  return fb_raise_text(FRAMEBUS_ERROR_HANDLE, "the subscriber is closed; make another");
}

static PyObject *drops_of(const framebus_subscriber_status *status) {
  static const char *const reasons[FRAMEBUS_DROP_REASONS] = {
      "lapped", "passed-over", "awaiting-key-frame", "unreachable", "corrupt", "lossless-ended"};
  PyObject *drops = PyDict_New();
  for (int index = 0; drops && index < FRAMEBUS_DROP_REASONS; index++) {
    PyObject *count = PyLong_FromUnsignedLongLong(status->drops[index]);
    if (!count || PyDict_SetItemString(drops, reasons[index], count) < 0) {
      Py_XDECREF(count);
      Py_DECREF(drops);
      return NULL;
    }
    Py_DECREF(count);
  }
  return drops;
}

static PyObject *subscriber_status(PyObject *self, PyObject *unused) {
  (void)unused;
  subscriber *subscriber_ = (subscriber *)self;
  if (check(subscriber_) < 0) return NULL;
  framebus_subscriber_status status = {.size = sizeof status};
  FB_ERROR(error);
  int code = framebus_subscriber_get_status(subscriber_->handle, &status, &error);
  if (code < 0) return fb_raise(code, &error);
  PyObject *drops = drops_of(&status);
  if (!drops) return NULL;
  return fb_make("SubscriberStatus", "(KKNKKIINNNsNII)", (unsigned long long)status.received_count,
                 (unsigned long long)status.dropped_count, drops,
                 (unsigned long long)status.lag_frames, (unsigned long long)status.generation,
                 status.granted_leases, status.held_leases,
                 fb_word_of(status.pause_reason, fb_pause_words),
                 fb_word_of(status.end_reason, fb_end_words),
                 fb_word_of(status.content, fb_content_words), status.application,
                 PyBool_FromLong(status.lossless_ended), status.eviction_count,
                 status.successor_count);
}

static PyObject *subscriber_set_demand(PyObject *self, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"width", "height", "rate", NULL};
  unsigned width = 0, height = 0;
  uint32_t numerator, denominator;
  PyObject *rate = Py_None;
  subscriber *subscriber_ = (subscriber *)self;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|IIO:set_demand", names, &width, &height,
                                   &rate) ||
      fb_rate(rate, &numerator, &denominator) < 0 || check(subscriber_) < 0)
    return NULL;
  if (numerator == 0) denominator = 0;
  FB_ERROR(error);
  int code = framebus_subscriber_set_demand(subscriber_->handle, width, height, numerator,
                                            denominator, &error);
  if (code < 0) return fb_raise(code, &error);
  Py_RETURN_NONE;
}

static PyObject *subscriber_set_utilization(PyObject *self, PyObject *object) {
  subscriber *subscriber_ = (subscriber *)self;
  double value = PyFloat_AsDouble(object);
  if ((value == -1 && PyErr_Occurred()) || check(subscriber_) < 0) return NULL;
  FB_ERROR(error);
  int code = framebus_subscriber_set_utilization(subscriber_->handle, value, &error);
  if (code < 0) return fb_raise(code, &error);
  Py_RETURN_NONE;
}

static PyObject *subscriber_closed(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(!((subscriber *)self)->handle || ((subscriber *)self)->is_closing);
}

static PyObject *subscriber_finished(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((subscriber *)self)->is_finished);
}

static PyMethodDef methods[] = {
    {"receive", FB_METHOD(subscriber_receive), METH_FASTCALL | METH_KEYWORDS,
     "The next frame, within `timeout` seconds; None when the stream has finished."},
    {"poll", subscriber_poll, METH_NOARGS, "A frame if there is one, else None. Never waits."},
    {"fileno", subscriber_fileno, METH_NOARGS,
     "A descriptor for select and event loops; readable until poll returns None."},
    {"status", subscriber_status, METH_NOARGS, "Counts of frames, and the stream's state."},
    {"set_demand", FB_METHOD(subscriber_set_demand), METH_VARARGS | METH_KEYWORDS,
     "States the pixels and frames a second that it can use; 0 and None are everything."},
    {"set_utilization", subscriber_set_utilization, METH_O,
     "Reports its load to the publisher: 0 is idle, 1 is unable to keep up."},
    {"close", subscriber_close, METH_NOARGS,
     "Detaches. Frames stay valid. Any thread may call it, which ends a wait of another."},
    {"__enter__", fb_handle_enter, METH_NOARGS, NULL},
    {"__exit__", subscriber_close, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", subscriber_closed, NULL, "Whether close was called.", NULL},
    {"finished", subscriber_finished, NULL, "Whether the end of the stream was received.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Attaches to a stream. Iterating yields its frames until it ends; a publisher that\n"
     "crashes is waited for. One thread uses it at a time."},
    {Py_tp_new, subscriber_new},
    {Py_tp_dealloc, subscriber_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, subscriber_next},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "framebus._native.Subscriber",
    .basicsize = sizeof(subscriber),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

int fb_subscriber_init(PyObject *module) {
  subscriber_type = fb_add_type(module, &spec);
  return subscriber_type ? 0 : -1;
}
