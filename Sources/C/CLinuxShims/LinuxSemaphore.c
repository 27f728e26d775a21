#include "LinuxSemaphore.h"

#include <limits.h>
#include <semaphore.h>
#include <string.h>

_Static_assert(sizeof(sem_t) == LINUX_SEMAPHORE_BYTES, "a sem_t of a 64-bit machine");
_Static_assert(SEM_VALUE_MAX == LINUX_SEMAPHORE_MAXIMUM, "its highest count");

int linux_semaphore_init(void *semaphore, uint32_t value) { return sem_init(semaphore, 1, value); }

bool linux_semaphore_is_known(void) {
  sem_t semaphore;
  memset(&semaphore, 0, sizeof semaphore);
  uint64_t word;
  if (sem_init(&semaphore, 1, 5) != 0 || sem_post(&semaphore) != 0) return false;
  memcpy(&word, &semaphore, sizeof word);
  if (word != 6 || sem_trywait(&semaphore) != 0) return false;
  memcpy(&word, &semaphore, sizeof word);
  return word == 5;
}
