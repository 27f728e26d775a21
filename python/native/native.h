// The parts of the extension module framebus._native: Python objects over the C interface,
// framebus.h. Compiled for the limited API of Python 3.11, the first with the buffer protocol.
//
// The extension refuses to know the protocols, and to import numpy: arrays are made by the buffer
// protocol and DLPack. All its state is guarded by the interpreter's lock, except while a wait
// has released it; then the object is `busy`, and other threads may only close it.
#ifndef FRAMEBUS_NATIVE_H
#define FRAMEBUS_NATIVE_H

#define PY_SSIZE_T_CLEAN
// poll, eventfd, mmap and threads beyond ISO C.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <framebus-group.h>
#include <framebus.h>
#include <stdbool.h>
#include <stdint.h>
#include <structmember.h>

#define FB_METHOD(function) ((PyCFunction)(void (*)(void))(function))

// ---- errors.c

/// Raises the exception of a result below 0. Returns NULL.
PyObject *fb_raise(int code, const framebus_error *error);
/// Raises the exception of a kind with a text of ours. Returns NULL.
PyObject *fb_raise_text(int code, const char *text);
/// Raises framebus.TimedOutError. Returns NULL.
PyObject *fb_raise_timeout(void);
int fb_errors_init(void);

/// An error object that only needs its size.
#define FB_ERROR(name)   \
  framebus_error name;   \
  name.size = sizeof name; \
  name.message[0] = 0

// ---- arguments.c

/// A word that stands for a number. The last has no word.
typedef struct {
  const char *word;
  uint32_t value;
} fb_word;

/// Sets *value to that of a str; raises ValueError with all words.
int fb_value_of(PyObject *object, const fb_word *words, const char *name, uint32_t *value);
/// The str of a value; a number if it has none.
PyObject *fb_word_of(uint32_t value, const fb_word *words);
/// Sets *deadline_ns from seconds (float), or None for no deadline.
int fb_deadline(PyObject *timeout, uint64_t *deadline_ns);
/// Reads the one argument `timeout`, which may be left out.
int fb_timeout_from(PyObject *const *arguments, Py_ssize_t count, PyObject *names,
                    const char *function, uint64_t *deadline_ns);
/// The UTF-8 of a str without zero characters; NULL with an exception.
const char *fb_text(PyObject *object);
int fb_uint32(PyObject *object, const char *name, uint32_t *value);
int fb_uint64(PyObject *object, const char *name, uint64_t *value);
int fb_int64(PyObject *object, const char *name, int64_t *value);
/// Sets numerator and denominator from an int or Fraction; 0 and 1 from None.
int fb_rate(PyObject *object, uint32_t *numerator, uint32_t *denominator);
PyObject *fb_rate_object(uint32_t numerator, uint32_t denominator);
/// An object of a class of framebus._types.
PyObject *fb_make(const char *class_name, const char *format, ...);

// ---- waiting.c

typedef struct {
  /// The call, which runs without the interpreter's lock. Returns its result.
  int (*call)(void *context, framebus_stop *stop);
  void *context;
  /// Where the stop handle stands while the call runs, for fb_stop. May be NULL.
  framebus_stop **stop;
} fb_wait;

/// Waits in a call of the library that ends with a signal handler of Python that raises, or with
/// the stop handle. Sets *result. Returns -1 with an exception; the result counts in any case.
int fb_wait_in(const fb_wait *wait, int *result);

/// Waits until a descriptor or an eventfd is readable, a deadline, or a handler that raises (-1);
/// or less long, so that a caller checks for signals.
/// *busy is true while the interpreter's lock is released.
int fb_poll(int descriptor, int wake, uint64_t deadline_ns, bool *busy);

// ---- layout.c

enum { FB_DIMENSIONS = 3 };

