// Tensors by DLPack (dmlc.github.io/dlpack): its structures, as version 1.0 lays them out.
#include "native.h"

#include <stdlib.h>
#include <string.h>

enum { DL_CPU = 1, DL_READ_ONLY = 1, DL_IS_COPIED = 2 };

typedef struct {
  void *data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} dl_tensor;

/// Without a version: it cannot say that memory is read-only.
typedef struct dl_managed {
  dl_tensor tensor;
  void *context;
  void (*deleter)(struct dl_managed *);
} dl_managed;

typedef struct dl_versioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(struct dl_versioned *);
  uint64_t flags;
  dl_tensor tensor;
} dl_versioned;

/// What a consumer receives: one of the two, and what they refer to.
typedef struct {
  dl_managed managed;
  dl_versioned versioned;
  fb_owner *owner;
  void *copy;
  int64_t shape[FB_DIMENSIONS];
  int64_t strides[FB_DIMENSIONS];
} export;

static void end(export *export) {
  // A consumer may call from any thread, also at the end of the process.
  if (export->owner && Py_IsInitialized()) {
    PyGILState_STATE state = PyGILState_Ensure();
    fb_memory_end_view(export->owner);
    Py_DECREF((PyObject *)export->owner);
    PyGILState_Release(state);
  }
  free(export->copy);
  free(export);
}

static void delete_managed(dl_managed *managed) { end(managed->context); }
static void delete_versioned(dl_versioned *versioned) { end(versioned->context); }

/// A capsule that nobody consumed still has its name.
static void destroy(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    dl_versioned *tensor = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    tensor->deleter(tensor);
  } else if (PyCapsule_IsValid(capsule, "dltensor")) {
    dl_managed *tensor = PyCapsule_GetPointer(capsule, "dltensor");
    tensor->deleter(tensor);
  }
}

typedef struct {
  PyObject *stream, *max_version, *dl_device, *copy;
} request;

static int read_request(PyObject *const *arguments, Py_ssize_t count, PyObject *names,
                        request *request) {
  request->stream = request->max_version = request->dl_device = request->copy = Py_None;
  if (count > 0) {
    PyErr_SetString(PyExc_TypeError, "__dlpack__ takes keywords alone");
    return -1;
  }
  static const char *const known[] = {"stream", "max_version", "dl_device", "copy"};
  PyObject **const values[] = {&request->stream, &request->max_version, &request->dl_device,
                               &request->copy};
  for (Py_ssize_t index = 0; names && index < PyTuple_Size(names); index++) {
    PyObject *name = PyTuple_GetItem(names, index);
    int match = -1;
    for (int candidate = 0; candidate < 4; candidate++)
      if (PyUnicode_CompareWithASCIIString(name, known[candidate]) == 0) match = candidate;
    if (match < 0) {
      PyErr_Format(PyExc_TypeError, "__dlpack__ has no keyword %R", name);
      return -1;
    }
    *values[match] = arguments[count + index];
  }
  return 0;
}

/// Memory of a CPU has no streams, and can be exported to that device alone.
static int check_device(const request *request) {
  if (request->stream != Py_None) {
    PyErr_SetString(PyExc_BufferError, "frames are in the memory of the CPU: stream must be None");
    return -1;
  }
  if (request->dl_device == Py_None) return 0;
  int type, id;
  if (!PyArg_ParseTuple(request->dl_device, "ii", &type, &id)) return -1;
  if (type == DL_CPU && id == 0) return 0;
  PyErr_SetString(PyExc_BufferError, "frames are in the memory of the CPU: copy them to a device");
  return -1;
}

static int copy_to(export *export, fb_owner *owner, const fb_layout *layout) {
  Py_ssize_t bytes = fb_layout_bytes(layout);
  export->copy = malloc(bytes ? (size_t)bytes : 1);
  if (!export->copy) {
    PyErr_NoMemory();
    return -1;
  }
  fb_layout own = *layout;
  Py_buffer view;
  if (fb_memory_buffer((PyObject *)owner, owner, &own, &view, PyBUF_FULL_RO) < 0) return -1;
  int result = PyBuffer_ToContiguous(export->copy, &view, bytes, 'C');
  PyBuffer_Release(&view);
  for (int64_t index = layout->ndim - 1, step = 1; index >= 0; index--) {
    export->strides[index] = step;
    step *= export->shape[index];
  }
  return result;
}

static dl_tensor describe(export *export, fb_owner *owner, const fb_layout *layout) {
  dl_tensor tensor = {
      .data = export->copy ? export->copy : owner->memory.bytes + layout->offset,
      .device = {DL_CPU, 0},
      .ndim = layout->ndim,
      .dtype = {layout->dl_code, layout->dl_bits, 1},
      .shape = export->shape,
      .strides = export->strides,
  };
  return tensor;
}

PyObject *fb_dlpack(fb_owner *owner, const fb_layout *layout, PyObject *const *arguments,
                    Py_ssize_t count, PyObject *names) {
  request request;
  if (read_request(arguments, count, names, &request) < 0 || check_device(&request) < 0 ||
      fb_memory_check(owner) < 0)
    return NULL;
  unsigned major = 0, minor = 0;
  if (request.max_version != Py_None &&
      !PyArg_ParseTuple(request.max_version, "II", &major, &minor))
    return NULL;
  bool is_versioned = major >= 1, copies = request.copy == Py_True;
  if (layout->dl_bits == 0) {
    PyErr_SetString(PyExc_BufferError, "DLPack has no big-endian samples; use numpy.asarray");
    return NULL;
  }
  if (!is_versioned && !copies && !owner->memory.is_writable) {
    PyErr_SetString(PyExc_BufferError,
                    "a received frame is read-only, which DLPack says only since version 1.0; the "
                    "consumer asked for an older one: give it a copy, numpy.array(frame)");
    return NULL;
  }
  export *made = calloc(1, sizeof *made);
  if (!made) return PyErr_NoMemory();
  for (int index = 0; index < layout->ndim; index++) {
    made->shape[index] = layout->shape[index];
    made->strides[index] = layout->strides[index] / layout->itemsize;
  }
  if (copies) {
    if (copy_to(made, owner, layout) < 0) {
      end(made);
      return NULL;
    }
  } else {
    made->owner = (fb_owner *)Py_NewRef((PyObject *)owner);
    owner->memory.exports++;
  }
  uint64_t flags = copies ? DL_IS_COPIED : owner->memory.is_writable ? 0 : DL_READ_ONLY;
  dl_tensor tensor = describe(made, owner, layout);
  made->versioned = (dl_versioned){1, 0, made, delete_versioned, flags, tensor};
  made->managed = (dl_managed){tensor, made, delete_managed};
  PyObject *capsule =
      is_versioned ? PyCapsule_New(&made->versioned, "dltensor_versioned", destroy)
                   : PyCapsule_New(&made->managed, "dltensor", destroy);
  if (!capsule) end(made);
  return capsule;
}

PyObject *fb_dlpack_device(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return Py_BuildValue("ii", DL_CPU, 0);
}
