#include "LeaseMemory.h"

struct LeaseAccount {
  gint references;
  gint held;
};

typedef struct {
  LeaseAccount *account;
  framebus_lease *lease;
} HeldLease;

LeaseAccount *lease_account_new(void) {
  LeaseAccount *account = g_new0(LeaseAccount, 1);
  account->references = 1;
  return account;
}

void lease_account_unref(LeaseAccount *account) {
  if (g_atomic_int_dec_and_test(&account->references)) g_free(account);
}

guint lease_account_held(LeaseAccount *account) {
  return (guint)g_atomic_int_get(&account->held);
}

static void release(gpointer data) {
  HeldLease *held = data;
  framebus_lease_release(held->lease);
  g_atomic_int_dec_and_test(&held->account->held);
  lease_account_unref(held->account);
  g_free(held);
}

GstMemory *lease_memory_new(LeaseAccount *account, const framebus_frame *frame) {
  HeldLease *held = g_new(HeldLease, 1);
  held->account = account;
  held->lease = frame->lease;
  g_atomic_int_inc(&account->references);
  g_atomic_int_inc(&account->held);
  gsize size = (gsize)frame->byte_count;
  // GStreamer's type has no const; the flag refuses to map the memory for writing.
  return gst_memory_new_wrapped(GST_MEMORY_FLAG_READONLY, (gpointer)frame->bytes, size, 0, size,
                                held, release);
}
