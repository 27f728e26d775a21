#define _GNU_SOURCE
#include "LinuxTerminal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

// Those that by default end or stop a process, as far as somebody sends them; SIGCONT comes after a
// stop by SIGSTOP, which nobody can handle, and which a shell answers with settings of its own.
static const int handled[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGALRM, SIGTERM, SIGUSR1,
                              SIGUSR2, SIGXCPU, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT};
enum { HANDLED_COUNT = sizeof handled / sizeof handled[0] };

static int terminal;
static struct termios before, silent;
static struct sigaction formerActions[HANDLED_COUNT];
static sigset_t formerMask;

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static bool isAsking;
static pthread_t asker;

static void set_asking(bool value) {
  pthread_mutex_lock(&asking);
  isAsking = value;
  asker = pthread_self();
  pthread_mutex_unlock(&asking);
}

bool linux_pass_to_asker(int number) {
  pthread_mutex_lock(&asking);
  bool passed = isAsking && pthread_kill(asker, number) == 0;
  pthread_mutex_unlock(&asking);
  return passed;
}

/// In the background the terminal is the shell's, or another job's: its settings are theirs.
static void set(int actions, const struct termios *settings) {
  pid_t foreground = tcgetpgrp(terminal);
  if (foreground >= 0 && foreground != getpgrp()) return;
  while (tcsetattr(terminal, actions, settings) != 0 && errno == EINTR) {
  }
}

static void pass_on(int number) {
  int code = errno;
  if (number == SIGCONT) {
    set(TCSANOW, &silent);
    errno = code;
    return;
  }
  set(TCSANOW, &before);
  // Not the former action: of SIGQUIT, Swift's shows memory that may hold half a secret.
  struct sigaction standard = {.sa_handler = SIG_DFL}, own;
  sigaction(number, &standard, &own);
  sigset_t one, mask;
  sigemptyset(&one);
  sigaddset(&one, number);
  raise(number);
  // Here it ends or stops the process.
  pthread_sigmask(SIG_UNBLOCK, &one, &mask);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  sigaction(number, &own, NULL);
  set(TCSANOW, &silent);
  errno = code;
}

bool linux_hide_typing(int descriptor) {
  if (tcgetattr(descriptor, &before) != 0) return false;
  terminal = descriptor;
  silent = before;
  silent.c_lflag &= ~(tcflag_t)(ECHO | ICANON | ISIG);
  struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
  sigfillset(&action.sa_mask);
  sigset_t unblocked;
  sigemptyset(&unblocked);
  for (int i = 0; i < HANDLED_COUNT; i++) {
    sigaddset(&unblocked, handled[i]);
    sigaction(handled[i], NULL, &formerActions[i]);
    // What is ignored, as by nohup(1), stays so.
    if (formerActions[i].sa_handler != SIG_IGN || handled[i] == SIGCONT)
      sigaction(handled[i], &action, NULL);
  }
  set(TCSAFLUSH, &silent);
  // A program that waits for them on another thread has not begun what it would end in order. That
  // thread may still be the one that receives them, and passes them on.
  set_asking(true);
  pthread_sigmask(SIG_UNBLOCK, &unblocked, &formerMask);
  return true;
}

void linux_show_typing(void) {
  set_asking(false);
  // A system call, at whose end a signal that was passed on arrives before it is blocked again.
  getppid();
  pthread_sigmask(SIG_SETMASK, &formerMask, NULL);
  set(TCSAFLUSH, &before);
  for (int i = 0; i < HANDLED_COUNT; i++) sigaction(handled[i], &formerActions[i], NULL);
}
