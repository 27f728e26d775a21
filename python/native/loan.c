// A loan: a slot of the publisher's memory, to be written in place and published.
#include "native.h"

#include <string.h>

typedef struct {
  PyObject_HEAD
  fb_memory memory;
  fb_layout layout;
  fb_publisher *publisher;
  fb_format *format;
  framebus_loan *handle;
} loan;

static PyTypeObject *loan_type;

/// Above this, a copy lets other threads run.
enum { LARGE_BYTES = 1 << 16 };

/// The memory is the publisher's again.
static void forget(loan *loan) {
  loan->memory.is_ended = true;
  fb_memory_remove(&loan->memory);
  loan->handle = NULL;
  for (int index = 0; index < FB_MAXIMUM_LOANS; index++)
    if (loan->publisher->loans[index] == (fb_owner *)loan) loan->publisher->loans[index] = NULL;
}

/// Abandons the loan; while another thread waits in the publisher, that one does it later.
static void abandon(loan *loan) {
  if (!loan->handle) return;
  fb_publisher *publisher = loan->publisher;
  if (publisher->is_busy)
    publisher->abandoned[publisher->abandoned_count++] = loan->handle;
  else
    framebus_loan_abandon(loan->handle);
  forget(loan);
}

static void views_ended(fb_owner *owner) {
  loan *loan_ = (loan *)owner;
  if (loan_->memory.is_ended) abandon(loan_);
  if (loan_->publisher->is_closing) fb_publisher_end(loan_->publisher);
}

PyObject *fb_loan_new(fb_publisher *publisher, const framebus_slot *slot) {
  loan *made = (loan *)PyType_GenericAlloc(loan_type, 0);
  if (!made) {
    framebus_loan_abandon(slot->loan);
    return NULL;
  }
  fb_format *format = publisher->format;
  made->publisher = (fb_publisher *)Py_NewRef((PyObject *)publisher);
  made->format = (fb_format *)Py_NewRef((PyObject *)format);
  made->handle = slot->loan;
  made->layout = fb_format_layout(format, format->c.byte_count);
  made->memory.bytes = slot->bytes;
  made->memory.byte_count = format->c.byte_count;
  made->memory.is_writable = true;
  made->memory.views_ended = views_ended;
  fb_memory_add(&made->memory);
  for (int index = 0; index < FB_MAXIMUM_LOANS; index++)
    if (!publisher->loans[index]) {
      publisher->loans[index] = (fb_owner *)made;
      break;
    }
  return (PyObject *)made;
}

static void loan_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  abandon((loan *)self);
  Py_DECREF((PyObject *)((loan *)self)->publisher);
  Py_DECREF((PyObject *)((loan *)self)->format);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject *loan_abandon(PyObject *self, PyObject *unused) {
  (void)unused;
  loan *loan_ = (loan *)self;
  loan_->memory.is_ended = true;
  if (loan_->memory.exports == 0) abandon(loan_);
  Py_RETURN_NONE;
}

static PyObject *publish(loan *loan, PyObject *const *values, PyObject *names,
                         uint64_t copied_bytes) {
  if (fb_publisher_check(loan->publisher) < 0) return NULL;
  if (!loan->handle || loan->memory.is_ended)
    return fb_raise_text(FRAMEBUS_ERROR_HANDLE,
                         "the loan was published or abandoned before; take another");
  if (loan->memory.exports > 0) {
    PyErr_SetString(PyExc_BufferError,
                    "arrays or views of the loan exist, and could change the published frame; "
                    "`del` them first");
    return NULL;
  }
  framebus_metadata metadata;
  uint64_t byte_count, sequence = 0;
  int given = fb_metadata_from(values, names, &metadata, &byte_count);
  if (given < 0) return NULL;
  if (byte_count == FRAMEBUS_WHOLE) byte_count = copied_bytes;
  FB_ERROR(error);
  int code = framebus_loan_publish(loan->handle, given ? &metadata : NULL, byte_count, &sequence,
                                   &error);
  if (code < 0) return fb_raise(code, &error);
  forget(loan);
  return PyLong_FromUnsignedLongLong(sequence);
}

static PyObject *loan_publish(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *names) {
  if (count > 0) {
    PyErr_SetString(PyExc_TypeError, "publish takes keywords alone");
    return NULL;
  }
  return publish((loan *)self, arguments, names, FRAMEBUS_WHOLE);
}

static int copy(const Py_buffer *from, Py_buffer *to, bool is_large) {
  bool from_rows = !PyBuffer_IsContiguous(from, 'C');
  if (PyBuffer_IsContiguous(to, 'C')) {
    if (from_rows) return PyBuffer_ToContiguous(to->buf, from, from->len, 'C');
    if (is_large) {
      Py_BEGIN_ALLOW_THREADS
      memcpy(to->buf, from->buf, (size_t)from->len);
      Py_END_ALLOW_THREADS
    } else {
      memcpy(to->buf, from->buf, (size_t)from->len);
    }
    return 0;
  }
  if (!from_rows) return PyBuffer_FromContiguous(to, from->buf, from->len, 'C');
  PyErr_SetString(PyExc_BufferError,
                  "neither the data nor the slot's rows are contiguous; use "
                  "numpy.ascontiguousarray");
  return -1;
}

