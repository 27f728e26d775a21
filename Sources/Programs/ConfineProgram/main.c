#define _GNU_SOURCE
#include "Confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { STATUS_USAGE = 2, STATUS_REFUSED = 126 };

static int usage(void) {
  fputs("error: framebus-confine is started by a FrameBus host, not by hand;"
        " `framebus doctor` shows what it can enforce here\n"
        "usage: framebus-confine REQUEST-FD REPORT-FD PROGRAM [ARGUMENT]...\n",
        stderr);
  return STATUS_USAGE;
}

/// The number of an open descriptor beyond the standard streams, or -1.
static int descriptor_of(const char *word) {
  char *end = NULL;
  long number = strtol(word, &end, 10);
  if (*word == '\0' || *end != '\0' || number < 3 || number > 1023) return -1;
  return fcntl((int)number, F_GETFD) < 0 ? -1 : (int)number;
}

/// The root protects sockets with a path; the network or the scope protects abstract ones.
static void report_sockets(const struct request *request, struct surroundings around,
                           bool hasScope, bool hasFilter) {
  static const char noFilter[] = "no system call filter";
  if (request->sockets == SOCKETS_LOCAL)
    report("internet", hasFilter, hasFilter ? "Unix sockets only" : noFilter);
  if (request->sockets == SOCKETS_INHERITED)
    report("unix-sockets", hasFilter, hasFilter ? "inherited ones only" : noFilter);
  else if (!around.hasRoot)
    report("unix-sockets", false,
           "without a private root, sockets of other programs are reachable");
  else if (!around.hasNetwork && !hasScope)
    report("unix-sockets", false,
           "without a private network or the scope, abstract sockets are reachable");
  else
    report("unix-sockets", true, "granted ones only");
}

/// Landlock protects the content of files, but not their metadata.
static void report_metadata(struct surroundings around, bool hasFilter) {
  if (around.hasRoot)
    report("file-metadata", around.keepsFiles || hasFilter,
           around.keepsFiles || hasFilter ? "other files are invisible, even their names"
                                          : "permissions of granted files can be changed");
  else
    report("file-metadata", false,
           hasFilter ? "other files' names, sizes and times are visible, not writable"
                     : "permissions of this user's other files can be changed");
}

static void report_watches(struct surroundings around, bool hasFilter) {
  if (!around.keepsFiles && hasFilter) report("inotify", true, "none");
  else if (around.limitsWatches) report("inotify", true, "32 instances, below the user's limit");
  else report("inotify", false, "it can use up the user's limit of instances");
}

/// Without this step a role would have its host's rights, so a failure ends the start.
static bool change_user(const struct request *request) {
  char *folder = getcwd(NULL, 0);
  int error = become_user(request);
  // Found again with the user's rights: inside it, it could read what a parent hides.
  if (error == 0 && (folder == NULL || chdir(folder) != 0) && chdir("/") != 0) error = errno;
  free(folder);
  char detail[64];
  snprintf(detail, sizeof detail, "uid %u, and not its host's", (unsigned)request->user);
  report_result("user", error, detail);
  if (error != 0) report("start", false, "it cannot become another user");
  return error == 0;
}

/// The order matters: namespaces need rights that are dropped later, and the system call filter
/// forbids calls that earlier measures make. The user changes when the root is complete, which
/// takes privileges, and before Landlock, so that only what the user can reach is granted.
/// - Returns: false if it cannot become the role's user.
static bool confine(const struct request *request) {
  report_result("core-dumps", forbid_core_dumps(), "none are written");
  report_result("limits", limit_resources(), "fewer descriptors and signals than the user's limit");
  // While control groups are visible.
  bool isInGroup = request->memoryGroup != NULL && enter_group(request->memoryGroup) == 0;
  set_environment(request, isInGroup);
  report("environment", true, "listed variables only");
  if (request->memoryBytes != 0) {
    report("memory", true, "watched by its host and itself");
    report("children-memory", isInGroup,
           isInGroup ? "counted, and the kernel limits the total"
                     : "no control group can be created: not counted");
  }
  struct surroundings around = enter_private_root(request);
  drop_bounding_set();
  if (request->user != 0 && !change_user(request)) return false;
  report_result("capabilities", drop_capabilities(), "none");
  int error = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
  report_result("no-new-privileges", error, "programs that it starts get no more rights");
  bool hasScope = restrict_files(request);
  bool hasFilter = filter_system_calls(request->sockets, around.keepsFiles);
  report_metadata(around, hasFilter);
  report_watches(around, hasFilter);
  report_sockets(request, around, hasScope, hasFilter);
  return true;
}

static bool change_rights(const struct request *request) {
  // First, because a private root has no /dev/tty.
  int error = request->user != 0 ? leave_session() : 0;
  if (error != 0) {
    report_result("user", error, "");
    report("start", false, "it cannot leave its host's session");
    return false;
  }
  if (request->sockets != SOCKETS_ANY) return confine(request);
  if (request->user == 0) return true;
  keep_variables(request);
  drop_bounding_set();
  return change_user(request) && drop_capabilities() == 0 &&
         prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

int main(int count, char **arguments) {
  if (count < 4) return usage();
  int requestDescriptor = descriptor_of(arguments[1]);
  int reportDescriptor = descriptor_of(arguments[2]);
  if (requestDescriptor < 0 || reportDescriptor < 0) return usage();
  report_to(reportDescriptor);
  static struct request request;
  const char *problem = read_request(requestDescriptor, &request);
  if (problem != NULL) {
    report("start", false, problem);
    return STATUS_REFUSED;
  }
  keep_descriptors(request.descriptorCount, &reportDescriptor);
  report_to(reportDescriptor);
  report("descriptors", true, "listed ones only");
  if (!change_rights(&request)) return STATUS_REFUSED;
  // Last, because a change of credentials would undo it.
  if (request.parent != 0)
    report_result("dies-with-host", die_with_parent(request.parent), "killed when its host ends");
  report("start", true, "confined as reported");
  execv(arguments[3], arguments + 3);
  report_result("start", errno, "");
  return STATUS_REFUSED;
}
