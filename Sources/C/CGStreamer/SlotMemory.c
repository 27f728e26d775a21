#include "SlotMemory.h"

#if __has_include(<gst/gst.h>)

enum slot_state {
  SLOT_VACANT,     // not offered, or published: the pipeline does not use it
  SLOT_FREE,       // offered, waiting for an element to allocate it
  SLOT_BUSY,       // an element's memory
  SLOT_WITHDRAWN,  // an element's memory that will be vacant when it is freed
};

struct slot {
  enum slot_state state;
  uint8_t *address;
  size_t byteCount;
};

typedef struct {
  GstAllocator parent;
  GMutex lock;
  struct slot slots[FB_SLOT_SINK_SLOTS];
} FbSlotAllocator;
typedef struct {
  GstAllocatorClass parent;
} FbSlotAllocatorClass;
typedef struct {
  GstMemory parent;
  uint8_t *address;
  int32_t slot;
} FbSlotMemory;

struct fb_slot_memory {
  FbSlotAllocator *allocator;
};

static const char MEMORY_TYPE[] = "FrameBusSlot";

GType fb_slot_allocator_get_type(void);
G_DEFINE_TYPE(FbSlotAllocator, fb_slot_allocator, GST_TYPE_ALLOCATOR)

// Returns a slot if one is free and large enough, otherwise ordinary memory: an element that keeps
// many frames (a decoder's references) must never wait for the publisher, which may wait for it.
static GstMemory *allocate(GstAllocator *allocator, gsize size, GstAllocationParams *parameters) {
  FbSlotAllocator *self = (FbSlotAllocator *)allocator;
  gsize needed = parameters->prefix + size + parameters->padding;
  FbSlotMemory *memory = NULL;
  g_mutex_lock(&self->lock);
  for (int32_t i = 0; i < FB_SLOT_SINK_SLOTS && memory == NULL; i++) {
    struct slot *slot = &self->slots[i];
    bool isAligned = ((uintptr_t)slot->address & parameters->align) == 0;
    if (slot->state != SLOT_FREE || slot->byteCount < needed || !isAligned) continue;
    slot->state = SLOT_BUSY;
    memory = g_new0(FbSlotMemory, 1);
    gst_memory_init(GST_MEMORY_CAST(memory), 0, allocator, NULL, slot->byteCount,
                    parameters->align, parameters->prefix, size);
    memory->address = slot->address;
    memory->slot = i;
  }
  g_mutex_unlock(&self->lock);
  if (memory != NULL) return GST_MEMORY_CAST(memory);
  return gst_allocator_alloc(NULL, size, parameters);
}

static void release(GstAllocator *allocator, GstMemory *memory) {
  FbSlotAllocator *self = (FbSlotAllocator *)allocator;
  FbSlotMemory *own = (FbSlotMemory *)memory;
  // A shared memory object names only a part of its parent, which it keeps alive.
  if (memory->parent == NULL && own->slot >= 0) {
    g_mutex_lock(&self->lock);
    struct slot *slot = &self->slots[own->slot];
    if (slot->state == SLOT_BUSY) slot->state = SLOT_FREE;
    if (slot->state == SLOT_WITHDRAWN) slot->state = SLOT_VACANT;
    g_mutex_unlock(&self->lock);
  }
  g_free(own);
}

static gpointer map(GstMemory *memory, gsize byteCount, GstMapFlags flags) {
  (void)byteCount;
  (void)flags;
  return ((FbSlotMemory *)memory)->address;
}

static void unmap(GstMemory *memory) { (void)memory; }

