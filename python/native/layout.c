// Arrays: sizes and strides of what lies in memory.
#include "native.h"

fb_layout fb_layout_flat(Py_ssize_t count) {
  return (fb_layout){.code = "B", .dl_code = 1, .dl_bits = 8, .ndim = 1, .itemsize = 1,
                     .shape = {count, 1, 1}, .strides = {1, 1, 1}};
}

Py_ssize_t fb_layout_bytes(const fb_layout *layout) {
  Py_ssize_t bytes = layout->itemsize;
  for (int index = 0; index < layout->ndim; index++) bytes *= layout->shape[index];
  return bytes;
}

bool fb_layout_is_contiguous(const fb_layout *layout) {
  Py_ssize_t expected = layout->itemsize;
  for (int index = layout->ndim - 1; index >= 0; index--) {
    if (layout->shape[index] > 1 && layout->strides[index] != expected) return false;
    expected *= layout->shape[index];
  }
  return true;
}
