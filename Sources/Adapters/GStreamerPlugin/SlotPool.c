#include "Output.h"

// Buffers are made when upstream asks for one, and end with their use, because a slot that was
// published is not the sink's any more.

typedef struct {
  GstBufferPool parent;
  Output *output;
  GstVideoInfo video;
  guint epoch;
} SlotPool;
typedef struct {
  GstBufferPoolClass parent;
} SlotPoolClass;
static GType slot_pool_get_type(void);
G_DEFINE_TYPE(SlotPool, slot_pool, GST_TYPE_BUFFER_POOL)

GstBufferPool *slot_pool_new(Output *output, const GstVideoInfo *video) {
  SlotPool *pool = g_object_new(slot_pool_get_type(), NULL);
  gst_object_ref_sink(pool);
  pool->output = output_ref(output);
  pool->epoch = output_epoch(output);
  pool->video = *video;
  return GST_BUFFER_POOL(pool);
}

static const gchar **options(GstBufferPool *pool) {
  (void)pool;
  static const gchar *known[] = {GST_BUFFER_POOL_OPTION_VIDEO_META, NULL};
  return known;
}

static gboolean set_config(GstBufferPool *pool, GstStructure *config) {
  GstCaps *caps = NULL;
  guint size = 0, minimum = 0, maximum = 0;
  GstVideoInfo video;
  const GstVideoInfo *own = &((SlotPool *)pool)->video;
  if (!gst_buffer_pool_config_get_params(config, &caps, &size, &minimum, &maximum) ||
      caps == NULL || !gst_video_info_from_caps(&video, caps) ||
      GST_VIDEO_INFO_FORMAT(&video) != GST_VIDEO_INFO_FORMAT(own) || video.width != own->width ||
      video.height != own->height || size > GST_VIDEO_INFO_SIZE(own)) {
    return FALSE;
  }
  return GST_BUFFER_POOL_CLASS(slot_pool_parent_class)->set_config(pool, config);
}

static gboolean start(GstBufferPool *pool) {
  (void)pool;
  return TRUE;
}

static gboolean take_slot(SlotPool *self, gboolean may_wait, GstMemory **memory) {
  if (self->epoch != output_epoch(self->output)) return FALSE;
  int result = may_wait ? output_await_slot(self->output, memory)
                        : output_loan(self->output, 0, NULL, memory, NULL);
  return result == FRAMEBUS_OK;
}

// Waits for lossless subscribers alone. Without a free slot the buffer has ordinary memory, which
// the sink copies.
static GstFlowReturn acquire_buffer(GstBufferPool *pool, GstBuffer **buffer,
                                    GstBufferPoolAcquireParams *params) {
  SlotPool *self = (SlotPool *)pool;
  if (GST_BUFFER_POOL_IS_FLUSHING(pool)) return GST_FLOW_FLUSHING;
  GstMemory *memory = NULL;
  gsize size = GST_VIDEO_INFO_SIZE(&self->video);
  gboolean may_wait = params == NULL || !(params->flags & GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT);
  if (take_slot(self, may_wait, &memory)) {
    *buffer = gst_buffer_new();
    gst_memory_resize(memory, 0, size);
    gst_buffer_append_memory(*buffer, memory);
  } else {
    *buffer = gst_buffer_new_allocate(NULL, size, NULL);
  }
  gst_buffer_add_video_meta_full(
      *buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&self->video),
      (guint)self->video.width, (guint)self->video.height, GST_VIDEO_INFO_N_PLANES(&self->video),
      self->video.offset, self->video.stride);
  return GST_FLOW_OK;
}

static void release_buffer(GstBufferPool *pool, GstBuffer *buffer) {
  (void)pool;
  gst_buffer_unref(buffer);
}

static void finalize(GObject *object) {
  output_unref(((SlotPool *)object)->output);
  G_OBJECT_CLASS(slot_pool_parent_class)->finalize(object);
}

static void slot_pool_class_init(SlotPoolClass *class) {
  GstBufferPoolClass *pools = GST_BUFFER_POOL_CLASS(class);
  G_OBJECT_CLASS(class)->finalize = finalize;
  pools->get_options = options;
  pools->set_config = set_config;
  pools->start = start;
  pools->acquire_buffer = acquire_buffer;
  pools->release_buffer = release_buffer;
  // Nothing of a buffer is used again.
  pools->reset_buffer = NULL;
}

static void slot_pool_init(SlotPool *self) { (void)self; }
