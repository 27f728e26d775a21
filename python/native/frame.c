// A received frame: a lease of read-only memory, which lasts until its last view goes.
#include "native.h"

#include <string.h>

typedef struct {
  PyObject_HEAD
  fb_memory memory;
  framebus_frame info;
  fb_layout layout;
  fb_format *format;
} frame;

static PyTypeObject *frame_type;

static void let_go(frame *frame) {
  if (!frame->info.lease) return;
  fb_memory_remove(&frame->memory);
  framebus_lease_release(frame->info.lease);
  frame->info.lease = NULL;
}

static void views_ended(fb_owner *owner) {
  if (owner->memory.is_ended) let_go((frame *)owner);
}

PyObject *fb_frame_new(const framebus_frame *info, fb_format *format) {
  frame *made = (frame *)PyType_GenericAlloc(frame_type, 0);
  if (!made) {
    framebus_lease_release(info->lease);
    return NULL;
  }
  made->info = *info;
  made->format = (fb_format *)Py_NewRef((PyObject *)format);
  made->layout = fb_format_layout(format, info->byte_count);
  made->memory.bytes = (char *)info->bytes;
  made->memory.byte_count = info->byte_count;
  made->memory.views_ended = views_ended;
  fb_memory_add(&made->memory);
  return (PyObject *)made;
}

static void frame_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  let_go((frame *)self);
  Py_XDECREF((PyObject *)((frame *)self)->format);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject *frame_release(PyObject *self, PyObject *unused) {
  (void)unused;
  frame *frame_ = (frame *)self;
  frame_->memory.is_ended = true;
  if (frame_->memory.exports == 0) let_go(frame_);
  Py_RETURN_NONE;
}

static PyObject *frame_exit(PyObject *self, PyObject *unused) {
  return frame_release(self, unused);
}

static PyObject *frame_dlpack(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *names) {
  return fb_dlpack((fb_owner *)self, &((frame *)self)->layout, arguments, count, names);
}

static int frame_getbuffer(PyObject *self, Py_buffer *view, int flags) {
  return fb_memory_buffer(self, (fb_owner *)self, &((frame *)self)->layout, view, flags);
}

static void frame_releasebuffer(PyObject *self, Py_buffer *view) {
  (void)view;
  fb_memory_end_view((fb_owner *)self);
}

static PyObject *frame_planes(PyObject *self, void *unused) {
  (void)unused;
  frame *frame_ = (frame *)self;
  return fb_format_planes(frame_->format, (fb_owner *)self, frame_->info.byte_count);
}

static PyObject *frame_data(PyObject *self, void *unused) {
  (void)unused;
  return fb_plane_flat((fb_owner *)self);
}

static PyObject *frame_metadata(PyObject *self, void *unused) {
  (void)unused;
  if (fb_memory_check((fb_owner *)self) < 0) return NULL;
  framebus_metadata metadata = {.size = sizeof metadata};
  FB_ERROR(error);
  int code = framebus_lease_metadata(((frame *)self)->info.lease, &metadata, &error);
  return code < 0 ? fb_raise(code, &error) : fb_metadata_object(&metadata);
}

static PyObject *frame_format(PyObject *self, void *unused) {
  (void)unused;
  return Py_NewRef((PyObject *)((frame *)self)->format);
}

static PyObject *frame_checksum(PyObject *self, void *unused) {
  (void)unused;
  const framebus_frame *info = &((frame *)self)->info;
  if (!info->has_checksum) Py_RETURN_NONE;
  return PyLong_FromUnsignedLong(info->checksum);
}

static PyObject *frame_released(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((frame *)self)->memory.is_ended);
}

static PyObject *frame_repr(PyObject *self) {
  frame *frame_ = (frame *)self;
  return PyUnicode_FromFormat("<framebus.Frame %llu, %llu bytes%s>",
                              (unsigned long long)frame_->info.sequence,
                              (unsigned long long)frame_->info.byte_count,
                              frame_->memory.is_ended ? ", released" : "");
}

static PyMethodDef methods[] = {
    {"release", frame_release, METH_NOARGS,
     "Lets the frame go: at once, or with the last array or view of it."},
    {"__enter__", fb_handle_enter, METH_NOARGS, NULL},
    {"__exit__", frame_exit, METH_VARARGS, NULL},
    {"__dlpack__", FB_METHOD(frame_dlpack), METH_FASTCALL | METH_KEYWORDS,
     "The frame as a read-only tensor, without a copy."},
    {"__dlpack_device__", fb_dlpack_device, METH_NOARGS, "The CPU: (1, 0)."},
    {NULL, NULL, 0, NULL},
};

#define FIELD(name, type, field, text) \
  {name, type, offsetof(frame, info) + offsetof(framebus_frame, field), READONLY, text}

static PyMemberDef members[] = {
    FIELD("byte_count", T_ULONGLONG, byte_count, "The number of its bytes."),
    FIELD("sequence", T_ULONGLONG, sequence, "Its number, from 1 in each generation."),
    FIELD("generation", T_ULONGLONG, generation, "Another value: another publisher."),
    FIELD("dropped_before", T_ULONGLONG, dropped_before,
          "Frames dropped since the one received before."),
    FIELD("pts_ns", T_LONGLONG, pts_ns, "Presentation time, nanoseconds."),
    FIELD("captured_at_ns", T_ULONGLONG, captured_at_ns,
          "When it was captured, CLOCK_MONOTONIC; 0 if it was read."),
    FIELD("published_at_ns", T_ULONGLONG, published_at_ns, "When it was published."),
    FIELD("flags", T_UINT, flags, "framebus.KEY_FRAME and others, added."),
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"format", frame_format, NULL, "The format of its bytes.", NULL},
    {"metadata", frame_metadata, NULL, "All its metadata, with damage, crop, orientation.", NULL},
    {"planes", frame_planes, NULL, "The planes of a raw picture, each an array.", NULL},
    {"data", frame_data, NULL, "All bytes, with padding, as a read-only memoryview.", NULL},
    {"checksum", frame_checksum, NULL, "The CRC-32C of its bytes, or None.", NULL},
    {"released", frame_released, NULL, "Whether release was called.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "A received frame. numpy.asarray(frame) and memoryview(frame) are read-only, in the\n"
     "publisher's memory, which is not reused until the last of them has gone."},
    {Py_tp_dealloc, frame_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {Py_tp_repr, frame_repr},
    {Py_bf_getbuffer, frame_getbuffer},
    {Py_bf_releasebuffer, frame_releasebuffer},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "framebus.Frame",
    .basicsize = sizeof(frame),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int fb_frame_init(PyObject *module) {
  frame_type = fb_add_type(module, &spec);
  return frame_type ? 0 : -1;
}
