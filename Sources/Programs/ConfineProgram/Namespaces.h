// Namespaces, and whose users they have.
#pragma once
#include "Confine.h"

enum users {
  /// No user namespace.
  USERS_OF_HOST,
  /// One of its own with all users; only root may.
  USERS_ALL,
  /// One of its own in which it is who it was, and the others are nobody.
  USERS_SELF,
};

/// - Returns: 0 or an error number.
int unshare_namespaces(int flags, enum users users);

/// In a user namespace of its own, which counts by itself: keeps this process and its children from
/// taking what its user has few of.
/// - Returns: whether the limits are set.
bool limit_watches(void);
