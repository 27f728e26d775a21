// framebussink: what its two files share. Sink.c is the element, SinkFrames.c publishes.
#ifndef FRAMEBUS_SINK_H
#define FRAMEBUS_SINK_H

#include "Output.h"

typedef struct {
  GstBaseSink parent;

  // Properties, under the object's lock.
  gchar *stream, *group, *root;
  gint content, sound;
  guint ring_depth, loans;
  gboolean allows_lossless, checksums, waits_for_subscriber;

  // Of the streaming thread, while it runs.
  framebus_group *bus;
  PluginFormat format;
  PluginClock clock;
  gboolean has_format, is_live, has_failed;
  gboolean has_waited; // for a subscriber of this stream
  gboolean has_warned; // of what streams do not carry
  guint32 orientation;
  gboolean lost_damage; // a frame was not published: the next one changes everything
  guint64 known_drops;  // of the parent class, which drops late buffers before render()

  // Under the object's lock: allocation queries and state changes come on other threads.
  Output *output;
  gboolean is_paused;

  // Under `waiting`: how unlock() ends a wait.
  GMutex waiting;
  framebus_stop *stop;
  gboolean renews_stop;

  // Figures, under the object's lock.
  guint64 published, copied;
} FramebusSink;
typedef struct {
  GstBaseSinkClass parent;
} FramebusSinkClass;

GType framebus_sink_get_type(void);
#define FRAMEBUS_SINK(object) ((FramebusSink *)(object))

// Makes the stream have the sink's format; creates it if there is none. Posts a message on failure.
gboolean sink_apply_format(FramebusSink *self);
// Ends the stream, for the reason that is known.
void sink_end(FramebusSink *self, guint32 reason);
// Publishes a buffer, in place if its memory is a slot of the stream.
GstFlowReturn sink_publish(FramebusSink *self, GstBuffer *buffer);

#endif
