#define _GNU_SOURCE
#include "LinuxSpawn.h"
#include "LinuxTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

enum { MAXIMUM_LAUNCH_DESCRIPTORS = 16 };

static int prepare_attributes(posix_spawnattr_t *attributes, bool hasOwnGroup) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (hasOwnGroup) flags |= POSIX_SPAWN_SETPGROUP;
  int error = posix_spawnattr_setflags(attributes, flags);
  if (error == 0) error = posix_spawnattr_setsigmask(attributes, &none);
  if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &all);
  if (error == 0 && hasOwnGroup) error = posix_spawnattr_setpgroup(attributes, 0);
  return error;
}

static int prepare_actions(posix_spawn_file_actions_t *actions, const int *descriptors,
                           unsigned count, const char *directory) {
  int error = 0;
  for (unsigned i = 0; i < count && error == 0; i++)
    error = posix_spawn_file_actions_adddup2(actions, descriptors[i], (int)i);
  if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(actions, (int)count);
  if (error == 0 && directory != NULL)
    error = posix_spawn_file_actions_addchdir_np(actions, directory);
  return error;
}

static int launch_with(const struct linux_launch *launch, const int *descriptors, int32_t *pid) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  int error = posix_spawnattr_init(&attributes);
  if (error != 0) return error;
  error = posix_spawn_file_actions_init(&actions);
  if (error == 0) {
    error = prepare_attributes(&attributes, launch->hasOwnGroup);
    if (error == 0)
      error = prepare_actions(&actions, descriptors, launch->descriptorCount, launch->directory);
    if (error == 0)
      error = posix_spawnp(pid, launch->executable, &actions, &attributes, launch->arguments,
                           launch->environment);
    posix_spawn_file_actions_destroy(&actions);
  }
  posix_spawnattr_destroy(&attributes);
  return error;
}

int linux_launch(const struct linux_launch *launch, int32_t *pid) {
  unsigned count = launch->descriptorCount;
  if (count > MAXIMUM_LAUNCH_DESCRIPTORS) return EINVAL;
  // Copies above the child's numbers, so that no dup2 overwrites the source of a later one.
  int copies[MAXIMUM_LAUNCH_DESCRIPTORS];
  unsigned copied = 0;
  int error = 0;
  for (; copied < count; copied++) {
    copies[copied] = fcntl(launch->descriptors[copied], F_DUPFD_CLOEXEC, (int)count);
    if (copies[copied] < 0) {
      error = errno;
      break;
    }
  }
  if (error == 0) error = launch_with(launch, copies, pid);
  while (copied > 0) close(copies[--copied]);
  return error;
}

char *const *linux_environment(void) { return environ; }

int linux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

static sigset_t stop_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  struct sigaction hangup;
  if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    sigaddset(&set, SIGHUP);
  return set;
}

int linux_block_stop_signals(void) {
  sigset_t set = stop_signals();
  if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return errno;
  return pthread_sigmask(SIG_BLOCK, &set, NULL);
}

struct linux_stop_signal linux_wait_for_stop_signal(void) {
  sigset_t set = stop_signals();
  siginfo_t info;
  int number;
  do number = sigwaitinfo(&set, &info);
  while ((number < 0 && errno == EINTR) || (number > 0 && linux_pass_to_asker(number)));
  if (number < 0) return (struct linux_stop_signal){.number = -errno};
  return (struct linux_stop_signal){.number = number, .isQueued = info.si_code == SI_QUEUE};
}

void linux_restore_signals(void) {
  sigset_t set = stop_signals();
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
