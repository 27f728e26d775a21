// A publisher that a sink shares with the buffers that upstream fills: it lives as long as they do,
// because closing it unmaps their memory.
#ifndef FRAMEBUS_OUTPUT_H
#define FRAMEBUS_OUTPUT_H

#include "Plugin.h"

typedef struct Output Output;

// Creates the stream. Returns NULL with an error.
Output *output_open(framebus_group *group, const char *stream, const framebus_format *format,
                    const framebus_publisher_options *options, framebus_error *error);
Output *output_ref(Output *output);
void output_unref(Output *output);
// Ends the stream as soon as no buffer with its memory is left. The caller's reference ends.
void output_end(Output *output, guint32 reason);

// Changes the format of the slots from now on.
int output_set_format(Output *output, const framebus_format *format, framebus_error *error);
// Counts changes of the format: a slot of an earlier one is not published.
guint output_epoch(Output *output);
void output_pause(Output *output, gboolean is_paused);

// A slot as memory of GStreamer's, to be written in place. Results as of framebus_publisher_loan;
// it waits for subscribers until the deadline in short steps, so that other threads get their turn.
int output_loan(Output *output, guint64 deadline_ns, framebus_stop *stop, GstMemory **memory,
                framebus_error *error);
// The same, until output_interrupt().
int output_await_slot(Output *output, GstMemory **memory);
void output_interrupt(Output *output);
// Waits until there is a subscriber. OK or STOPPED.
int output_wait(Output *output, framebus_stop *stop);
// Publishes a slot of this output and epoch that was not published before.
int output_publish(Output *output, GstMemory *memory, const framebus_metadata *metadata,
                   guint64 byte_count, framebus_error *error);
// The only memory of the buffer, if it is an unpublished slot of this output and epoch that nobody
// else refers to; else NULL.
GstMemory *output_own_slot(Output *output, GstBuffer *buffer);

// A pool whose buffers are slots, for pictures of this layout.
GstBufferPool *slot_pool_new(Output *output, const GstVideoInfo *video);

#endif
