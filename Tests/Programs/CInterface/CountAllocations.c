// Preloaded into a program: counts its calls of the allocator, and writes the count at its end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_ulong calls;

void *malloc(size_t bytes) {
  atomic_fetch_add(&calls, 1);
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  atomic_fetch_add(&calls, 1);
  return __libc_calloc(count, bytes);
}
void *realloc(void *memory, size_t bytes) {
  atomic_fetch_add(&calls, 1);
  return __libc_realloc(memory, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  atomic_fetch_add(&calls, 1);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  atomic_fetch_add(&calls, 1);
  *memory = __libc_memalign(alignment, bytes);
  return *memory == NULL ? 12 : 0;
}

__attribute__((destructor)) static void report(void) {
  char line[64];
  int length = snprintf(line, sizeof line, "allocations %lu\n", atomic_load(&calls));
  if (length > 0) fwrite(line, 1, (size_t)length, stderr);
}
