#include "Output.h"

struct Output {
  gint references;
  gint interruptions;
  GMutex lock; // serializes all calls on the publisher and its loans
  framebus_publisher *publisher;
  guint epoch;
  guint slots; // as memory that was not freed yet
  gboolean is_ending;
  guint32 end_reason;
};

typedef struct {
  GstMemory memory;
  Output *output;
  framebus_loan *loan; // NULL once it is published
  gpointer bytes;
  guint epoch;
} SlotMemory;

typedef struct {
  GstAllocator parent;
} SlotAllocator;
typedef struct {
  GstAllocatorClass parent;
} SlotAllocatorClass;
static GType slot_allocator_get_type(void);
G_DEFINE_TYPE(SlotAllocator, slot_allocator, GST_TYPE_ALLOCATOR)
static gpointer map_slot(GstMemory *memory, gsize size, GstMapFlags flags);

// ---- The publisher ----

Output *output_open(framebus_group *group, const char *stream, const framebus_format *format,
                    const framebus_publisher_options *options, framebus_error *error) {
  framebus_publisher *publisher = NULL;
  if (framebus_publisher_open(group, stream, format, options, &publisher, error) != FRAMEBUS_OK) {
    return NULL;
  }
  Output *output = g_new0(Output, 1);
  output->references = 1;
  g_mutex_init(&output->lock);
  output->publisher = publisher;
  return output;
}

Output *output_ref(Output *output) {
  g_atomic_int_inc(&output->references);
  return output;
}

void output_unref(Output *output) {
  if (!g_atomic_int_dec_and_test(&output->references)) return;
  if (output->publisher != NULL) {
    framebus_publisher_close(output->publisher, output->end_reason, NULL);
  }
  g_mutex_clear(&output->lock);
  g_free(output);
}

static void close_if_unused(Output *output) {
  if (!output->is_ending || output->slots > 0 || output->publisher == NULL) return;
  framebus_publisher_close(output->publisher, output->end_reason, NULL);
  output->publisher = NULL;
}

void output_end(Output *output, guint32 reason) {
  g_mutex_lock(&output->lock);
  output->is_ending = TRUE;
  output->end_reason = reason;
  close_if_unused(output);
  g_mutex_unlock(&output->lock);
  output_unref(output);
}

int output_set_format(Output *output, const framebus_format *format, framebus_error *error) {
  g_mutex_lock(&output->lock);
  int result = framebus_publisher_set_format(output->publisher, format, error);
  output->epoch += 1;
  g_mutex_unlock(&output->lock);
  return result;
}

guint output_epoch(Output *output) {
  g_mutex_lock(&output->lock);
  guint epoch = output->epoch;
  g_mutex_unlock(&output->lock);
  return epoch;
}

void output_pause(Output *output, gboolean is_paused) {
  g_mutex_lock(&output->lock);
  if (is_paused) {
    framebus_publisher_pause(output->publisher, FRAMEBUS_PAUSE_REQUESTED, NULL);
  } else {
    framebus_publisher_resume(output->publisher, NULL);
  }
  g_mutex_unlock(&output->lock);
}

// ---- Slots ----

