#define _GNU_SOURCE
#include "CFuzzer.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The arguments from the kernel, because Swift's entry point does not pass them on.
static char *arguments[64];
static int argument_count;

static void read_arguments(void) {
  static char text[1 << 16];
  FILE *file = fopen("/proc/self/cmdline", "r");
  size_t count = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
  if (file != NULL) fclose(file);
  for (char *next = text; next < text + count && argument_count < 63; next += strlen(next) + 1) {
    arguments[argument_count++] = next;
  }
}

#ifdef FUZZING

// libFuzzer's entry point for programs with their own main, and the function to which its own main
// refers, which is linked but never runs.
int LLVMFuzzerRunDriver(int *count, char ***arguments,
                        int (*one)(const uint8_t *bytes, size_t count));

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  (void)bytes;
  return (int)count;
}

int fuzzer_run(int (*one)(const uint8_t *bytes, size_t count)) {
  read_arguments();
  char **list = arguments;
  return LLVMFuzzerRunDriver(&argument_count, &list, one);
}

#else

static int (*run_one)(const uint8_t *bytes, size_t count);
static int file_count;

static int run_file(const char *path, const struct stat *status, int kind, struct FTW *unused) {
  (void)unused;
  if (kind != FTW_F) return 0;
  size_t size = (size_t)status->st_size;
  uint8_t *bytes = malloc(size + 1);
  FILE *file = fopen(path, "r");
  if (bytes != NULL && file != NULL) run_one(bytes, fread(bytes, 1, size, file));
  if (file != NULL) fclose(file);
  free(bytes);
  file_count++;
  return 0;
}

int fuzzer_run(int (*one)(const uint8_t *bytes, size_t count)) {
  read_arguments();
  run_one = one;
  for (int index = 1; index < argument_count; index++) {
    if (nftw(arguments[index], run_file, 16, FTW_PHYS) != 0) {
      perror(arguments[index]);
      return 1;
    }
  }
  printf("%d inputs run\n", file_count);
  return 0;
}

#endif
