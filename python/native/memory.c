// Views of shared memory, and what a forked child finds in their place.
#include "native.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

// Changed with the interpreter's lock, which os.fork() holds.
static fb_memory *first;

/// The library keeps its memory from forked children. A view that a child inherits would end it by
/// a signal: it finds zeros instead. Only mmap(2) is called.
static void fill_in_child(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (fb_memory *memory = first; memory; memory = memory->next) {
    uintptr_t begin = (uintptr_t)memory->bytes / page * page;
    uintptr_t end = ((uintptr_t)memory->bytes + memory->byte_count + page - 1) / page * page;
    int protection = memory->is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
    mmap((void *)begin, end - begin, protection,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    memory->is_ended = true;
  }
}

int fb_memory_init(void) {
  if (pthread_atfork(NULL, NULL, fill_in_child) == 0) return 0;
  PyErr_NoMemory();
  return -1;
}

void fb_memory_add(fb_memory *memory) {
  memory->next = first;
  memory->previous = NULL;
  if (first) first->previous = memory;
  first = memory;
}

void fb_memory_remove(fb_memory *memory) {
  if (memory->previous)
    memory->previous->next = memory->next;
  else if (first == memory)
    first = memory->next;
  if (memory->next) memory->next->previous = memory->previous;
  memory->next = memory->previous = NULL;
}

int fb_memory_check(fb_owner *owner) {
  if (!owner->memory.is_ended) return 0;
  PyErr_SetString(PyExc_BufferError,
                  owner->memory.is_writable
                      ? "the loan has ended: it was published, abandoned or made before a fork; "
                        "take another"
                      : "the memory was released, or opened before a fork; open it again, or "
                        "copy it before");
  return -1;
}

int fb_memory_buffer(PyObject *exporter, fb_owner *owner, fb_layout *layout, Py_buffer *view,
                     int flags) {
  view->obj = NULL;
  if (fb_memory_check(owner) < 0) return -1;
  bool is_writable = owner->memory.is_writable;
  if ((flags & PyBUF_WRITABLE) && !is_writable) {
    PyErr_SetString(PyExc_BufferError,
                    "this memory is read-only; copy it, for example by numpy.array or bytearray");
    return -1;
  }
  bool is_contiguous = fb_layout_is_contiguous(layout);
  bool has_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  bool needs_contiguous = !has_strides || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
                          (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS;
  bool needs_fortran = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS &&
                       (flags & PyBUF_ANY_CONTIGUOUS) != PyBUF_ANY_CONTIGUOUS;
  if ((needs_contiguous && !is_contiguous) ||
      (needs_fortran && !(is_contiguous && layout->ndim == 1))) {
    PyErr_SetString(PyExc_BufferError,
                    "the rows are padded, so the picture is not contiguous; use .data or "
                    "numpy.ascontiguousarray");
    return -1;
  }
  bool has_shape = (flags & PyBUF_ND) == PyBUF_ND;
  view->buf = owner->memory.bytes + layout->offset;
  view->len = fb_layout_bytes(layout);
  view->readonly = !is_writable;
  view->itemsize = layout->itemsize;
  view->format = (flags & PyBUF_FORMAT) ? layout->code : NULL;
  view->ndim = has_shape ? layout->ndim : 1;
  view->shape = has_shape ? layout->shape : NULL;
  view->strides = has_strides ? layout->strides : NULL;
  view->suboffsets = NULL;
  view->internal = NULL;
  view->obj = Py_NewRef(exporter);
  owner->memory.exports++;
  return 0;
}

void fb_memory_end_view(fb_owner *owner) {
  if (--owner->memory.exports == 0) owner->memory.views_ended(owner);
}