/// The layout into which that many bytes fit; raises if there is none.
static int choose(loan *loan, Py_ssize_t bytes, fb_layout *layout, uint64_t *byte_count) {
  *byte_count = FRAMEBUS_WHOLE;
  *layout = loan->layout;
  if (bytes == fb_layout_bytes(layout)) return 0;
  *layout = fb_layout_flat(bytes);
  if (bytes == (Py_ssize_t)loan->memory.byte_count) return 0;
  *byte_count = (uint64_t)bytes;
  if (loan->format->c.plane_count == 0 && bytes < (Py_ssize_t)loan->memory.byte_count) return 0;
  PyErr_Format(PyExc_ValueError, "data has %zd bytes, and the format %zu; give it that shape",
               bytes, loan->memory.byte_count);
  return -1;
}

PyObject *fb_loan_publish_copy(PyObject *self, PyObject *data, PyObject *const *values,
                               PyObject *names) {
  loan *loan_ = (loan *)self;
  Py_buffer from, to;
  if (PyObject_GetBuffer(data, &from, PyBUF_FULL_RO) < 0) return NULL;
  fb_layout layout;
  uint64_t byte_count;
  int status = choose(loan_, from.len, &layout, &byte_count);
  if (status == 0) status = fb_memory_buffer(self, (fb_owner *)self, &layout, &to, PyBUF_FULL);
  if (status == 0) {
    status = copy(&from, &to, from.len > LARGE_BYTES);
    PyBuffer_Release(&to);
  }
  PyBuffer_Release(&from);
  return status < 0 ? NULL : publish(loan_, values, names, byte_count);
}

static PyObject *loan_exit(PyObject *self, PyObject *arguments) {
  loan *loan_ = (loan *)self;
  bool is_out = loan_->handle && !loan_->memory.is_ended;
  if (PyTuple_Size(arguments) > 0 && PyTuple_GetItem(arguments, 0) != Py_None)
    return loan_abandon(self, NULL);
  if (!is_out) Py_RETURN_NONE;
  PyObject *sequence = publish(loan_, NULL, NULL, FRAMEBUS_WHOLE);
  if (!sequence) return NULL;
  Py_DECREF(sequence);
  Py_RETURN_NONE;
}

static PyObject *loan_dlpack(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *names) {
  return fb_dlpack((fb_owner *)self, &((loan *)self)->layout, arguments, count, names);
}

static int loan_getbuffer(PyObject *self, Py_buffer *view, int flags) {
  return fb_memory_buffer(self, (fb_owner *)self, &((loan *)self)->layout, view, flags);
}

static void loan_releasebuffer(PyObject *self, Py_buffer *view) {
  (void)view;
  fb_memory_end_view((fb_owner *)self);
}

static PyObject *loan_planes(PyObject *self, void *unused) {
  (void)unused;
  loan *loan_ = (loan *)self;
  return fb_format_planes(loan_->format, (fb_owner *)self, loan_->memory.byte_count);
}

static PyObject *loan_data(PyObject *self, void *unused) {
  (void)unused;
  return fb_plane_flat((fb_owner *)self);
}

static PyObject *loan_format(PyObject *self, void *unused) {
  (void)unused;
  return Py_NewRef((PyObject *)((loan *)self)->format);
}

static PyMethodDef methods[] = {
    {"publish", FB_METHOD(loan_publish), METH_FASTCALL | METH_KEYWORDS,
     "Makes the frame visible to all subscribers; returns its number. No view may exist."},
    {"abandon", loan_abandon, METH_NOARGS, "Gives the slot back: at once, or with the last view."},
    {"__enter__", fb_handle_enter, METH_NOARGS, NULL},
    {"__exit__", loan_exit, METH_VARARGS, NULL},
    {"__dlpack__", FB_METHOD(loan_dlpack), METH_FASTCALL | METH_KEYWORDS,
     "The slot as a writable tensor, without a copy."},
    {"__dlpack_device__", fb_dlpack_device, METH_NOARGS, "The CPU: (1, 0)."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"format", loan_format, NULL, "The format of the frame.", NULL},
    {"planes", loan_planes, NULL, "The planes of a raw picture, each a writable array.", NULL},
    {"data", loan_data, NULL, "All bytes as a writable memoryview.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "A slot to write one frame into: numpy.asarray(loan) is writable. As a context manager it\n"
     "publishes at the end, and abandons after an exception."},
    {Py_tp_dealloc, loan_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_bf_getbuffer, loan_getbuffer},
    {Py_bf_releasebuffer, loan_releasebuffer},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "framebus.Loan",
    .basicsize = sizeof(loan),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int fb_loan_init(PyObject *module) {
  loan_type = fb_add_type(module, &spec);
  return loan_type ? 0 : -1;
}
