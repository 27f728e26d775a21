// framebussrc: what its files share. Source.c is the element, SourceFrames.c makes buffers.
#ifndef FRAMEBUS_SOURCE_H
#define FRAMEBUS_SOURCE_H

#include "LeaseMemory.h"

// The policy that depends on the format, besides those of framebus.h.
enum { POLICY_AUTOMATIC = FRAMEBUS_POLICY_KEY_FRAMES + 1 };

typedef struct {
  GstPushSrc parent;

  // Properties, under the object's lock.
  gchar *stream, *group, *root;
  gint policy, start;
  guint policy_count, leases;
  guint64 publisher_timeout, latency;
  gboolean verifies_checksums;

  // Of the streaming thread, while it runs.
  framebus_group *bus;
  framebus_subscriber *subscriber;
  LeaseAccount *account;
  PluginFormat format;
  PluginClock clock;
  guint32 chosen_policy;
  gboolean has_format, takes_strides, asks_downstream, has_warned;
  gboolean is_plain; // the layout that elements expect without a GstVideoMeta
  guint64 generation, format_epoch;
  framebus_rect crop;
  guint granted_leases;
  guint32 orientation;
  gboolean has_anchor, is_monotonic;
  gint64 anchor_pts, anchor_time;
  gint64 absent_since;
  gdouble reported_utilization;
  guint64 utilization_due;

  // Under `waiting`: how unlock() ends a wait.
  GMutex waiting;
  framebus_stop *stop;
  gboolean renews_stop;

  // Figures, under the object's lock.
  guint64 received, dropped, copied;
  gdouble utilization; // as downstream reports it
} FramebusSrc;

typedef struct {
  GstPushSrcClass parent;
} FramebusSrcClass;

GType framebus_src_get_type(void);
#define FRAMEBUS_SRC(object) ((FramebusSrc *)(object))

// Makes a buffer of a frame, and announces a change of format first. The frame's lease is taken
// over. On failure the message is posted.
GstFlowReturn source_frame_to_buffer(FramebusSrc *self, framebus_frame *frame, GstBuffer **buffer);

// The properties of the class, and of a new element.
void source_add_properties(GObjectClass *class);
void source_set_defaults(FramebusSrc *self);

#endif
