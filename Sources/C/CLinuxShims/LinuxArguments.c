#include "LinuxArguments.h"

#include <stddef.h>
#include <sys/auxv.h>

static int argumentCount;
static char **arguments;

/// glibc calls constructors with what `main` gets, also those of a shared library.
__attribute__((constructor)) static void remember_arguments(int count, char **words) {
  argumentCount = count;
  arguments = words;
}

char *const *linux_arguments(int *count) {
  *count = arguments == NULL ? 0 : argumentCount;
  return arguments;
}

const char *linux_executed_path(void) { return (const char *)getauxval(AT_EXECFN); }
