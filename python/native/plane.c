// A plane of a picture, or the flat bytes of a frame.
#include "native.h"

#include <string.h>

typedef struct {
  PyObject_HEAD
  fb_owner *owner;
  fb_layout layout;
} plane;

static PyTypeObject *plane_type;

PyObject *fb_plane_new(fb_owner *owner, const fb_layout *layout) {
  if (fb_memory_check(owner) < 0) return NULL;
  plane *made = (plane *)PyType_GenericAlloc(plane_type, 0);
  if (!made) return NULL;
  made->owner = (fb_owner *)Py_NewRef((PyObject *)owner);
  made->layout = *layout;
  return (PyObject *)made;
}

PyObject *fb_plane_flat(fb_owner *owner) {
  fb_layout layout = fb_layout_flat((Py_ssize_t)owner->memory.byte_count);
  PyObject *flat = fb_plane_new(owner, &layout);
  if (!flat) return NULL;
  PyObject *view = PyMemoryView_FromObject(flat);
  Py_DECREF(flat);
  return view;
}

static void plane_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF((PyObject *)((plane *)self)->owner);
  PyObject_Free(self);
  Py_DECREF(type);
}

static int plane_getbuffer(PyObject *self, Py_buffer *view, int flags) {
  plane *plane_ = (plane *)self;
  return fb_memory_buffer(self, plane_->owner, &plane_->layout, view, flags);
}

static void plane_releasebuffer(PyObject *self, Py_buffer *view) {
  (void)view;
  fb_memory_end_view(((plane *)self)->owner);
}

static PyObject *plane_dlpack(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *names) {
  plane *plane_ = (plane *)self;
  return fb_dlpack(plane_->owner, &plane_->layout, arguments, count, names);
}

static PyObject *sizes(const Py_ssize_t *values, int count) {
  PyObject *tuple = PyTuple_New(count);
  for (int index = 0; tuple && index < count; index++) {
    PyObject *value = PyLong_FromSsize_t(values[index]);
    if (!value) {
      Py_DECREF(tuple);
      return NULL;
    }
    PyTuple_SetItem(tuple, index, value);
  }
  return tuple;
}

static PyObject *plane_shape(PyObject *self, void *unused) {
  (void)unused;
  return sizes(((plane *)self)->layout.shape, ((plane *)self)->layout.ndim);
}

static PyObject *plane_strides(PyObject *self, void *unused) {
  (void)unused;
  return sizes(((plane *)self)->layout.strides, ((plane *)self)->layout.ndim);
}

static PyMethodDef methods[] = {
    {"__dlpack__", FB_METHOD(plane_dlpack), METH_FASTCALL | METH_KEYWORDS,
     "The plane as a tensor, without a copy."},
    {"__dlpack_device__", fb_dlpack_device, METH_NOARGS, "The CPU: (1, 0)."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"shape", plane_shape, NULL, "Sizes: height and width, and channels if there are several.",
     NULL},
    {"strides", plane_strides, NULL, "Bytes from one row, pixel and channel to the next.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A plane of a picture: an array by numpy.asarray, memoryview or DLPack."},
    {Py_tp_dealloc, plane_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_bf_getbuffer, plane_getbuffer},
    {Py_bf_releasebuffer, plane_releasebuffer},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "framebus.Plane",
    .basicsize = sizeof(plane),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int fb_plane_init(PyObject *module) {
  plane_type = fb_add_type(module, &spec);
  return plane_type ? 0 : -1;
}
