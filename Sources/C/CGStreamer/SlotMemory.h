// A GStreamer allocator over the slots offered to a slot sink. Private to this module.
#pragma once
#include "CSlotSink.h"

#if __has_include(<gst/gst.h>)
struct fb_slot_memory;

struct fb_slot_memory *fb_slot_memory_new(void);
// The slots become unreachable; a memory object that a leaked buffer still refers to stays valid.
void fb_slot_memory_free(struct fb_slot_memory *memory);
GstAllocator *fb_slot_memory_allocator(struct fb_slot_memory *memory);
void fb_slot_memory_offer(struct fb_slot_memory *memory, int32_t slot, void *address,
                          size_t byteCount);
void fb_slot_memory_withdraw(struct fb_slot_memory *memory, int32_t slot);
bool fb_slot_memory_is_vacant(struct fb_slot_memory *memory, int32_t slot);
// The slot that a buffer fills, if there is no other reference to the buffer or its memory; it is
// vacant for the pipeline from then on. −1 otherwise. `skip`: the buffer's offset in the slot.
int32_t fb_slot_memory_claim(struct fb_slot_memory *memory, GstBuffer *buffer, size_t *skip);
#endif
