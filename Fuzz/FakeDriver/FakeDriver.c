#define _GNU_SOURCE
#include "FakeDriver.h"

#include <stdarg.h>
#include <sys/syscall.h>

// The driver of the tests, which reads and writes the memory of a caller by these two.
#include "../../Tests/Programs/FakeCamera/FakeDriver.c"

bool copy_from(pid_t thread, uint64_t address, void *bytes, size_t count) {
  (void)thread;
  memcpy(bytes, (const void *)(uintptr_t)address, count);
  return true;
}

bool copy_to(pid_t thread, uint64_t address, const void *bytes, size_t count) {
  (void)thread;
  memcpy((void *)(uintptr_t)address, bytes, count);
  return true;
}

static struct camera camera = {.file = -1};
static const uint8_t *rest;
static size_t left;

static uint8_t take(void) {
  if (left == 0) return 0;
  left--;
  return *rest++;
}

enum { DEVICE_NUMBER = 77 };

/// A file without blocks, in which every range that a driver may name can be mapped: a kernel would
/// refuse one that is not its driver's.
static void make_device(void) {
  if (fcntl(DEVICE_NUMBER, F_GETFD) >= 0) return;
  FILE *file = tmpfile();
  if (file == NULL || ftruncate(fileno(file), 5LL << 30) != 0 ||
      dup2(fileno(file), DEVICE_NUMBER) < 0) {
    abort();
  }
  fclose(file);
}

void fake_driver_begin(uint8_t kind, const uint8_t *bytes, size_t count) {
  make_device();
  static char program[] = "driver", separator[] = "--";
  char *words[] = {program, separator};
  if (camera.file >= 0) close(camera.file);
  camera_parse(&camera, 2, words);
  camera.fps = 1000000;
  camera.memory = kind & 1 ? "mmap" : "userptr";
  camera.planes = kind >> 1 & 1;
  if (kind & 4) camera.encoding = "MJPG";
  if (kind & 8) camera.encoding = "NV12";
  rest = bytes;
  left = count;
  camera_open(&camera);
}

/// Changes an answer. Addresses of this process in it stay: a driver cannot change where the kernel
/// copies to.
static void change(uint32_t request, uint8_t *answer, size_t count) {
  uint8_t changes = take() % 8;
  struct v4l2_buffer kept;
  bool isBuffer = request == VIDIOC_DQBUF || request == VIDIOC_QUERYBUF;
  if (isBuffer) memcpy(&kept, answer, sizeof kept);
  for (uint8_t index = 0; index < changes; index++) {
    size_t offset = (size_t)take() | (size_t)take() << 8;
    answer[offset % count] = take();
  }
  if (!isBuffer || !camera.planes) return;
  struct v4l2_buffer *buffer = (struct v4l2_buffer *)(void *)answer;
  struct v4l2_plane *plane = kept.m.planes;
  buffer->m.planes = plane;
  for (uint8_t index = 0; index < changes; index++) {
    ((uint8_t *)plane)[take() % sizeof *plane] = take();
  }
}

/// Takes the place of the C library's function in this program.
int ioctl(int descriptor, unsigned long request, ...) {
  va_list values;
  va_start(values, request);
  void *argument = va_arg(values, void *);
  va_end(values);
  if ((request >> 8 & 0xff) != 'V') {
    return (int)syscall(SYS_ioctl, descriptor, request, argument);
  }
  static const int refusals[] = {EINVAL, ENODEV, EAGAIN, EBUSY, EIO, ENOTTY};
  uint8_t choice = take();
  // One call in eight is refused.
  if (choice % 8 == 7) {
    errno = refusals[choice / 8 % (sizeof refusals / sizeof *refusals)];
    return -1;
  }
  size_t count = request >> 16 & 0x3fff;
  int result = act(&camera, 0, (uint32_t)request, argument);
  if (choice % 2 == 1 && count > 0) change((uint32_t)request, argument, count);
  if (result == 0) return 0;
  errno = -result;
  return -1;
}
