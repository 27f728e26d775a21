// Waits without the interpreter's lock, which Python's signal handlers can end.
#include "native.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// A signal that comes just before a sleep, or to another thread, does not end it: Python's
/// handlers then run after this time.
enum { CHECK_MS = 250 };

/// Python runs its signal handlers on this thread alone.
static bool is_main_thread(void) {
  static _Thread_local int known;
  if (known == 0) known = syscall(SYS_gettid) == getpid() ? 1 : 2;
  return known == 1;
}

typedef struct {
  const fb_wait *wait;
  framebus_stop *stop;
  int result;
  int done;
} job;

static void *run(void *context) {
  job *job = context;
  job->result = job->wait->call(job->wait->context, job->stop);
  uint64_t one = 1;
  while (write(job->done, &one, sizeof one) < 0 && errno == EINTR) continue;
  return NULL;
}

static int fail_of_errno(void) {
  PyErr_SetFromErrno(PyExc_OSError);
  return -1;
}

/// Runs the job on a thread that receives no signals, so that this one is interrupted by them.
static int run_interruptibly(job *job) {
  job->done = eventfd(0, EFD_CLOEXEC);
  if (job->done < 0) return fail_of_errno();
  sigset_t all, former;
  sigfillset(&all);
  pthread_t thread;
  pthread_sigmask(SIG_SETMASK, &all, &former);
  int status = pthread_create(&thread, NULL, run, job);
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  if (status != 0) {
    close(job->done);
    errno = status;
    return fail_of_errno();
  }
  bool raised = false;
  struct pollfd done = {.fd = job->done, .events = POLLIN};
  while (true) {
    int ready;
    Py_BEGIN_ALLOW_THREADS
    ready = poll(&done, 1, CHECK_MS);
    Py_END_ALLOW_THREADS
    if (ready > 0) break;
    if (!raised && PyErr_CheckSignals() < 0) {
      raised = true;
      framebus_stop_raise(job->stop);
    }
  }
  pthread_join(thread, NULL);
  close(job->done);
  return raised ? -1 : 0;
}

int fb_wait_in(const fb_wait *wait, int *result) {
  job job = {.wait = wait, .result = FRAMEBUS_STOPPED};
  *result = FRAMEBUS_STOPPED;
  FB_ERROR(error);
  int code = framebus_stop_open(&job.stop, &error);
  if (code < 0) {
    fb_raise(code, &error);
    return -1;
  }
  if (wait->stop) *wait->stop = job.stop;
  int status = 0;
  if (is_main_thread()) {
    status = run_interruptibly(&job);
  } else {
    Py_BEGIN_ALLOW_THREADS
    job.result = wait->call(wait->context, job.stop);
    Py_END_ALLOW_THREADS
  }
  if (wait->stop) *wait->stop = NULL;
  framebus_stop_close(job.stop);
  *result = job.result;
  return status;
}

int fb_poll(int descriptor, int wake, uint64_t deadline_ns, bool *busy) {
  struct pollfd polled[2] = {
      {.fd = descriptor, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
  struct timespec left, *timeout = NULL;
  if (is_main_thread()) {
    uint64_t check = framebus_after_ns(CHECK_MS * 1000000ull);
    if (check < deadline_ns) deadline_ns = check;
  }
  if (deadline_ns != FRAMEBUS_NEVER) {
    uint64_t now = framebus_now_ns();
    uint64_t ns = deadline_ns > now ? deadline_ns - now : 0;
    left.tv_sec = (time_t)(ns / 1000000000);
    left.tv_nsec = (long)(ns % 1000000000);
    timeout = &left;
  }
  int ready, code;
  *busy = true;
  Py_BEGIN_ALLOW_THREADS
  ready = ppoll(polled, 2, timeout, NULL);
  code = errno;
  Py_END_ALLOW_THREADS
  *busy = false;
  if (ready >= 0) return 0;
  if (code == EINTR) return PyErr_CheckSignals();
  errno = code;
  return fail_of_errno();
}
