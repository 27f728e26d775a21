// sem_init(3) and the memory it makes.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Where glibc keeps what, in a sem_t of a 64-bit machine (struct new_sem of its internaltypes.h;
/// part of its binary interface, because processes with different versions of it share semaphores):
/// one 64-bit word with the count in its low half and the number of waiting threads in its high
/// half. Waiting threads sleep on the low half, as on a futex, while it is 0.
enum { LINUX_SEMAPHORE_BYTES = 32, LINUX_SEMAPHORE_MAXIMUM = INT32_MAX };

/// sem_init(3), shared between processes.
int linux_semaphore_init(void *semaphore, uint32_t value);
/// Whether this C library's sem_t is the one described above: tried on one.
bool linux_semaphore_is_known(void);
