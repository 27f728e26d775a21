// framebus-confine: takes from this process all that a role may not do, and then becomes the
// role's program. Every measure is tried by itself; whether it is on, and if not why, goes to the
// report. docs/design/confinement.md has both formats and the order of the measures.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAXIMUM_REQUEST_BYTES = 65536, MAXIMUM_GRANTS = 512, MAXIMUM_VARIABLES = 128 };

enum access { ACCESS_LIST, ACCESS_READ, ACCESS_RUN, ACCESS_WRITE };
enum sockets { SOCKETS_ANY, SOCKETS_LOCAL, SOCKETS_INTERNET, SOCKETS_INHERITED };

struct grant {
  enum access access;
  /// As requested, and as it is without links: NULL if there is no such file.
  const char *path;
  const char *realPath;
};

struct request {
  /// Beside the standard streams.
  unsigned descriptorCount;
  /// With whose end this process shall die, or 0.
  pid_t parent;
  /// SOCKETS_ANY asks for no confinement at all.
  enum sockets sockets;
  /// Whether a user namespace may stand in for missing rights.
  bool mayMapUsers;
  uint64_t memoryBytes;
  /// The directory of a control group to go into, or NULL.
  const char *memoryGroup;
  struct grant grants[MAXIMUM_GRANTS];
  unsigned grantCount;
  const char *variables[MAXIMUM_VARIABLES];
  unsigned variableCount;
};

/// Reads the request from a memory file that nobody can change any more.
/// - Returns: NULL, or what is wrong with it.
const char *read_request(int descriptor, struct request *request);

/// Where the report goes, from now on.
void report_to(int descriptor);
/// Notes one measure. Texts have neither quotes nor backslashes nor control characters.
void report(const char *measure, bool isOn, const char *detail);
/// Notes a measure that is on if `error` is 0, and else off for the reason of that errno.
void report_result(const char *measure, int error, const char *detail);

/// Each returns 0 or an error number.
int drop_capabilities(void);
int forbid_core_dumps(void);
/// Leaves the other processes of the user descriptors to pass and signals to queue.
int limit_resources(void);
int die_with_parent(pid_t parent);
void keep_descriptors(unsigned count, int *reportDescriptor);
int enter_group(const char *path);
void set_environment(const struct request *request, bool isInGroup);

struct surroundings {
  /// Whether files that were not granted are out of sight.
  bool hasRoot;
  /// Whether, besides, the kernel keeps those that were granted for reading from every change.
  bool keepsFiles;
  /// Whether it can have a few inotify instances alone.
  bool limitsWatches;
  /// Whether the network has nobody else in it.
  bool hasNetwork;
};
/// Leaves of the file system what was granted; and of networks nothing for SOCKETS_LOCAL.
struct surroundings enter_private_root(const struct request *request);
/// Landlock: files by their grants, and a scope for signals and abstract sockets.
/// - Returns: whether the scope is on.
bool restrict_files(const struct request *request);
/// seccomp: forbids what reaches around all that; where the root does not keep files, changes of
/// their permissions, owners, times and attributes too.
/// - Returns: whether the filter is on.
bool filter_system_calls(enum sockets sockets, bool keepsFiles);
