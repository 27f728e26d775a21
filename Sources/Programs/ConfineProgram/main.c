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
  fputs("error: framebus-confine is started by a host of FrameBus, not by hand;"
        " `framebus doctor` shows what it can do here\n"
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

/// Sockets with a path are kept by the root alone, abstract ones by the network or the scope.
static void report_sockets(const struct request *request, struct surroundings around,
                           bool hasScope, bool hasFilter) {
  static const char noFilter[] = "there is no filter of system calls";
  if (request->sockets == SOCKETS_LOCAL)
    report("internet", hasFilter, hasFilter ? "no socket but of Unix" : noFilter);
  if (request->sockets == SOCKETS_INHERITED)
    report("unix-sockets", hasFilter, hasFilter ? "those it inherited" : noFilter);
  else if (!around.hasRoot)
    report("unix-sockets", false,
           "without a private root, sockets of other programs can be reached");
  else if (!around.hasNetwork && !hasScope)
    report("unix-sockets", false,
           "without a private network or the scope, abstract sockets can be reached");
  else
    report("unix-sockets", true, "those that were granted");
}

/// Landlock keeps what files hold, and nothing else of them.
static void report_metadata(struct surroundings around, bool hasFilter) {
  if (around.hasRoot)
    report("file-metadata", around.keepsFiles || hasFilter,
           around.keepsFiles || hasFilter ? "of files that were not granted, not even names"
                                          : "permissions of granted files can be changed");
  else
    report("file-metadata", false,
           hasFilter ? "names, sizes and times of other files can be seen, not changed"
                     : "permissions of the other files of this user can be changed");
}

static void report_watches(struct surroundings around, bool hasFilter) {
  if (!around.keepsFiles && hasFilter) report("inotify", true, "none");
  else if (around.limitsWatches) report("inotify", true, "32 instances, less than its user has");
  else report("inotify", false, "it can take all instances that its user may have");
}

/// The order matters: what makes namespaces needs rights that are then given up, and the filter of
/// system calls forbids what the measures before it are made of.
static void confine(const struct request *request) {
  report_result("core-dumps", forbid_core_dumps(), "none are written");
  report_result("limits", limit_resources(), "fewer descriptors and signals than its user has");
  // While control groups are in sight.
  bool isInGroup = request->memoryGroup != NULL && enter_group(request->memoryGroup) == 0;
  set_environment(request, isInGroup);
  report("environment", true, "listed variables alone");
  if (request->memoryBytes != 0) {
    report("memory", true, "watched by its host and by itself");
    report("children-memory", isInGroup,
           isInGroup ? "counts too, and the kernel keeps all together below a limit"
                     : "no control group can be made: what they take does not count");
  }
  struct surroundings around = enter_private_root(request);
  report_result("capabilities", drop_capabilities(), "none");
  int error = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
  report_result("no-new-privileges", error, "no program it starts gets more rights");
  bool hasScope = restrict_files(request);
  bool hasFilter = filter_system_calls(request->sockets, around.keepsFiles);
  report_metadata(around, hasFilter);
  report_watches(around, hasFilter);
  report_sockets(request, around, hasScope, hasFilter);
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
  report("descriptors", true, "listed ones alone");
  if (request.sockets != SOCKETS_ANY) confine(&request);
  // Last, because a change of rights would undo it.
  if (request.parent != 0)
    report_result("dies-with-host", die_with_parent(request.parent), "killed at its end");
  report("start", true, "confined as said");
  execv(arguments[3], arguments + 3);
  report_result("start", errno, "");
  return STATUS_REFUSED;
}
