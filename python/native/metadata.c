// Metadata of a frame: the keywords of publish, and framebus.Metadata.
#include "native.h"

static int read_rect(PyObject *object, const char *name, framebus_rect *rect) {
  PyObject *tuple = PySequence_Tuple(object);
  if (!tuple) return -1;
  int is_right = PyArg_ParseTuple(tuple, "IIII", &rect->x, &rect->y, &rect->width, &rect->height);
  Py_DECREF(tuple);
  if (is_right) return 0;
  PyErr_Clear();
  PyErr_Format(PyExc_ValueError, "%s is %R; use (x, y, width, height) in pixels", name, object);
  return -1;
}

static int read_damage(PyObject *object, framebus_metadata *metadata) {
  metadata->damage_count = FRAMEBUS_DAMAGE_FULL;
  if (object == Py_None) return 0;
  PyObject *tuple = PySequence_Tuple(object);
  if (!tuple) return -1;
  Py_ssize_t count = PyTuple_Size(tuple);
  if (count > FRAMEBUS_MAXIMUM_DAMAGE) {
    PyErr_Format(PyExc_ValueError, "damage has %zd rectangles; join them to %d or fewer", count,
                 FRAMEBUS_MAXIMUM_DAMAGE);
    Py_DECREF(tuple);
    return -1;
  }
  int result = 0;
  for (Py_ssize_t index = 0; result == 0 && index < count; index++)
    result = read_rect(PyTuple_GetItem(tuple, index), "damage", &metadata->damage[index]);
  Py_DECREF(tuple);
  metadata->damage_count = (uint32_t)count;
  return result;
}

/// 1 if it is metadata, 0 if it is the byte count, -1 with an exception.
static int read_keyword(PyObject *name, PyObject *value, framebus_metadata *metadata,
                        uint64_t *byte_count) {
  if (PyUnicode_CompareWithASCIIString(name, "byte_count") == 0)
    return value == Py_None ? 0 : fb_uint64(value, "byte_count", byte_count);
  int status;
  if (PyUnicode_CompareWithASCIIString(name, "pts_ns") == 0)
    status = fb_int64(value, "pts_ns", &metadata->pts_ns);
  else if (PyUnicode_CompareWithASCIIString(name, "duration_ns") == 0)
    status = fb_uint64(value, "duration_ns", &metadata->duration_ns);
  else if (PyUnicode_CompareWithASCIIString(name, "captured_at_ns") == 0)
    status = fb_uint64(value, "captured_at_ns", &metadata->captured_at_ns);
  else if (PyUnicode_CompareWithASCIIString(name, "flags") == 0)
    status = fb_uint32(value, "flags", &metadata->flags);
  else if (PyUnicode_CompareWithASCIIString(name, "orientation") == 0)
    status = fb_uint32(value, "orientation", &metadata->orientation);
  else if (PyUnicode_CompareWithASCIIString(name, "crop") == 0)
    status = value == Py_None ? 0 : read_rect(value, "crop", &metadata->crop);
  else if (PyUnicode_CompareWithASCIIString(name, "damage") == 0)
    status = read_damage(value, metadata);
  else {
    PyErr_Format(PyExc_TypeError, "publish has no keyword %R", name);
    status = -1;
  }
  return status < 0 ? -1 : 1;
}

int fb_metadata_from(PyObject *const *values, PyObject *names, framebus_metadata *metadata,
                     uint64_t *byte_count) {
  *byte_count = FRAMEBUS_WHOLE;
  Py_ssize_t count = names ? PyTuple_Size(names) : 0;
  if (count == 0) return 0;
  FB_ERROR(error);
  metadata->size = sizeof *metadata;
  int code = framebus_metadata_now(metadata, &error), given = 0;
  if (code < 0) {
    fb_raise(code, &error);
    return -1;
  }
  for (Py_ssize_t index = 0; index < count; index++) {
    int kind = read_keyword(PyTuple_GetItem(names, index), values[index], metadata, byte_count);
    if (kind < 0) return -1;
    given |= kind;
  }
  return given;
}

PyObject *fb_metadata_object(const framebus_metadata *metadata) {
  PyObject *crop = Py_NewRef(Py_None), *damage = Py_NewRef(Py_None);
  const framebus_rect *rect = &metadata->crop;
  if (rect->width > 0) {
    Py_DECREF(crop);
    crop = fb_make("Rect", "(IIII)", rect->x, rect->y, rect->width, rect->height);
  }
  if (metadata->damage_count <= FRAMEBUS_MAXIMUM_DAMAGE) {
    Py_DECREF(damage);
    damage = PyTuple_New(metadata->damage_count);
    for (uint32_t index = 0; damage && index < metadata->damage_count; index++) {
      rect = &metadata->damage[index];
      PyObject *item = fb_make("Rect", "(IIII)", rect->x, rect->y, rect->width, rect->height);
      if (item) {
        PyTuple_SetItem(damage, index, item);
      } else {
        Py_DECREF(damage);
        damage = NULL;
      }
    }
  }
  PyObject *result = NULL;
  if (crop && damage)
    result = fb_make("Metadata", "(LKKIIOO)", (long long)metadata->pts_ns,
                     (unsigned long long)metadata->duration_ns,
                     (unsigned long long)metadata->captured_at_ns, metadata->flags,
                     metadata->orientation, crop, damage);
  Py_XDECREF(crop);
  Py_XDECREF(damage);
  return result;
}
