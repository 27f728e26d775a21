#define _GNU_SOURCE
#include "LinkKit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct sockaddr_in address_of(int port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET,
      .sin_port = htons((uint16_t)port),
      .sin_addr = {htonl(INADDR_LOOPBACK)},
  };
}

static int free_port(void) {
  int number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = address_of(0);
  socklen_t count = sizeof address;
  if (number < 0 || bind(number, (struct sockaddr *)&address, count) != 0 ||
      getsockname(number, (struct sockaddr *)&address, &count) != 0) {
    ring_fail("a free port");
  }
  close(number);
  return ntohs(address.sin_port);
}

static void wait_for(int port) {
  for (int tries = 0; tries < 10000; tries++) {
    int number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = address_of(port);
    if (number < 0) ring_fail("socket");
    int result = connect(number, (struct sockaddr *)&address, sizeof address);
    close(number);
    if (result == 0) return;
    usleep(1000);
  }
  errno = ETIMEDOUT;
  ring_fail("nats-server");
}

int link_start_server(const ring_job *job) {
  int port = free_port();
  char digits[8];
  snprintf(digits, sizeof digits, "%d", port);
  char *process = ring_path(job, "nats.pid"), *store = ring_path(job, "nats");
  char *arguments[] = {
      "nats-server", "-a", "127.0.0.1", "-p", digits, "-P", process, "-js", "-sd", store,
      "-l", "/dev/null", NULL};
  ring_start_daemon(arguments, process);
  wait_for(port);
  char *path = ring_path(job, "nats.port");
  FILE *file = fopen(path, "w");
  if (file == NULL || fprintf(file, "%d\n", port) < 0 || fclose(file) != 0) ring_fail(path);
  free(process);
  free(store);
  free(path);
  return port;
}

int link_server_port(const ring_job *job) {
  char *path = ring_path(job, "nats.port");
  FILE *file = fopen(path, "r");
  int port = 0;
  if (file == NULL || fscanf(file, "%d", &port) != 1) ring_fail(path);
  fclose(file);
  free(path);
  return port;
}

char *link_make_directory(const ring_job *job, const char *name) {
  char *path = ring_path(job, name);
  if (mkdir(path, 0700) != 0) ring_fail(path);
  return path;
}

void link_append(const char *path, const char *text) {
  FILE *file = fopen(path, "a");
  if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) ring_fail(path);
}
