// The camera that FakeCamera.c offers: what its driver would say (FakeDriver.c).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CAMERA_BUFFERS = 8 };

struct camera {
  // As the command line says.
  uint32_t width, height, fps;
  /// What it can do: "userptr", "mmap", "none", or both without a word.
  const char *memory;
  /// What it says wrongly: see FakeDriver.c.
  const char *lie;
  /// The format of its pictures: "YUYV".
  const char *encoding;
  /// A file with an encoded picture, which all its pictures are; "" for grey ones.
  const char *picture;
  /// "output" for a device that takes pictures, and the file that gets what is written to it.
  const char *direction, *pictures;
  /// Whether its driver has the calls with several planes alone.
  uint32_t planes;
  /// One picture in this many is missing, or damaged; 0 for never.
  uint32_t gap, damage;
  /// Answers have random bytes if it is not 0.
  uint32_t seed;
  /// After this many pictures it is gone, until it was opened in vain as often as `absences`.
  uint32_t unplug, absences;
  /// What the program did, a line each.
  int journal;

  // As it is now.
  int file;
  bool usesOwnMemory, isRunning, isGone;
  uint32_t requested, sequence, delivered, looks;
  int64_t nextNs;
  int32_t brightness;
  struct {
    bool isQueued;
    uint64_t address;
    uint32_t byteCount, order;
  } buffers[CAMERA_BUFFERS];
  uint32_t order;
};

/// Reads the options. Returns the index of the first word behind “--”.
int camera_parse(struct camera *camera, int count, char **words);
/// A new memory file that stands for the open device, or a negative errno.
int camera_open(struct camera *camera);
/// Answers an ioctl: 0 or a negative errno.
int camera_answer(struct camera *camera, pid_t thread, uint32_t request, uint64_t address);

bool copy_from(pid_t thread, uint64_t address, void *bytes, size_t count);
bool copy_to(pid_t thread, uint64_t address, const void *bytes, size_t count);
