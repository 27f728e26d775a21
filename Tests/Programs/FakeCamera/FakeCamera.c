// Runs a program on a machine with a camera: this process answers the program's Video4Linux calls
// as a driver would, by seccomp_unotify(2). The program is not changed, and its calls are the real
// ones; only the kernel's answers are made up. There is no driver, so what a driver does with
// memory (pins, mappings of devices, a processor's caches) is not tested here, but with `vivid`.
//
//   FakeCamera [NAME=VALUE…] -- PROGRAM [ARG…]
//
// It needs no rights. The device is /dev/video77 alone, which only the program sees. As root, the
// program also finds it in its own /dev.
#define _GNU_SOURCE
#include "FakeCamera.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

static void fail(const char *what) {
  perror(what);
  _exit(99);
}

static void pass_on(int number) { kill(child, number); }

/// A /dev with the camera beside what programs need. Without the right to mount, nothing.
static void mount_devices(void) {
  static const char *const kept[] = {"null", "zero", "full", "random", "urandom", "tty"};
  char folder[64], from[64], to[96];
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return;
  snprintf(folder, sizeof folder, "/tmp/fake-camera-%d", getpid());
  if (mkdir(folder, 0700) != 0 || mount("none", folder, "tmpfs", 0, NULL) != 0) return;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    snprintf(from, sizeof from, "/dev/%s", kept[i]);
    snprintf(to, sizeof to, "%s/%s", folder, kept[i]);
    close(open(to, O_CREAT | O_CLOEXEC, 0666));
    mount(from, to, NULL, MS_BIND, NULL);
  }
  snprintf(to, sizeof to, "%s/shm", folder);
  mkdir(to, 0777);
  mount("/dev/shm", to, NULL, MS_BIND, NULL);
  snprintf(to, sizeof to, "%s/video77", folder);
  // Only its status is read: the device is not opened.
  if (mknod(to, S_IFCHR | 0666, makedev(81, 77)) != 0) close(open(to, O_CREAT | O_CLOEXEC, 0666));
  if (mount(folder, "/dev", NULL, MS_MOVE, NULL) != 0) fail("mount /dev");
  rmdir(folder);
}

/// Lets the parent answer openat(2), and each ioctl(2) of Video4Linux.
static int install_filter(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff00),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 'V' << 8, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("prctl");
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                      &program);
}

static void send_descriptor(int socket, int descriptor) {
  char byte = 0, space[CMSG_SPACE(sizeof descriptor)] = {0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  *header = (struct cmsghdr){CMSG_LEN(sizeof descriptor), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  if (sendmsg(socket, &message, 0) != 1) fail("sendmsg");
}

static int receive_descriptor(int socket) {
  char byte, space[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) fail("recvmsg");
  int descriptor;
  memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
  return descriptor;
}

static void run_program(char **arguments, int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  mount_devices();
  int listener = install_filter();
  if (listener < 0) fail("seccomp");
  send_descriptor(socket, listener);
  close(listener);
  close(socket);
  execvp(arguments[0], arguments);
  fail(arguments[0]);
}

/// Copies between this process and the program. False if it is gone.
bool copy_from(pid_t thread, uint64_t address, void *bytes, size_t count) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", thread);
  int memory = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = pread(memory, bytes, count, (off_t)address);
  close(memory);
  return got > 0 && (size_t)got == count;
}

bool copy_to(pid_t thread, uint64_t address, const void *bytes, size_t count) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", thread);
  int memory = open(path, O_WRONLY | O_CLOEXEC);
  ssize_t put = pwrite(memory, bytes, count, (off_t)address);
  close(memory);
  return put > 0 && (size_t)put == count;
}

static bool names_camera(pid_t thread, uint64_t address) {
  static const char path[] = "/dev/video77";
  char text[sizeof path] = "";
  // A path may end right before an unmapped page.
  return copy_from(thread, address, text, sizeof text) && memcmp(text, path, sizeof path) == 0;
}

static void answer(int listener, struct camera *camera) {
  struct seccomp_notif call = {0};
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;
  struct seccomp_notif_resp response = {.id = call.id};
  if (call.data.nr == SYS_openat) {
    // Others make the file on which a sandbox mounts the device.
    if (call.data.args[2] & O_CREAT || !names_camera((pid_t)call.pid, call.data.args[1])) {
      response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    } else {
      int memory = camera_open(camera);
      if (memory >= 0) {
        struct seccomp_notif_addfd added = {.id = call.id,
                                            .flags = SECCOMP_ADDFD_FLAG_SEND,
                                            .srcfd = (uint32_t)memory,
                                            .newfd_flags = O_CLOEXEC};
        ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &added);
        return;
      }
      response.error = memory;
    }
  } else {
    response.error =
        camera_answer(camera, (pid_t)call.pid, (uint32_t)call.data.args[1], call.data.args[2]);
  }
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

int main(int count, char **words) {
  struct camera camera;
  int first = camera_parse(&camera, count, words);
  if (first >= count) {
    fprintf(stderr, "usage: FakeCamera [NAME=VALUE…] -- PROGRAM [ARG…]\n");
    return 64;
  }
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) fail("socketpair");
  child = fork();
  if (child == 0) run_program(words + first, sockets[1]);
  close(sockets[1]);
  for (int number = 1; number < 32; number++) {
    if (number == SIGINT || number == SIGTERM || number == SIGUSR1) signal(number, pass_on);
  }
  int listener = receive_descriptor(sockets[0]);
  int ended = (int)syscall(SYS_pidfd_open, child, 0);
  for (;;) {
    struct pollfd polled[] = {{listener, POLLIN, 0}, {ended, POLLIN, 0}};
    if (poll(polled, 2, -1) < 0) {
      if (errno == EINTR) continue;
      fail("poll");
    }
    if (polled[0].revents & POLLIN) answer(listener, &camera);
    if (polled[1].revents & POLLIN) break;
  }
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  return WEXITSTATUS(status);
}
