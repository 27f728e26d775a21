// Namespaces, and the users mapped into them.
#pragma once
#include "Confine.h"

enum users {
  /// No user namespace.
  USERS_OF_HOST,
  /// An own user namespace that maps all users; only root may create it.
  USERS_ALL,
  /// An own user namespace that maps this user to itself, and all others to nobody.
  USERS_SELF,
};

/// - Returns: 0 or an error number.
int unshare_namespaces(int flags, enum users users);

/// Limits the inotify instances and watches of this process and its children. Must be called in an
/// own user namespace, which has its own limits.
/// - Returns: whether the limits are set.
bool limit_watches(void);
