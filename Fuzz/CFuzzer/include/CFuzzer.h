// libFuzzer for the fuzz targets.
#pragma once
#include <stddef.h>
#include <stdint.h>

// In a build with the package trait Fuzzing, runs `one` on libFuzzer's inputs, with libFuzzer's
// arguments. In other builds, runs it on each file that is named or is in a named directory.
// Returns the program's exit status.
int fuzzer_run(int (*one)(const uint8_t *bytes, size_t count));
