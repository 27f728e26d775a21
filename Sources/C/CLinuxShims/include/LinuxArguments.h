// The command line, as the C library gets it: Swift's own list is read from /proc, and is empty
// where that cannot be read.
#pragma once

/// The words that this process was started with, its name first, and how many there are.
char *const *linux_arguments(int *count);

/// Where the program lies, as execve(2) was told: AT_EXECFN of getauxval(3). NULL if unknown.
const char *linux_executed_path(void);
