#if __has_include(<pipewire/pipewire.h>)
#define _GNU_SOURCE
#include "PictureMemory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map(struct fb_picture_memory *memory, int descriptor, uint32_t offset, size_t count) {
  size_t skip = offset & ((size_t)sysconf(_SC_PAGESIZE) - 1);
  void *mapping =
      mmap(NULL, skip + count, PROT_READ, MAP_SHARED, descriptor, (off_t)(offset - skip));
  if (mapping == MAP_FAILED) return errno;
  memory->mapping = mapping;
  memory->mappedBytes = skip + count;
  memory->address = (const uint8_t *)mapping + skip;
  memory->byteCount = count;
  return 0;
}

static int open_file(struct fb_picture_memory *memory, int descriptor, uint32_t offset,
                     size_t count) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return errno;
  if (!S_ISREG(status.st_mode) || status.st_size < (off_t)offset) return EINVAL;
  size_t rest = (size_t)(status.st_size - (off_t)offset);
  if (count > rest) count = rest;
  int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals >= 0 && (seals & F_SEAL_SHRINK) != 0) return map(memory, descriptor, offset, count);
  memory->descriptor = descriptor;
  memory->offset = offset;
  memory->byteCount = count;
  return 0;
}

/// What is called DMA-BUF may be a file that shrinks. A DMA-BUF, which cannot, is not regular.
static int open_graphics(struct fb_picture_memory *memory, int descriptor,
                         const struct spa_data *data) {
  memory->isGraphicsMemory = true;
  struct stat status;
  if (fstat(descriptor, &status) != 0) return errno;
  if (S_ISREG(status.st_mode)) {
    return open_file(memory, descriptor, data->mapoffset, data->maxsize);
  }
  off_t size = lseek(descriptor, 0, SEEK_END);
  if (size >= 0 && (uint64_t)size < (uint64_t)data->mapoffset + data->maxsize) return EINVAL;
  memory->descriptor = descriptor;
  return map(memory, descriptor, data->mapoffset, data->maxsize);
}

int fb_picture_memory_open(struct fb_picture_memory *memory, const struct spa_data *data) {
  *memory = (struct fb_picture_memory){.descriptor = -1};
  int descriptor = (int)data->fd;
  switch (data->type) {
    case SPA_DATA_MemPtr:
      // libpipewire has mapped it, from memory of the server that cannot shrink.
      memory->address = data->data;
      memory->byteCount = data->data != NULL ? data->maxsize : 0;
      return data->data != NULL ? 0 : EINVAL;
    case SPA_DATA_MemFd: return open_file(memory, descriptor, data->mapoffset, data->maxsize);
    case SPA_DATA_DmaBuf: return open_graphics(memory, descriptor, data);
    default: return EINVAL;
  }
}

void fb_picture_memory_close(struct fb_picture_memory *memory) {
  if (memory->mapping != NULL) munmap(memory->mapping, memory->mappedBytes);
  *memory = (struct fb_picture_memory){.descriptor = -1};
}

/// Only matters where the processor has a cache of its own; other files refuse it.
static void synchronize(const struct fb_picture_memory *memory, uint64_t flags) {
  if (!memory->isGraphicsMemory) return;
  struct dma_buf_sync sync = {.flags = flags | DMA_BUF_SYNC_READ};
  while (ioctl(memory->descriptor, DMA_BUF_IOCTL_SYNC, &sync) != 0) {
    if (errno != EINTR && errno != EAGAIN) break;
  }
}

static bool copy_bytes(const struct fb_picture_memory *memory, uint64_t from, void *target,
                       size_t count) {
  if (memory->address != NULL) {
    memcpy(target, memory->address + from, count);
    return true;
  }
  size_t done = 0;
  while (done < count) {
    ssize_t got = pread(memory->descriptor, (uint8_t *)target + done, count - done,
                        (off_t)(memory->offset + from + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += (size_t)got;
  }
  return true;
}

bool fb_picture_memory_copy(const struct fb_picture_memory *memory,
                            const struct fb_picture_rows *rows, void *target) {
  if (rows->count == 0 || rows->stride < rows->rowBytes) return false;
  uint64_t last = 0, end = 0;
  if (__builtin_mul_overflow(rows->stride, rows->count - 1, &last)) return false;
  if (__builtin_add_overflow(last, rows->first, &end)) return false;
  if (__builtin_add_overflow(end, rows->rowBytes, &end) || end > memory->byteCount) return false;
  bool isCopied = true;
  synchronize(memory, DMA_BUF_SYNC_START);
  if (rows->stride == rows->rowBytes) {
    isCopied = copy_bytes(memory, rows->first, target, rows->rowBytes * rows->count);
  } else {
    for (uint64_t row = 0; row < rows->count && isCopied; row++) {
      isCopied = copy_bytes(memory, rows->first + row * rows->stride,
                            (uint8_t *)target + row * rows->rowBytes, rows->rowBytes);
    }
  }
  synchronize(memory, DMA_BUF_SYNC_END);
  return isCopied;
}
#endif
