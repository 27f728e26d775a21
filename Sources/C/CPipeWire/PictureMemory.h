// The memory of a producer's picture. A producer is another program: it may shrink its file under a
// mapping, and change what it says at any moment. So only files that cannot shrink are mapped, the
// others are read by pread(2), and every number is read once and checked.
#pragma once

#include <spa/buffer/buffer.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb_picture_memory {
  /// Nothing can be read if both are unset.
  const uint8_t *address;
  int descriptor;
  /// From where on in the file, for a descriptor.
  uint64_t offset;
  size_t byteCount;
  void *mapping;
  size_t mappedBytes;
  bool isGraphicsMemory;
};

/// - Returns: why the memory cannot be read, as an error number; 0 if it can.
int fb_picture_memory_open(struct fb_picture_memory *memory, const struct spa_data *data);
void fb_picture_memory_close(struct fb_picture_memory *memory);

/// Where rows of a picture lie in its memory.
struct fb_picture_rows {
  uint64_t first;
  uint64_t stride;
  uint64_t rowBytes;
  uint64_t count;
};

/// - Returns: false if the memory does not hold the rows.
bool fb_picture_memory_copy(const struct fb_picture_memory *memory,
                            const struct fb_picture_rows *rows, void *target);
