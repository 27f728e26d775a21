// Keys of the type "user", which the kernel keeps in memory of its own: add_key(2), keyctl(2).
#pragma once
#include <stdint.h>
#include <sys/types.h>

/// The keyrings of the calling process, and of its user (user-keyring(7)).
enum { LINUX_PROCESS_KEYRING = -2, LINUX_USER_KEYRING = -4 };
/// What a possessor and the owner may do with a key; nobody else may do anything.
enum { LINUX_KEY_POSSESSOR_ALL = 0x3f000000, LINUX_KEY_OWNER_VIEWS_READS_SEARCHES = 0x000b0000 };

/// Each returns a key's number, or a count or 0, or -1 with errno.
int32_t linux_add_key(const char *description, const void *payload, size_t byteCount,
                      int32_t keyring);
int32_t linux_search_key(int32_t keyring, const char *description);
/// How many bytes the key has, which may be more than were copied.
long linux_read_key(int32_t key, void *bytes, size_t byteCount);
int linux_set_key_timeout(int32_t key, uint32_t seconds);
int linux_set_key_permissions(int32_t key, uint32_t permissions);
/// In place of one of the same description.
int linux_link_key(int32_t key, int32_t keyring);
/// Ends the key for everybody, at once.
int linux_invalidate_key(int32_t key);
