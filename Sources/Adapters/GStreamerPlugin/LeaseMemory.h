// Leases as memory of GStreamer's, which any thread may release.
#ifndef FRAMEBUS_LEASE_MEMORY_H
#define FRAMEBUS_LEASE_MEMORY_H

#include "Plugin.h"

// Counts the leases that buffers hold. It outlives its element as long as one does.
typedef struct LeaseAccount LeaseAccount;

LeaseAccount *lease_account_new(void);
void lease_account_unref(LeaseAccount *account);
guint lease_account_held(LeaseAccount *account);

// Wraps the frame's bytes, which stay read-only. The lease ends with the memory.
GstMemory *lease_memory_new(LeaseAccount *account, const framebus_frame *frame);

#endif