/// How bytes are seen as an array.
typedef struct {
  char code[4];
  uint8_t dl_code;
  uint8_t dl_bits;
  int ndim;
  Py_ssize_t itemsize;
  Py_ssize_t offset;
  Py_ssize_t shape[FB_DIMENSIONS];
  Py_ssize_t strides[FB_DIMENSIONS];
} fb_layout;

fb_layout fb_layout_flat(Py_ssize_t count);
/// The bytes of all elements, without gaps.
Py_ssize_t fb_layout_bytes(const fb_layout *layout);
bool fb_layout_is_contiguous(const fb_layout *layout);

// ---- memory.c

struct fb_owner;

/// The memory of a frame, a loan or a secret, as long as it is in use. The first field behind the
/// head of the objects that have one.
typedef struct fb_memory {
  struct fb_memory *next, *previous;
  /// Called when the last view has gone.
  void (*views_ended)(struct fb_owner *);
  char *bytes;
  size_t byte_count;
  /// Views of it: buffers and tensors.
  Py_ssize_t exports;
  bool is_writable;
  /// No views are made any more.
  bool is_ended;
} fb_memory;

typedef struct fb_owner {
  PyObject_HEAD
  fb_memory memory;
} fb_owner;

/// Enters it in the list of memory that a forked child does not inherit.
void fb_memory_add(fb_memory *memory);
void fb_memory_remove(fb_memory *memory);
int fb_memory_init(void);
/// Fills in a buffer of `exporter`, whose memory is the owner's.
int fb_memory_buffer(PyObject *exporter, fb_owner *owner, fb_layout *layout, Py_buffer *view,
                     int flags);
/// Ends one view; the owner is told of the last.
void fb_memory_end_view(fb_owner *owner);
/// Raises unless views can be made.
int fb_memory_check(fb_owner *owner);

// ---- dlpack.c

/// __dlpack__ and __dlpack_device__ of an object.
PyObject *fb_dlpack(fb_owner *owner, const fb_layout *layout, PyObject *const *arguments,
                    Py_ssize_t count, PyObject *names);
PyObject *fb_dlpack_device(PyObject *self, PyObject *unused);

// ---- plane.c

/// A part of a frame or loan as an array.
PyObject *fb_plane_new(fb_owner *owner, const fb_layout *layout);
/// All bytes as a flat memoryview.
PyObject *fb_plane_flat(fb_owner *owner);
int fb_plane_init(PyObject *module);

// ---- format.c

typedef struct {
  PyObject_HEAD
  framebus_format c;
  fb_layout whole;
  int plane_count;
  fb_layout planes[FRAMEBUS_MAXIMUM_PLANES];
} fb_format;

PyObject *fb_format_new(const framebus_format *format);
/// The layout of a frame with that payload.
fb_layout fb_format_layout(const fb_format *format, uint64_t byte_count);
/// The tuple of planes of a frame or loan.
PyObject *fb_format_planes(const fb_format *format, fb_owner *owner, uint64_t byte_count);
fb_format *fb_format_check(PyObject *object);
int fb_format_init(PyObject *module);

// ---- metadata.c

/// Reads the keywords of publish. A field that is not given stays. byte_count may become
/// FRAMEBUS_WHOLE. Returns 1 if any metadata was given, -1 with an exception.
int fb_metadata_from(PyObject *const *values, PyObject *names, framebus_metadata *metadata,
                     uint64_t *byte_count);
PyObject *fb_metadata_object(const framebus_metadata *metadata);

// ---- frame.c

PyObject *fb_frame_new(const framebus_frame *frame, fb_format *format);
int fb_frame_init(PyObject *module);

// ---- group.c

typedef struct {
  PyObject_HEAD
  framebus_group *handle;
} fb_group;
/// The open handle of a Group; NULL with an exception.
framebus_group *fb_group_handle(PyObject *object);
int fb_group_init(PyObject *module);

// ---- publisher.c, loan.c

enum { FB_MAXIMUM_LOANS = 64 };

