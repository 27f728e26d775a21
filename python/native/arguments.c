// Arguments of Python as numbers of C, and back.
#include "native.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

int fb_value_of(PyObject *object, const fb_word *words, const char *name, uint32_t *value) {
  Py_ssize_t size;
  const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &size) : "";
  if (!text) return -1;
  for (const fb_word *word = words; word->word; word++)
    if (strcmp(word->word, text) == 0) {
      *value = word->value;
      return 0;
    }
  char list[256] = "";
  for (const fb_word *word = words; word->word; word++) {
    if (list[0]) strncat(list, ", ", sizeof list - strlen(list) - 1);
    strncat(list, word->word, sizeof list - strlen(list) - 1);
  }
  PyErr_Format(PyExc_ValueError, "%s is %R; use one of: %s", name, object, list);
  return -1;
}

PyObject *fb_word_of(uint32_t value, const fb_word *words) {
  for (const fb_word *word = words; word->word; word++)
    if (word->value == value) return PyUnicode_FromString(word->word);
  return PyUnicode_FromFormat("%u", value);
}

int fb_deadline(PyObject *timeout, uint64_t *deadline_ns) {
  *deadline_ns = FRAMEBUS_NEVER;
  if (timeout == Py_None) return 0;
  double seconds = PyFloat_AsDouble(timeout);
  if (seconds == -1 && PyErr_Occurred()) return -1;
  if (isnan(seconds)) {
    PyErr_SetString(PyExc_ValueError, "timeout is not a number of seconds");
    return -1;
  }
  if (seconds <= 0) {
    *deadline_ns = 0;
  } else if (seconds < 1e9) {
    *deadline_ns = framebus_after_ns((uint64_t)(seconds * 1e9));
  }
  return 0;
}

int fb_timeout_from(PyObject *const *arguments, Py_ssize_t count, PyObject *names,
                    const char *function, uint64_t *deadline_ns) {
  Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  *deadline_ns = FRAMEBUS_NEVER;
  if (count + named == 0) return 0;
  if (count + named > 1 ||
      (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "timeout") != 0)) {
    PyErr_Format(PyExc_TypeError, "%s takes one argument, timeout", function);
    return -1;
  }
  return fb_deadline(arguments[0], deadline_ns);
}

const char *fb_text(PyObject *object) {
  Py_ssize_t size;
  const char *text = PyUnicode_AsUTF8AndSize(object, &size);
  if (!text || strlen(text) == (size_t)size) return text;
  PyErr_SetString(PyExc_ValueError, "the text has a zero character; leave it out");
  return NULL;
}

int fb_uint64(PyObject *object, const char *name, uint64_t *value) {
  PyObject *index = PyNumber_Index(object);
  if (!index) return -1;
  *value = PyLong_AsUnsignedLongLong(index);
  if (*value == (uint64_t)-1 && PyErr_Occurred()) {
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s is %R; use 0 to 2**64 - 1", name, index);
    Py_DECREF(index);
    return -1;
  }
  Py_DECREF(index);
  return 0;
}

int fb_int64(PyObject *object, const char *name, int64_t *value) {
  PyObject *index = PyNumber_Index(object);
  if (!index) return -1;
  *value = PyLong_AsLongLong(index);
  if (*value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s is %R; use -2**63 to 2**63 - 1", name, index);
    Py_DECREF(index);
    return -1;
  }
  Py_DECREF(index);
  return 0;
}

int fb_uint32(PyObject *object, const char *name, uint32_t *value) {
  uint64_t wide;
  if (fb_uint64(object, name, &wide) < 0) return -1;
  if (wide > UINT32_MAX) {
    PyErr_Format(PyExc_ValueError, "%s is %R; use 0 to 2**32 - 1", name, object);
    return -1;
  }
  *value = (uint32_t)wide;
  return 0;
}

int fb_rate(PyObject *object, uint32_t *numerator, uint32_t *denominator) {
  *numerator = 0;
  *denominator = 1;
  if (object == Py_None) return 0;
  PyObject *above = PyObject_GetAttrString(object, "numerator");
  PyObject *below = above ? PyObject_GetAttrString(object, "denominator") : NULL;
  int result = -1;
  if (above && below) {
    result = fb_uint32(above, "rate.numerator", numerator);
    if (result == 0) result = fb_uint32(below, "rate.denominator", denominator);
  } else if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "rate is %R; use an int or a fractions.Fraction", object);
  }
  Py_XDECREF(above);
  Py_XDECREF(below);
  return result;
}

PyObject *fb_rate_object(uint32_t numerator, uint32_t denominator) {
  if (numerator == 0 || denominator == 0) Py_RETURN_NONE;
  PyObject *fractions = PyImport_ImportModule("fractions");
  if (!fractions) return NULL;
  PyObject *result =
      PyObject_CallMethod(fractions, "Fraction", "II", numerator, denominator);
  Py_DECREF(fractions);
  return result;
}

PyObject *fb_make(const char *class_name, const char *format, ...) {
  va_list list;
  va_start(list, format);
  PyObject *arguments = Py_VaBuildValue(format, list);
  va_end(list);
  if (!arguments) return NULL;
  PyObject *module = PyImport_ImportModule("framebus._types");
  PyObject *type = module ? PyObject_GetAttrString(module, class_name) : NULL;
  PyObject *result = type ? PyObject_CallObject(type, arguments) : NULL;
  Py_XDECREF(type);
  Py_XDECREF(module);
  Py_DECREF(arguments);
  return result;
}
