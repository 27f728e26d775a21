#define _GNU_SOURCE
#include "LinuxKeyring.h"

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int32_t linux_add_key(const char *description, const void *payload, size_t byteCount,
                      int32_t keyring) {
  return (int32_t)syscall(SYS_add_key, "user", description, payload, byteCount, keyring);
}

int32_t linux_search_key(int32_t keyring, const char *description) {
  return (int32_t)syscall(SYS_keyctl, KEYCTL_SEARCH, keyring, "user", description, 0);
}

long linux_read_key(int32_t key, void *bytes, size_t byteCount) {
  return syscall(SYS_keyctl, KEYCTL_READ, key, bytes, byteCount);
}

int linux_set_key_timeout(int32_t key, uint32_t seconds) {
  return (int)syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, key, seconds);
}

int linux_set_key_permissions(int32_t key, uint32_t permissions) {
  return (int)syscall(SYS_keyctl, KEYCTL_SETPERM, key, permissions);
}

int linux_link_key(int32_t key, int32_t keyring) {
  return (int)syscall(SYS_keyctl, KEYCTL_LINK, key, keyring);
}

int linux_invalidate_key(int32_t key) { return (int)syscall(SYS_keyctl, KEYCTL_INVALIDATE, key); }