static int loan_slot(Output *output, guint64 deadline_ns, framebus_stop *stop, GstMemory **memory,
                     framebus_error *error) {
  static GstAllocator *allocator = NULL;
  if (g_once_init_enter(&allocator)) {
    GstAllocator *made = g_object_new(slot_allocator_get_type(), NULL);
    gst_object_ref_sink(made);
    GST_OBJECT_FLAG_SET(made, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    g_once_init_leave(&allocator, made);
  }
  framebus_slot slot = FRAMEBUS_SLOT_INIT;
  int result = framebus_publisher_loan(output->publisher, deadline_ns, stop, &slot, error);
  if (result != FRAMEBUS_OK) return result;
  SlotMemory *made = g_new0(SlotMemory, 1);
  gst_memory_init(&made->memory, GST_MEMORY_FLAG_NO_SHARE, allocator, NULL, (gsize)slot.capacity,
                  63, 0, (gsize)slot.capacity);
  made->output = output_ref(output);
  made->loan = slot.loan;
  made->bytes = slot.bytes;
  made->epoch = output->epoch;
  output->slots += 1;
  *memory = &made->memory;
  return FRAMEBUS_OK;
}

// How long a wait keeps the lock.
static const guint64 step = 20 * GST_MSECOND;

int output_wait(Output *output, framebus_stop *stop) {
  while (TRUE) {
    g_mutex_lock(&output->lock);
    int result = framebus_publisher_wait(output->publisher, framebus_after_ns(step), stop, NULL);
    g_mutex_unlock(&output->lock);
    if (result != FRAMEBUS_TIMED_OUT) return result;
  }
}

int output_loan(Output *output, guint64 deadline_ns, framebus_stop *stop, GstMemory **memory,
                framebus_error *error) {
  // Most often a slot is free, and no clock is read.
  guint64 until = 0;
  while (TRUE) {
    g_mutex_lock(&output->lock);
    int result = output->is_ending ? FRAMEBUS_STOPPED
                                   : loan_slot(output, until, stop, memory, error);
    g_mutex_unlock(&output->lock);
    gboolean goes_on = result == FRAMEBUS_TIMED_OUT || result == FRAMEBUS_ERROR_BACKPRESSURE;
    if (!goes_on || until == deadline_ns) return result;
    until = MIN(deadline_ns, framebus_after_ns(step));
  }
}

void output_interrupt(Output *output) { g_atomic_int_inc(&output->interruptions); }

int output_await_slot(Output *output, GstMemory **memory) {
  gint before = g_atomic_int_get(&output->interruptions);
  int result = output_loan(output, 0, NULL, memory, NULL);
  gboolean goes_on = result == FRAMEBUS_ERROR_BACKPRESSURE;
  while (goes_on && g_atomic_int_get(&output->interruptions) == before) {
    result = output_loan(output, framebus_after_ns(step), NULL, memory, NULL);
    goes_on = result == FRAMEBUS_TIMED_OUT;
  }
  return result;
}

int output_publish(Output *output, GstMemory *memory, const framebus_metadata *metadata,
                   guint64 byte_count, framebus_error *error) {
  SlotMemory *slot = (SlotMemory *)memory;
  g_mutex_lock(&output->lock);
  int result = framebus_loan_publish(slot->loan, metadata, byte_count, NULL, error);
  if (result == FRAMEBUS_OK) slot->loan = NULL;
  g_mutex_unlock(&output->lock);
  return result;
}

GstMemory *output_own_slot(Output *output, GstBuffer *buffer) {
  if (gst_buffer_n_memory(buffer) != 1 || GST_MINI_OBJECT_REFCOUNT_VALUE(buffer) != 1) return NULL;
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  if (memory->allocator->mem_map != map_slot) return NULL;
  SlotMemory *slot = (SlotMemory *)memory;
  gboolean is_alone = GST_MINI_OBJECT_REFCOUNT_VALUE(memory) == 1 && memory->offset == 0;
  gboolean is_current = slot->output == output && slot->epoch == output_epoch(output);
  return is_alone && is_current && slot->loan != NULL ? memory : NULL;
}

// ---- The allocator ----

static gpointer map_slot(GstMemory *memory, gsize size, GstMapFlags flags) {
  (void)size;
  SlotMemory *slot = (SlotMemory *)memory;
  // What is published belongs to its readers.
  if (slot->loan == NULL && (flags & GST_MAP_WRITE)) return NULL;
  return slot->bytes;
}

static void unmap_slot(GstMemory *memory) { (void)memory; }

static void free_slot(GstAllocator *allocator, GstMemory *memory) {
  (void)allocator;
  SlotMemory *slot = (SlotMemory *)memory;
  Output *output = slot->output;
  g_mutex_lock(&output->lock);
  if (slot->loan != NULL) framebus_loan_abandon(slot->loan);
  output->slots -= 1;
  close_if_unused(output);
  g_mutex_unlock(&output->lock);
  output_unref(output);
  g_free(slot);
}

static void slot_allocator_class_init(SlotAllocatorClass *class) {
  GST_ALLOCATOR_CLASS(class)->free = free_slot;
}

static void slot_allocator_init(SlotAllocator *self) {
  GstAllocator *allocator = GST_ALLOCATOR(self);
  allocator->mem_type = "FramebusSlot";
  allocator->mem_map = map_slot;
  allocator->mem_unmap = unmap_slot;
  GST_OBJECT_FLAG_SET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}
