// libFuzzer, as the fuzz targets use it.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Runs `one` on inputs that libFuzzer makes up, by its own arguments, in a build with the package
// trait Fuzzing; in any other, on each file that is named, or that lies in a directory that is.
// Returns the program's status.
int fuzzer_run(int (*one)(const uint8_t *bytes, size_t count));