typedef struct {
  PyObject_HEAD
  framebus_publisher *handle;
  /// Ends the wait of another thread.
  framebus_stop *stop;
  fb_format *format;
  /// Loans that are out, each of which refers to the publisher.
  fb_owner *loans[FB_MAXIMUM_LOANS];
  /// Loans that went while another thread waited, which abandons them then.
  framebus_loan *abandoned[FB_MAXIMUM_LOANS];
  int abandoned_count;
  uint32_t reason;
  bool is_busy;
  bool is_closing;
} fb_publisher;

/// Raises unless the publisher is open and no other thread waits in it.
int fb_publisher_check(fb_publisher *publisher);
/// Ends the stream now, or when no views of loans and no waits are left.
void fb_publisher_end(fb_publisher *publisher);
int fb_publisher_init(PyObject *module);

PyObject *fb_loan_new(fb_publisher *publisher, const framebus_slot *slot);
/// Copies a buffer into a new loan and publishes it.
PyObject *fb_loan_publish_copy(PyObject *loan, PyObject *data, PyObject *const *values,
                               PyObject *names);
int fb_loan_init(PyObject *module);

// ---- subscriber.c

int fb_subscriber_init(PyObject *module);
extern const fb_word fb_end_words[], fb_pause_words[], fb_content_words[];

// ---- handle.c

/// An object over one handle of the library, whose calls may release the interpreter's lock.
typedef struct {
  PyObject_HEAD
  void *handle;
  void (*close)(void *handle);
  /// Calls that are under way; the last one closes the handle if it is to be closed.
  int uses;
  bool is_closing;
} fb_handle;

/// Begins a call; raises and returns NULL if the object is closed.
void *fb_handle_begin(PyObject *self);
void fb_handle_end(PyObject *self);
void fb_handle_dealloc(PyObject *self);
/// The methods close, __enter__ and __exit__, and the property closed.
PyObject *fb_handle_close(PyObject *self, PyObject *unused);
PyObject *fb_handle_enter(PyObject *self, PyObject *unused);
PyObject *fb_handle_closed(PyObject *self, void *unused);
#define FB_HANDLE_METHODS                                                             \
  {"close", fb_handle_close, METH_NOARGS, "Closes it; any thread may call it."},      \
      {"__enter__", fb_handle_enter, METH_NOARGS, NULL},                              \
      {"__exit__", fb_handle_close, METH_VARARGS, NULL}
#define FB_HANDLE_PROPERTIES {"closed", fb_handle_closed, NULL, "Whether close was called.", NULL}
/// None, or the exception of a result below 0.
PyObject *fb_finish(int code, const framebus_error *error);

// ---- observation.c

/// An object whose deliveries are waited for by a descriptor.
typedef struct {
  fb_handle base;
  int descriptor;
  /// An eventfd that ends the wait of another thread.
  int wake;
  bool is_busy;
  /// Takes a delivery without waiting, as an object: NULL with *code.
  PyObject *(*take)(void *handle, int *code);
} fb_observation;

/// Makes an observation of a type; closes the handle on failure.
PyObject *fb_observation_new(PyTypeObject *type, void *handle, void (*close)(void *),
                             int descriptor, PyObject *(*take)(void *, int *));
PyTypeObject *fb_observation_type(PyObject *module, const char *name, const char *doc);

// ---- notifications.c, settings.c, log.c, semaphore.c, secret.c

int fb_notifications_init(PyObject *module);
int fb_settings_init(PyObject *module);
int fb_log_init(PyObject *module);
int fb_semaphore_init(PyObject *module);
int fb_secret_init(PyObject *module);

// ---- module.c

/// Raises that another thread uses the object. Returns -1.
int fb_raise_busy(const char *what);
/// Frees an object whose type may have subclasses.
void fb_free(PyObject *self);
/// Adds a type made of a spec to the module.
PyTypeObject *fb_add_type(PyObject *module, PyType_Spec *spec);

#endif
