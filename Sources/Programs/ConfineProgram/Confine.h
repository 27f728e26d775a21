// framebus-confine: drops all rights that a role does not have, and then executes the role's
// program. Each measure is tried separately; the report says whether it is on, and if not, why.
// docs/design/confinement.md has both formats and the order of the measures.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAXIMUM_REQUEST_BYTES = 65536, MAXIMUM_GRANTS = 512, MAXIMUM_VARIABLES = 128 };
enum { MAXIMUM_GROUPS = 256 };

enum access { ACCESS_LIST, ACCESS_READ, ACCESS_RUN, ACCESS_WRITE };
enum sockets { SOCKETS_ANY, SOCKETS_LOCAL, SOCKETS_INTERNET, SOCKETS_INHERITED };

struct grant {
  enum access access;
  /// As requested, and with links resolved: NULL if there is no such file.
  const char *path;
  const char *realPath;
  /// What the path led to.
  dev_t device;
  ino_t inode;
  /// Whether only root can put something else there.
  bool isOfSystem;
};

struct request {
  /// Number of descriptors besides the standard streams.
  unsigned descriptorCount;
  /// The process whose end kills this one, or 0.
  pid_t parent;
  /// SOCKETS_ANY requests no confinement.
  enum sockets sockets;
  /// Whether a user namespace may replace missing privileges.
  bool mayMapUsers;
  /// The user to become, with the first group as the primary one; 0 for the host's.
  uid_t user;
  gid_t groups[MAXIMUM_GROUPS];
  unsigned groupCount;
  uint64_t memoryBytes;
  /// The directory of a control group to enter, or NULL.
  const char *memoryGroup;
  struct grant grants[MAXIMUM_GRANTS];
  unsigned grantCount;
  const char *variables[MAXIMUM_VARIABLES];
  unsigned variableCount;
};

/// Reads the request from a sealed memory file.
/// - Returns: NULL, or what is wrong with the request.
const char *read_request(int descriptor, struct request *request);

/// Sets the descriptor that the report is written to.
void report_to(int descriptor);
/// Reports one measure. Texts must not contain quotes, backslashes or control characters.
void report(const char *measure, bool isOn, const char *detail);
/// Reports a measure: on if `error` is 0, else off with the message of that errno.
void report_result(const char *measure, int error, const char *detail);

/// Empties the bounding set: no program that this one executes gains a capability.
void drop_bounding_set(void);
/// Each returns 0 or an error number.
int become_user(const struct request *request);
int drop_capabilities(void);
int forbid_core_dumps(void);
/// Leaves some descriptors and queued signals to the user's other processes.
int limit_resources(void);
int die_with_parent(pid_t parent);
void keep_descriptors(unsigned count, int *reportDescriptor);
int enter_group(const char *path);
/// Removes the variables that the request does not list.
void keep_variables(const struct request *request);
void set_environment(const struct request *request, bool isInGroup);
/// Leaves the host's terminal, into which another user could type otherwise (TIOCSTI), and its
/// session keyring, whose keys another user could read.
int leave_session(void);

struct surroundings {
  /// Whether files that were not granted are invisible.
  bool hasRoot;
  /// Whether the kernel also enforces read-only grants there.
  bool keepsFiles;
  /// Whether the number of inotify instances is limited.
  bool limitsWatches;
  /// Whether the network is private.
  bool hasNetwork;
};
/// Hides files that were not granted and, for SOCKETS_LOCAL, all networks.
struct surroundings enter_private_root(const struct request *request);
/// Landlock: restricts files to the grants, and signals and abstract sockets to the scope.
/// - Returns: whether the scope is on.
bool restrict_files(const struct request *request);
/// seccomp: forbids calls that bypass the other measures. Unless the root protects files, also
/// forbids changes of their permissions, owners, times and attributes.
/// - Returns: whether the filter is on.
bool filter_system_calls(enum sockets sockets, bool keepsFiles);
