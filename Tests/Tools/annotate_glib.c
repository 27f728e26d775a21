// Tells ThreadSanitizer of the locks and queues of GLib, which is not compiled with it. Linked into
// the program that loads the plugin, where its functions come before GLib's own. Reference counts
// order the last use of an object before its end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glib-object.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

static void *real(const char *name, void **known) {
  void *found = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (found == NULL) {
    found = dlsym(RTLD_NEXT, name);
    __atomic_store_n(known, found, __ATOMIC_RELAXED);
  }
  return found;
}

#define REAL(result, name, ...)  \
  static void *known;            \
  result (*call)(__VA_ARGS__) = (result(*)(__VA_ARGS__))real(name, &known)

#define LOCKS(type, lock, unlock)      \
  void lock(type *object) {            \
    REAL(void, #lock, type *);         \
    call(object);                      \
    __tsan_acquire(object);            \
  }                                    \
  void unlock(type *object) {          \
    REAL(void, #unlock, type *);       \
    __tsan_release(object);            \
    call(object);                      \
  }
#define TRIES(type, trylock)           \
  gboolean trylock(type *object) {     \
    REAL(gboolean, #trylock, type *);  \
    if (!call(object)) return FALSE;   \
    __tsan_acquire(object);            \
    return TRUE;                       \
  }
#define ENDS(name)                     \
  void name(gpointer object) {         \
    REAL(void, #name, gpointer);       \
    __tsan_release(object);            \
    __tsan_acquire(object);            \
    call(object);                      \
  }

LOCKS(GMutex, g_mutex_lock, g_mutex_unlock)
TRIES(GMutex, g_mutex_trylock)
LOCKS(GRecMutex, g_rec_mutex_lock, g_rec_mutex_unlock)
TRIES(GRecMutex, g_rec_mutex_trylock)
LOCKS(GRWLock, g_rw_lock_writer_lock, g_rw_lock_writer_unlock)
LOCKS(GRWLock, g_rw_lock_reader_lock, g_rw_lock_reader_unlock)
ENDS(g_object_unref)
ENDS(gst_object_unref)
ENDS(gst_mini_object_unref)

void g_cond_wait(GCond *condition, GMutex *mutex) {
  REAL(void, "g_cond_wait", GCond *, GMutex *);
  __tsan_release(mutex);
  call(condition, mutex);
  __tsan_acquire(mutex);
}

gboolean g_cond_wait_until(GCond *condition, GMutex *mutex, gint64 end) {
  REAL(gboolean, "g_cond_wait_until", GCond *, GMutex *, gint64);
  __tsan_release(mutex);
  gboolean result = call(condition, mutex, end);
  __tsan_acquire(mutex);
  return result;
}

void g_async_queue_push(GAsyncQueue *queue, gpointer data) {
  REAL(void, "g_async_queue_push", GAsyncQueue *, gpointer);
  __tsan_release(queue);
  call(queue, data);
}

#define POPS(name)                         \
  gpointer name(GAsyncQueue *queue) {      \
    REAL(gpointer, #name, GAsyncQueue *);  \
    gpointer data = call(queue);           \
    __tsan_acquire(queue);                 \
    return data;                           \
  }
POPS(g_async_queue_pop)
POPS(g_async_queue_try_pop)

gpointer g_async_queue_timeout_pop(GAsyncQueue *queue, guint64 timeout) {
  REAL(gpointer, "g_async_queue_timeout_pop", GAsyncQueue *, guint64);
  gpointer data = call(queue, timeout);
  __tsan_acquire(queue);
  return data;
}
