// The file format of a named semaphore: its ABI, declared once.
//
// docs/design/semaphores.md has the diagram and the rules. Every member of the group can write all
// of the file. This header has no behaviour. Little endian, 64-bit. Any change raises
// GS_ABI_VERSION.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
  GS_ABI_VERSION = 1,
  GS_PERMITS = 1024,
  GS_ENTRIES = 1024,
};
static const uint64_t GS_MAGIC = UINT64_C(0x31304d4553505247);  // "GRPSEM01"

enum { GS_KIND_PLAIN = 0, GS_KIND_RECOVERABLE = 1 };

// The value of a permit. From GS_PERMIT_HELD on: held through the holder entry of that number.
enum { GS_PERMIT_NONE = 0, GS_PERMIT_FREE = 1, GS_PERMIT_TAKEN = 2, GS_PERMIT_HELD = 3 };

struct gs_semaphore {
  // Set once, before the file has its name.
  uint64_t magic;
  uint32_t abi_version;
  uint32_t kind;
  uint32_t initial_value;
  uint32_t reserved0[11];

  // Plain: a sem_t, also for sem_wait(3) and sem_post(3) of C programs.
  _Alignas(64) uint64_t posix[4];

  // Recoverable: a futex word, raised whenever a permit becomes free.
  _Alignas(64) uint32_t bell;

  // Recoverable: the process ids of the holders, for display only. The lock on the first byte of
  // such a word owns the entry.
  _Alignas(4096) uint32_t pids[GS_ENTRIES];
  uint32_t permits[GS_PERMITS];
};
enum {
  GS_AT_MAGIC = offsetof(struct gs_semaphore, magic),
  GS_AT_ABI_VERSION = offsetof(struct gs_semaphore, abi_version),
  GS_AT_KIND = offsetof(struct gs_semaphore, kind),
  GS_AT_INITIAL_VALUE = offsetof(struct gs_semaphore, initial_value),
  GS_AT_POSIX = offsetof(struct gs_semaphore, posix),
  GS_AT_BELL = offsetof(struct gs_semaphore, bell),
  GS_AT_PIDS = offsetof(struct gs_semaphore, pids),
  GS_AT_PERMITS = offsetof(struct gs_semaphore, permits),
  GS_BYTES = sizeof(struct gs_semaphore),
};
_Static_assert(GS_AT_ABI_VERSION == 8 && GS_AT_KIND == 12, "header");
_Static_assert(GS_AT_INITIAL_VALUE == 16, "header");
_Static_assert(GS_AT_POSIX == 64, "the semaphore, on a line of its own");
_Static_assert(GS_AT_BELL == 128, "the bell, on a line of its own");
_Static_assert(GS_AT_PIDS == 4096 && GS_AT_PERMITS == 8192, "tables, on pages of their own");
_Static_assert(GS_BYTES == 12288, "three pages");
