#define _GNU_SOURCE
#include "Confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

static char text[MAXIMUM_REQUEST_BYTES + 1];

/// Parses a number without sign or leading zeros, at most `maximum`.
static bool parse_number(const char *word, uint64_t maximum, uint64_t *number) {
  if (word[0] < '0' || word[0] > '9' || (word[0] == '0' && word[1] != '\0')) return false;
  char *end = NULL;
  errno = 0;
  *number = strtoull(word, &end, 10);
  return errno == 0 && *end == '\0' && *number <= maximum;
}

static bool parse_sockets(const char *word, enum sockets *sockets) {
  if (*sockets != SOCKETS_ANY) return false;
  if (strcmp(word, "local") == 0) *sockets = SOCKETS_LOCAL;
  else if (strcmp(word, "internet") == 0) *sockets = SOCKETS_INTERNET;
  else if (strcmp(word, "inherited") == 0) *sockets = SOCKETS_INHERITED;
  return *sockets != SOCKETS_ANY;
}

static bool add_variable(struct request *request, const char *name) {
  if (*name == '\0' || strchr(name, '=') || request->variableCount == MAXIMUM_VARIABLES)
    return false;
  request->variables[request->variableCount++] = name;
  return true;
}

static bool add_grant(struct request *request, enum access access, const char *path) {
  if (path[0] != '/' || request->grantCount == MAXIMUM_GRANTS) return false;
  struct grant *grant = &request->grants[request->grantCount++];
  grant->access = access;
  grant->path = path;
  return true;
}

/// Whether root alone can replace what a path without links leads to: it alone can write to the
/// directories above.
static bool is_of_system(const char *path) {
  char parent[PATH_MAX];
  for (const char *end = path; (end = strchr(end, '/')) != NULL; end++) {
    size_t count = end == path ? 1 : (size_t)(end - path);
    if (count >= sizeof parent) return false;
    memcpy(parent, path, count);
    parent[count] = '\0';
    struct stat status;
    if (lstat(parent, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != 0 ||
        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
      return false;
  }
  return true;
}

/// Finds what the granted paths lead to, with the rights of the role's user: a link of that user
/// leads to nothing that it could not reach itself.
static bool resolve_grants(struct request *request) {
  uid_t user = geteuid();
  gid_t group = getegid();
  if (request->user != 0) {
    if (setgroups(request->groupCount, request->groups) != 0) return false;
    setfsgid(request->groups[0]);
    setfsuid(request->user);
    // Neither call says whether it has failed; this one changes nothing.
    if ((uid_t)setfsuid(-1) != request->user) return false;
  }
  for (unsigned i = 0; i < request->grantCount; i++) {
    struct grant *grant = &request->grants[i];
    struct stat status;
    char *path = realpath(grant->path, NULL);
    if (path == NULL || stat(path, &status) != 0) continue;
    grant->realPath = path;
    grant->device = status.st_dev;
    grant->inode = status.st_ino;
    grant->isOfSystem = is_of_system(path);
  }
  setfsuid(user);
  setfsgid(group);
  return true;
}

/// Parses a user and all its groups, the primary one first. No role becomes root.
static bool parse_user(char *words, struct request *request) {
  uint64_t number = 0;
  char *word = strsep(&words, " ");
  if (request->user != 0 || !parse_number(word, UINT32_MAX - 1, &number) || number == 0)
    return false;
  request->user = (uid_t)number;
  while ((word = strsep(&words, " ")) != NULL) {
    if (request->groupCount == MAXIMUM_GROUPS || !parse_number(word, UINT32_MAX - 1, &number))
      return false;
    request->groups[request->groupCount++] = (gid_t)number;
  }
  return request->groupCount > 0;
}

static bool parse_line(char *line, struct request *request) {
  char *value = strchr(line, ' ');
  if (value == NULL) return false;
  *value++ = '\0';
  uint64_t number = 0;
  if (strcmp(line, "descriptors") == 0) {
    if (!parse_number(value, 64, &number)) return false;
    request->descriptorCount = (unsigned)number;
    return true;
  }
  if (strcmp(line, "parent") == 0) {
    if (!parse_number(value, INT32_MAX, &number)) return false;
    request->parent = (pid_t)number;
    return true;
  }
  if (strcmp(line, "memory") == 0)
    return parse_number(value, INT64_MAX, &request->memoryBytes) && request->memoryBytes > 0;
  if (strcmp(line, "group") == 0) {
    request->memoryGroup = value;
    return value[0] == '/';
  }
  if (strcmp(line, "user") == 0) return parse_user(value, request);
  if (strcmp(line, "users") == 0) {
    request->mayMapUsers = true;
    return strcmp(value, "mapped") == 0;
  }
  if (strcmp(line, "sockets") == 0) return parse_sockets(value, &request->sockets);
  if (strcmp(line, "variable") == 0) return add_variable(request, value);
  static const char *const names[] = {"list", "read", "run", "write"};
  for (unsigned access = ACCESS_LIST; access <= ACCESS_WRITE; access++)
    if (strcmp(line, names[access]) == 0) return add_grant(request, access, value);
  return false;
}

const char *read_request(int descriptor, struct request *request) {
  int wanted = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
  int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & wanted) != wanted) return "the request is not a sealed memory file";
  ssize_t count = pread(descriptor, text, sizeof text, 0);
  if (count <= 0 || count > MAXIMUM_REQUEST_BYTES) return "the request is empty or too long";
  for (ssize_t i = 0; i < count; i++)
    if ((text[i] >= 0 && text[i] < 0x20 && text[i] != '\n') || text[i] == 0x7f)
      return "the request contains control characters";
  text[count] = '\0';
  char *rest = text;
  char *line = strsep(&rest, "\n");
  if (strcmp(line, "framebus-confine 1") != 0) return "the request has an unknown version";
  while ((line = strsep(&rest, "\n")) != NULL) {
    if (strcmp(line, "end") == 0 && rest != NULL && *rest == '\0')
      return resolve_grants(request) ? NULL : "it cannot become another user";
    if (!parse_line(line, request)) return "the request has an unknown line";
  }
  return "the request is incomplete";
}
