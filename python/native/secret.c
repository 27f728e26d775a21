// One credential, opened into locked memory.
#include "native.h"

#include <sys/mman.h>
#include <unistd.h>

typedef struct {
  PyObject_HEAD
  fb_memory memory;
  fb_layout layout;
  framebus_secret *handle;
} secret;

static PyTypeObject *secret_type;

static void wipe(secret *secret) {
  if (!secret->handle) return;
  fb_memory_remove(&secret->memory);
  framebus_secret_close(secret->handle);
  secret->handle = NULL;
}

static void views_ended(fb_owner *owner) {
  if (owner->memory.is_ended) wipe((secret *)owner);
}

typedef struct {
  framebus_group *group;
  const char *service, *account, *role, *passphrase;
  framebus_error error;
} open_call;

/// A child that was forked without exec finds zeros, so that the secret has one owner.
static void keep_from_children(const void *bytes, size_t count) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uintptr_t begin = (uintptr_t)bytes / page * page;
  uintptr_t end = ((uintptr_t)bytes + count + page - 1) / page * page;
  madvise((void *)begin, end - begin, MADV_WIPEONFORK);
}

static PyObject *opened(PyTypeObject *type, framebus_secret *handle) {
  const void *bytes = NULL;
  size_t count = 0;
  FB_ERROR(error);
  int code = framebus_secret_get(handle, &bytes, &count, &error);
  secret *made = code < 0 ? NULL : (secret *)PyType_GenericAlloc(type, 0);
  if (!made) {
    framebus_secret_close(handle);
    return code < 0 ? fb_raise(code, &error) : NULL;
  }
  made->handle = handle;
  made->memory.bytes = (char *)bytes;
  made->memory.byte_count = count;
  made->memory.views_ended = views_ended;
  made->layout = fb_layout_flat((Py_ssize_t)count);
  fb_memory_add(&made->memory);
  keep_from_children(bytes, count);
  return (PyObject *)made;
}

static PyObject *secret_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"group", "service", "account", "role", "passphrase", NULL};
  PyObject *group;
  open_call call = {.role = "host"};
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "Oss|sz:Secret", names, &group,
                                   &call.service, &call.account, &call.role, &call.passphrase))
    return NULL;
  call.group = fb_group_handle(group);
  if (!call.group) return NULL;
  call.error.size = sizeof call.error;
  call.error.message[0] = 0;
  framebus_secret *handle = NULL;
  int code;
  // Deriving a key from a passphrase takes long on purpose.
  Py_BEGIN_ALLOW_THREADS
  code = framebus_secret_open(call.group, call.role, call.service, call.account, call.passphrase,
                              &handle, &call.error);
  Py_END_ALLOW_THREADS
  return code < 0 ? fb_raise(code, &call.error) : opened(type, handle);
}

static PyObject *secret_close(PyObject *self, PyObject *unused) {
  (void)unused;
  secret *secret_ = (secret *)self;
  secret_->memory.is_ended = true;
  if (secret_->memory.exports == 0) wipe(secret_);
  Py_RETURN_NONE;
}

static void secret_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  wipe((secret *)self);
  PyObject_Free(self);
  Py_DECREF(type);
}

static int secret_getbuffer(PyObject *self, Py_buffer *view, int flags) {
  return fb_memory_buffer(self, (fb_owner *)self, &((secret *)self)->layout, view, flags);
}

static void secret_releasebuffer(PyObject *self, Py_buffer *view) {
  (void)view;
  fb_memory_end_view((fb_owner *)self);
}

static PyObject *secret_closed(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((secret *)self)->memory.is_ended);
}

static PyObject *secret_repr(PyObject *self) {
  (void)self;
  return PyUnicode_FromString("<framebus.Secret>");
}

static PyMethodDef methods[] = {
    {"close", secret_close, METH_NOARGS, "Wipes the memory: at once, or with the last view."},
    {"__enter__", fb_handle_enter, METH_NOARGS, NULL},
    {"__exit__", secret_close, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", secret_closed, NULL, "Whether close was called.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "A credential, opened as a role into memory that is locked, kept out of core dumps and\n"
     "wiped by close. memoryview(secret) reads it in place; bytes(secret) is a copy that\n"
     "nothing protects."},
    {Py_tp_new, secret_new},
    {Py_tp_dealloc, secret_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_repr, secret_repr},
    {Py_bf_getbuffer, secret_getbuffer},
    {Py_bf_releasebuffer, secret_releasebuffer},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "framebus.Secret",
    .basicsize = sizeof(secret),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int fb_secret_init(PyObject *module) {
  secret_type = fb_add_type(module, &spec);
  return secret_type ? 0 : -1;
}
