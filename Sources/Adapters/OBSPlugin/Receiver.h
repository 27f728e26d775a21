// A thread that hands the frames of one stream to an OBS source, as long as somebody wants them. It
// waits for publishers that have not started or are gone, and holds a lease only while OBS copies.
#ifndef FRAMEBUS_OBS_RECEIVER_H
#define FRAMEBUS_OBS_RECEIVER_H

#include "Plugin.h"

typedef struct Receiver Receiver;

typedef enum { RECEIVER_PICTURES, RECEIVER_SOUND } ReceiverKind;

// Starts the thread, which receives nothing yet. NULL if there can be no thread.
Receiver *receiver_start(obs_source_t *source, ReceiverKind kind);
// Waits until the thread has ended.
void receiver_end(Receiver *receiver);

// These two do not wait for the thread, so they can be called while OBS draws.
void receiver_choose(Receiver *receiver, const char *stream, const char *group, const char *root);
void receiver_want(Receiver *receiver, bool is_wanted);

// Writes why there are no frames, or what is received, for the user to read.
void receiver_describe(Receiver *receiver, char *text, size_t size);

#endif