static GstMemory *share(GstMemory *memory, gssize offset, gssize size) {
  GstMemory *parent = memory->parent != NULL ? memory->parent : memory;
  FbSlotMemory *part = g_new0(FbSlotMemory, 1);
  gsize partSize = size < 0 ? memory->size - (gsize)offset : (gsize)size;
  gst_memory_init(GST_MEMORY_CAST(part),
                  GST_MINI_OBJECT_FLAGS(parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY,
                  memory->allocator, parent, memory->maxsize, memory->align,
                  memory->offset + (gsize)offset, partSize);
  part->address = ((FbSlotMemory *)memory)->address;
  part->slot = ((FbSlotMemory *)memory)->slot;
  return GST_MEMORY_CAST(part);
}

static void fb_slot_allocator_finalize(GObject *object) {
  g_mutex_clear(&((FbSlotAllocator *)object)->lock);
  G_OBJECT_CLASS(fb_slot_allocator_parent_class)->finalize(object);
}

static void fb_slot_allocator_class_init(FbSlotAllocatorClass *class) {
  class->parent.alloc = allocate;
  class->parent.free = release;
  G_OBJECT_CLASS(class)->finalize = fb_slot_allocator_finalize;
}

static void fb_slot_allocator_init(FbSlotAllocator *self) {
  g_mutex_init(&self->lock);
  GstAllocator *allocator = GST_ALLOCATOR(self);
  allocator->mem_type = MEMORY_TYPE;
  allocator->mem_map = (GstMemoryMapFunction)map;
  allocator->mem_unmap = unmap;
  allocator->mem_share = share;
  GST_OBJECT_FLAG_SET(self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

struct fb_slot_memory *fb_slot_memory_new(void) {
  struct fb_slot_memory *memory = g_new0(struct fb_slot_memory, 1);
  memory->allocator = g_object_new(fb_slot_allocator_get_type(), NULL);
  gst_object_ref_sink(memory->allocator);
  return memory;
}

void fb_slot_memory_free(struct fb_slot_memory *memory) {
  gst_object_unref(memory->allocator);
  g_free(memory);
}

GstAllocator *fb_slot_memory_allocator(struct fb_slot_memory *memory) {
  return GST_ALLOCATOR(memory->allocator);
}

void fb_slot_memory_offer(struct fb_slot_memory *memory, int32_t slot, void *address,
                          size_t byteCount) {
  FbSlotAllocator *self = memory->allocator;
  g_mutex_lock(&self->lock);
  g_assert(slot >= 0 && slot < FB_SLOT_SINK_SLOTS && self->slots[slot].state == SLOT_VACANT);
  self->slots[slot] = (struct slot){.state = SLOT_FREE, .address = address, .byteCount = byteCount};
  g_mutex_unlock(&self->lock);
}

void fb_slot_memory_withdraw(struct fb_slot_memory *memory, int32_t slot) {
  FbSlotAllocator *self = memory->allocator;
  g_mutex_lock(&self->lock);
  if (self->slots[slot].state == SLOT_FREE) self->slots[slot].state = SLOT_VACANT;
  if (self->slots[slot].state == SLOT_BUSY) self->slots[slot].state = SLOT_WITHDRAWN;
  g_mutex_unlock(&self->lock);
}

bool fb_slot_memory_is_vacant(struct fb_slot_memory *memory, int32_t slot) {
  FbSlotAllocator *self = memory->allocator;
  g_mutex_lock(&self->lock);
  bool isVacant = self->slots[slot].state == SLOT_VACANT;
  g_mutex_unlock(&self->lock);
  return isVacant;
}

int32_t fb_slot_memory_claim(struct fb_slot_memory *memory, GstBuffer *buffer, size_t *skip) {
  FbSlotAllocator *self = memory->allocator;
  if (gst_buffer_n_memory(buffer) != 1 || !gst_buffer_is_writable(buffer)) return -1;
  GstMemory *held = gst_buffer_peek_memory(buffer, 0);
  if (held->allocator != GST_ALLOCATOR(self) || held->parent != NULL) return -1;
  if (GST_MINI_OBJECT_REFCOUNT_VALUE(held) != 1) return -1;
  FbSlotMemory *own = (FbSlotMemory *)held;
  int32_t slot = -1;
  g_mutex_lock(&self->lock);
  if (own->slot >= 0 && self->slots[own->slot].state == SLOT_BUSY) {
    slot = own->slot;
    self->slots[slot].state = SLOT_VACANT;
    // Freeing the memory must not access the slot: it may be offered again by then.
    own->slot = -1;
    *skip = held->offset;
  }
  g_mutex_unlock(&self->lock);
  return slot;
}
#endif
